"""The user's rules as text: the standing ones (layer 1), those of a domain (layer 2), the reflex that names a domain.

A rule counts when a human wrote or accepted it. Knows nothing of files, hooks or who asks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hippo_core.model.memory import Memory
from hippo_core.model.scope import GLOBAL
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.query import read_query
from hippo_core.render import budget
from hippo_core.render.fence import attribute, one_line, visible
from hippo_core.store import Store

_DOMAINS_TOKENS = 100


@dataclass(frozen=True)
class Standing:
    """The standing rules' block. total: how many rules there are; shown: how many the budget had room for."""

    text: str
    total: int
    shown: int
    tokens: int


def has_its_place(memory: Memory) -> bool:
    """Whether a memory is shown as a rule, and so is no note as well."""
    return memory.type is MemoryType.RULE and memory.author is Author.HUMAN and (memory.always or bool(memory.domain))


def user_rules(store: Store, scopes: Sequence[str] | None = None) -> list[Memory]:
    """Every rule in force, pinned ones first, then in the order they were made."""
    rules = store.memories.select(scopes=scopes, types=[MemoryType.RULE], author=Author.HUMAN)
    return sorted(rules, key=lambda rule: (not rule.pinned, rule.id))


def normalise_domain(name: str) -> str:
    return visible(name).casefold()


def standing(
    rules: Sequence[Memory],
    project: str | None = None,
    most_tokens: int = budget.STANDING_TOKENS,
    most_characters: int = budget.MOST_CHARACTERS,
) -> Standing:
    """The block of standing rules and of the domains that have rules. What does not fit is named by count."""
    always = _numbered([rule for rule in rules if rule.always])
    domains = _domains_line(rules)
    if not always and not domains:
        return Standing("", 0, 0, 0)
    start = f'<hippo-rules project="{attribute(project)}">' if project else "<hippo-rules>"
    frame = "\n".join([start, _headline(len(always), 0, project), domains, "</hippo-rules>"])
    kept = budget.fitting(always, most_tokens - budget.tokens(frame), most_characters - budget.characters(frame))
    head = [_headline(len(always), len(kept), project)] if always else []
    text = "\n".join([start, *head, *kept, *([domains] if domains else []), "</hippo-rules>"])
    return Standing(text, len(always), len(kept), budget.tokens(text))


def _headline(total: int, shown: int, project: str | None) -> str:
    where = "for this project" if project else "by the user"
    apply = "They apply to everything in this session."
    if shown == total:
        return f"Standing rules set {where} ({total}, all shown). {apply}"
    return (
        f"Standing rules set {where} ({total}; {total - shown} did not fit here: the rules tool, without a domain, "
        f"shows all). {apply}"
    )


def _domains_line(rules: Iterable[Memory]) -> str:
    counts = Counter(rule.domain for rule in rules if rule.domain)
    if not counts:
        return ""
    names = [f"{one_line(name)} ({count})" for name, count in sorted(counts.items())]
    named = budget.fitting(names, _DOMAINS_TOKENS, budget.MOST_CHARACTERS)
    more = f" and {len(names) - len(named)} more" if len(named) < len(names) else ""
    return f"More rules, read with the rules tool before work of that kind: {', '.join(named)}{more}."


def reflexes(rules: Iterable[Memory]) -> dict[tuple[str, ...], str]:
    """For each domain, the line that a prompt is answered with which holds one of these words, the domain's name first.

    The others are what its rules spell as it stands: a command in quotes, a flag, a path.
    """
    by_domain: dict[str, list[Memory]] = {}
    for rule in rules:
        if rule.domain:
            by_domain.setdefault(rule.domain, []).append(rule)
    lines = {}
    for domain, mine in sorted(by_domain.items()):
        count = f"({len(mine)})" if all(rule.scope == GLOBAL for rule in mine) else "(some for certain projects)"
        name = attribute(domain)
        words = dict.fromkeys([domain, *(word for rule in mine for word in _spellings(rule.text))])
        lines[tuple(words)] = (
            f'The prompt touches {name}: rules for "{name}" exist {count}. Read them with the rules tool first.'
        )
    return lines


def _spellings(text: str) -> list[str]:
    """Names in `text` that mean one thing, as a prompt is searched for them: in lower case, in an event's raw JSON."""
    spelled = [visible(name).casefold() for name in read_query(text).unmistakable]
    return [name for name in spelled if len(name) > 2 and not set(name) & set('"\\')]


def rules_for(store: Store, domain: str | None = None, scopes: Sequence[str] | None = None) -> str:
    """The answer to somebody who asks for the rules of `domain`; without one, the standing rules and the domains.

    scopes: where to look, None for everywhere.
    """
    wanted = normalise_domain(domain or "")
    with store.reading():
        rules = user_rules(store, scopes)
    domains = _domains_line(rules) or "No domain has rules."
    if wanted:
        chosen = [rule for rule in rules if rule.domain == wanted]
        name = attribute(wanted)
        if not chosen:
            return f'There are no rules for "{name}". {domains}'
        head = f'Rules for "{name}", set by the user ({len(chosen)}). Follow them for the rest of this session.'
        return "\n".join([head, *_numbered(chosen)])
    always = [rule for rule in rules if rule.always]
    head = f"Standing rules set by the user ({len(always)})." if always else "There are no standing rules."
    return "\n".join([head, *_numbered(always), domains])


def _numbered(rules: Sequence[Memory]) -> list[str]:
    return [f"{place}. {one_line(rule.text)}" for place, rule in enumerate(rules, 1)]
