#!/usr/bin/env python3
"""Whether recall brings exactly what bears on a question and nothing else: the rules of precisionmembench.

    HIPPO_BENCH_DATA=DIR python benchmarks/precision.py [--explain] [--no-vectors]

Its beliefs become memories of their type and scope (a domain is a project, the universal one is global, another user is
another store); what is superseded is superseded here. The question is asked of the pipeline that the command and the
tool server call. A case's rules are about four sections; ours has one answer, so a result is taken for a pinned fact,
an open question or a trait of the person by what its belief is, and for a relevant belief otherwise.

  only   the relevant beliefs are exactly those named (exact), or at least none besides them (clean)
  must-not   none of those named is among the results, whatever section they belong to
Rules about what a session is given before it asks (a prelude, pinned facts, open questions) are not recall's; they are
counted apart, with the reason.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.errors import UsageError  # noqa: E402
from hippo_core.ingest.embed import embed_pending  # noqa: E402
from hippo_core.model.memory import Draft  # noqa: E402
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, Scope, project_scope  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402

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


def rows(name: str) -> Iterator[dict]:
    with (sets.folder() / "precisionmembench" / name).open(encoding="utf-8") as file:
        yield from map(json.loads, filter(str.strip, file))


def cases() -> Iterator[Case]:
    for row in rows("queries.jsonl"):
        rules = {
            (section, rule): value if isinstance(value, list) else []
            for section, found in row["expect"].items()
            for rule, value in found.items()
        }
        yield Case(row["id"], row["category"], row["text"], row["query_scope"], row["user"] or OWNER, rules)


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


def judge(case: Case, store: Store, beliefs: Mapping[int, dict], embedder: Embedder | None) -> Verdict:
    scopes = [*(scope_of(name).key for name in case.scopes), GLOBAL]
    try:
        found = recall(store, case.question, embedder=embedder, scopes=scopes, k=MOST, config=Config())
        numbers = [number for result in found.results for number in (result.memory.id, *result.like)]
    except UsageError:
        numbers = []  # an empty question is told apart, and brings nothing
    shown = [beliefs[number]["id"] for number in numbers]
    relevant = {beliefs[number]["id"] for number in numbers if section(beliefs[number]) == "relevantBeliefs"}
    wanted = case.rules.get(ONLY)
    banned = {name for (_, rule), names in case.rules.items() if rule == "mustExclude" for name in names}
    exact = None if wanted is None else relevant == set(wanted)
    clean = None if wanted is None else relevant <= set(wanted)
    own = {name for name in banned if not _is_question(name, beliefs)}
    return Verdict(case, shown, exact, clean, not own & set(shown))


def _is_question(name: str, beliefs: Mapping[int, dict]) -> bool:
    """Must-not rules about open questions say only where they are not to be listed."""
    return any(belief["id"] == name and belief["type"] == "open_question" for belief in beliefs.values())


def how(description: str | None) -> tuple[bool, Embedder | None]:
    """From the command line: whether to explain what fails, and what embeds."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--explain", action="store_true", help="print each case that fails, with what was shown")
    parser.add_argument("--no-vectors", action="store_true", help="keywords only")
    arguments = parser.parse_args()
    return arguments.explain, None if arguments.no_vectors else open_embedder(Config())


def main() -> None:
    explain, embedder = how(__doc__)
    every, asked = list(rows("corpus.jsonl")), list(cases())
    verdicts = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for owner in dict.fromkeys(case.owner for case in asked):
            own = [belief for belief in every if belief["speaker"] == owner]
            store, beliefs = filled(Path(folder) / f"{owner}.db", own, embedder)
            with store:
                verdicts += [judge(case, store, beliefs, embedder) for case in asked if case.owner == owner]
    report(verdicts, explain)


def report(verdicts: Sequence[Verdict], explain: bool) -> None:
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


def _exact(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(bool(verdict.exact) for verdict in verdicts)} of {len(verdicts)}"


if __name__ == "__main__":
    main()
