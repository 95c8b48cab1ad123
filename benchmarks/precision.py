"""precisionmembench as typed memories, and its rules: does recall bring what bears on a question and nothing else?

Its beliefs become memories of their type and scope (a domain is a project, the universal one is global, another user is
another store); what is superseded is superseded here. A case's rules are about four sections; ours has one answer, so a
result is taken for a pinned fact, an open question or a trait of the person by what its belief is, and for a relevant
belief otherwise.

  only   the relevant beliefs are exactly those named (exact), or at least none besides them (clean)
  must-not   none of those named is among the results, whatever section they belong to
Rules about what a session is given before it asks (a prelude, pinned facts, open questions) are not recall's; they are
counted apart, with the reason. Used by retrieval.py.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import searches
import sets

from hippo_core.embed.base import Embedder
from hippo_core.ingest.embed import embed_pending
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, Scope, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

NAME = "precisionmembench"
TYPES = {"preference": "preference", "decision": "decision", "entity": "fact", "relation": "fact"}
OWNER = "test-user"
MOST = 12
# Rules that speak of something else than the answer to a question, and what stands in its place here.
LACKING = {
    ("personaPrelude", "nonEmpty"): "a prelude about the person: here the standing rules, loaded when a session starts",
    ("personaPrelude", "contains"): "a prelude about the person: here the standing rules, loaded when a session starts",
    ("personaPrelude", "isNull"): "a prelude about the person: here the standing rules, loaded when a session starts",
    ("pinnedFacts", "mustInclude"): "facts given with every answer: here notes at session start; pinned is ageless",
    ("openQuestions", "mustInclude"): "a section of open questions with every answer: here todos, found when asked for",
}
# Cases that want no relevant belief because a budget of tokens, which the data does not give, leaves no room for any.
BUDGET = "Budget eviction and capacity"
ONLY = ("relevantBeliefs", "shouldOnlyInclude")


@dataclass(frozen=True)
class Case:
    name: str
    category: str
    question: str
    scopes: Sequence[str]
    owner: str
    evidence: list[str]
    rules: Mapping[tuple[str, str], list[str]]


@dataclass(frozen=True)
class Verdict:
    """exact, clean: of the rule about relevant beliefs, None where there is none. kept_out: of the must-not rules."""

    case: Case
    shown: list[str]
    exact: bool | None
    clean: bool | None
    kept_out: bool

    @property
    def of_a_budget(self) -> bool:
        return self.case.category == BUDGET and self.case.rules.get(ONLY) == []


def rows(name: str) -> Iterator[dict[str, Any]]:
    return sets.read_rows(sets.folder() / NAME / name)


def cases() -> Iterator[Case]:
    for row in rows("queries.jsonl"):
        rules = {
            (section, rule): value if isinstance(value, list) else []
            for section, found in row["expect"].items()
            for rule, value in found.items()
        }
        yield Case(
            row["id"], row["category"], row["text"], row["query_scope"], row["user"] or OWNER, row["evidence"], rules
        )


def scope_of(name: str) -> Scope:
    return GLOBAL_SCOPE if name == "user:universal" else project_scope(f"bench/{name}", name)


def filled(path: Path, beliefs: Sequence[dict], embedder: Embedder | None) -> tuple[Store, dict[int, dict]]:
    """A store of these beliefs; memory number -> belief."""
    store = Store.open(path)
    by_id: dict[str, int] = {}
    with store.transaction():
        for belief in beliefs:
            scope = scope_of(belief["belief_scope"][0])
            store.memories.ensure_scope(scope)
            kind = MemoryType(TYPES.get(belief["type"], "todo"))
            at = datetime.fromisoformat(belief["timestamp"].replace("Z", "+00:00")).timestamp()
            draft = Draft(belief["text"], kind, scope.key, Author.MACHINE, pinned=belief["pinned"], observed_at=at)
            by_id[belief["id"]] = store.memories.add(draft, "benchmark").id
        for belief in beliefs:
            if belief["superseded_by"]:
                old, new = by_id[belief["id"]], by_id[belief["superseded_by"]]
                store.memories.supersede(old, new, "benchmark", Author.MACHINE, 0.0)
    if embedder is not None:
        embed_pending(store, embedder)
    return store, {by_id[belief["id"]]: belief for belief in beliefs}


def section(belief: dict) -> str:
    if belief["type"] == "open_question":
        return "openQuestions"
    if belief["pinned"]:
        return "pinnedFacts"
    return "personaPrelude" if belief["belief_scope"] == ["user:universal"] else "relevantBeliefs"


def answers(every: Sequence[Case], folder: Path, embedder: Embedder) -> dict[str, dict[str, list[str]]]:
    """What each search shows to each case: the search's name -> the case's -> beliefs, best first."""
    beliefs, found = list(rows("corpus.jsonl")), {}
    for owner in dict.fromkeys(case.owner for case in every):
        store, by_number = filled(folder / f"{owner}.db", [one for one in beliefs if one["speaker"] == owner], embedder)
        with store:
            for name, search in searches.of_memories(store, embedder, MOST, with_like=True).items():
                for case in every:
                    if case.owner == owner:
                        scopes = [*(scope_of(scope).key for scope in case.scopes), GLOBAL]
                        numbers = search(case.question, scopes)
                        found.setdefault(name, {})[case.name] = [by_number[number]["id"] for number in numbers]
    return found


def verdicts(every: Sequence[Case], shown: Mapping[str, list[str]]) -> list[Verdict]:
    beliefs = {belief["id"]: belief for belief in rows("corpus.jsonl")}
    return [judge(case, shown[case.name], beliefs) for case in every]


def judge(case: Case, shown: list[str], beliefs: Mapping[str, dict[str, Any]]) -> Verdict:
    relevant = {name for name in shown if section(beliefs[name]) == "relevantBeliefs"}
    wanted = case.rules.get(ONLY)
    banned = {name for (_, rule), names in case.rules.items() if rule == "mustExclude" for name in names}
    # Must-not rules about open questions say only where they are not to be listed.
    banned = {name for name in banned if beliefs.get(name, {}).get("type") != "open_question"}
    exact = None if wanted is None else relevant == set(wanted)
    clean = None if wanted is None else relevant <= set(wanted)
    return Verdict(case, shown, exact, clean, not banned & set(shown))


def report(verdicts: Sequence[Verdict], explain: bool) -> dict[str, float]:
    """Print what holds; by name the counts that are published."""
    print(f"{'category':38s} cases  exact  clean kept out")
    groups = list(dict.fromkeys(verdict.case.category for verdict in verdicts))
    for name in (*groups, "all"):
        some = [verdict for verdict in verdicts if name in (verdict.case.category, "all")]
        ruled = [verdict for verdict in some if verdict.exact is not None]
        exact, clean = (f"{sum(flags)}/{len(ruled)}" for flags in ([v.exact for v in ruled], [v.clean for v in ruled]))
        print(f"{name:38s} {len(some):5d} {exact:>6s} {clean:>6s} {sum(v.kept_out for v in some):5d}/{len(some)}")
    silent = [v for v in verdicts if v.case.rules.get(ONLY) == []]
    print(f"abstentions: {_exact(silent)} cases that want no relevant belief")
    ours = [v for v in verdicts if v.exact is not None and not v.of_a_budget]
    print(f"without a budget's: exact {_exact(ours)}, abstentions {_exact([v for v in silent if not v.of_a_budget])}")
    lacking = Counter(rule for verdict in verdicts for rule in verdict.case.rules if rule in LACKING)
    for rule, count in lacking.items():
        print(f"not recall's: {count:3d} rules {'.'.join(rule)} ({LACKING[rule]})")
    print(
        f"not recall's: {sum(v.of_a_budget for v in verdicts):3d} rules of a budget of tokens, which is not in the data"
    )
    for verdict in verdicts if explain else ():
        if not (verdict.exact in (None, True) and verdict.kept_out):
            wanted = verdict.case.rules.get(ONLY)
            print(f"\n{verdict.case.name} [{verdict.case.category}] {verdict.case.question[:100]!r}")
            print(f"  wanted {wanted}\n  shown  {verdict.shown}")
    ruled = [verdict for verdict in verdicts if verdict.exact is not None]
    return {
        "exact": sum(bool(verdict.exact) for verdict in ruled),
        "exact without a budget's": sum(bool(verdict.exact) for verdict in ours),
        "clean": sum(bool(verdict.clean) for verdict in ruled),
        "kept out": sum(verdict.kept_out for verdict in verdicts),
        "silent": sum(bool(verdict.exact) for verdict in silent),
    }


def _exact(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(bool(verdict.exact) for verdict in verdicts)} of {len(verdicts)}"
