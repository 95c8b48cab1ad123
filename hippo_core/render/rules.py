"""The user's rules as text: the standing ones (layer 1), those of a domain (layer 2), the reflex that names a domain.

A rule counts when a human wrote or accepted it. Knows nothing of files, hooks or who asks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hippo_core.model.memory import Memory
from hippo_core.model.scope import GLOBAL
from hippo_core.model.types import Author, MemoryType
from hippo_core.render import budget
from hippo_core.render.fence import attribute, one_line
from hippo_core.store import Store

ALWAYS = "always"  # the standing rules' name where a domain is asked for
_DOMAINS_TOKENS = 100


@dataclass(frozen=True)
class Standing:
    """The standing rules' block. total: how many rules there are; shown: how many the budget had room for."""

    text: str
    total: int
    shown: int
    tokens: int


def user_rules(store: Store, scopes: Sequence[str] | None = None) -> list[Memory]:
    """Every rule in force, pinned ones first, then in the order they were made."""
    rules = store.memories.select(scopes=scopes, types=[MemoryType.RULE], author=Author.HUMAN)
    return sorted(rules, key=lambda rule: (not rule.pinned, rule.id))


def normalise_domain(name: str) -> str:
    return " ".join(name.casefold().split())


def standing(
    rules: Sequence[Memory],
    project: str | None = None,
    most_tokens: int = budget.STANDING_TOKENS,
    most_characters: int = budget.MOST_CHARACTERS,
) -> Standing:
    """The block of standing rules and of the domains that have rules. What does not fit is named by count."""
    always = [one_line(rule.text) for rule in rules if rule.always]
    domains = _domains_line(rules)
    if not always and not domains:
        return Standing("", 0, 0, 0)
    start = f'<hippo-rules project="{attribute(project)}">' if project else "<hippo-rules>"
    frame = "\n".join([start, _headline(len(always), 0, project), domains, "</hippo-rules>"])
    kept = budget.fitting(
        [f"{place}. {text}" for place, text in enumerate(always, 1)],
        most_tokens - budget.tokens(frame),
        most_characters - budget.characters(frame),
    )
    head = [_headline(len(always), len(kept), project)] if always else []
    text = "\n".join([start, *head, *kept, *([domains] if domains else []), "</hippo-rules>"])
    return Standing(text, len(always), len(kept), budget.tokens(text))


def _headline(total: int, shown: int, project: str | None) -> str:
    where = "for this project" if project else "by the user"
    apply = "They apply to everything in this session."
    if shown == total:
        return f"Standing rules set {where} ({total}, all shown). {apply}"
    return (
        f"Standing rules set {where} ({total}; {total - shown} did not fit here: the rules tool shows them, "
        f'domain "{ALWAYS}"). {apply}'
    )


def _domains_line(rules: Iterable[Memory]) -> str:
    counts = Counter(rule.domain for rule in rules if rule.domain)
    if not counts:
        return ""
    names = [f"{one_line(name)} ({count})" for name, count in sorted(counts.items())]
    named = budget.fitting(names, _DOMAINS_TOKENS, budget.MOST_CHARACTERS)
    more = f" and {len(names) - len(named)} more" if len(named) < len(names) else ""
    return f"More rules, read with the rules tool before work of that kind: {', '.join(named)}{more}."


def reflex_lines(rules: Iterable[Memory]) -> dict[str, str]:
    """For each domain, the line that a prompt which mentions it is answered with."""
    everywhere = Counter(rule.domain for rule in rules if rule.domain and rule.scope == GLOBAL)
    somewhere = {rule.domain for rule in rules if rule.domain and rule.scope != GLOBAL}
    lines = {}
    for domain in sorted(everywhere.keys() | somewhere):
        count = f"({everywhere[domain]})" if domain not in somewhere else "(some for certain projects)"
        name = attribute(domain)
        lines[domain] = (
            f'The prompt mentions {name}: rules for "{name}" exist {count}. Read them with the rules tool first.'
        )
    return lines


def rules_for(store: Store, domain: str | None = None, scopes: Sequence[str] | None = None) -> str:
    """What is answered to somebody who asks for the rules of `domain`; None or "" lists the domains.

    scopes: where to look, None for everywhere. ALWAYS as the domain gives the standing rules.
    """
    wanted = normalise_domain(domain or "")
    rules = user_rules(store, scopes)
    if wanted:
        chosen = [rule for rule in rules if (rule.always if wanted == ALWAYS else rule.domain == wanted)]
        if chosen:
            name = "everything" if wanted == ALWAYS else one_line(wanted)
            head = f"Rules for {name}, set by the user ({len(chosen)}). Follow them for the rest of this session."
            return "\n".join([head, *(f"{place}. {one_line(rule.text)}" for place, rule in enumerate(chosen, 1))])
    known = _domains_line(rules) or "No domain has rules yet."
    return f"There are no rules for {one_line(wanted, 60)}. {known}" if wanted else known
