"""Setting rules: what a user wants obeyed, stored as frozen human memories, and rendered at once.

A rule is either standing (it loads in every session) or belongs to a domain (it is read when that is touched). Knows
nothing of how rules are shown.
"""

from hippo_core.errors import NotFoundError, UsageError
from hippo_core.guard.gate import admit
from hippo_core.model.memory import ACTIVE, Draft, Memory
from hippo_core.model.scope import Scope
from hippo_core.model.types import LADDER, Author, MemoryType
from hippo_core.paths import Paths
from hippo_core.render.fence import visible
from hippo_core.render.refresh import refresh
from hippo_core.render.rules import normalise_domain
from hippo_core.store import Store

LONGEST = 1_000  # characters; a rule is a sentence or two, and several must fit into a session's start
_LONGEST_DOMAIN = 40
_ACTOR = "user"


def add_rule(store: Store, paths: Paths, text: str, *, scope: Scope, domain: str | None) -> Memory:
    """Store a rule: standing, or of `domain`. What is in the store already, in the same words, becomes that rule."""
    words, domain = _words(text), _domain(domain)
    with store.transaction():
        store.memories.ensure_scope(scope)
        known = store.memories.same_text(words, scope.key)
        if known is None:
            draft = Draft(words, MemoryType.RULE, scope.key, Author.HUMAN, always=domain is None, domain=domain)
            rule = store.memories.add(draft, _ACTOR)
        else:
            rule = _make_rule(store, known, domain)
    refresh(store, paths)
    return rule


def accept_rule(store: Store, paths: Paths, number: int, *, domain: str | None) -> Memory:
    """Make a memory the user's own rule; only so does what a machine heard ever load by itself."""
    domain = _domain(domain)
    with store.transaction():
        rule = _make_rule(store, _active(store, number), domain)
    refresh(store, paths)
    return rule


def edit_rule(store: Store, paths: Paths, number: int, text: str) -> Memory:
    """Give a rule other words."""
    words = _words(text)
    with store.transaction():
        rule = _rule(store, number)
        rule = store.memories.update(number, rule.version, _ACTOR, Author.HUMAN, text=words)
    refresh(store, paths)
    return rule


def remove_rule(store: Store, paths: Paths, number: int) -> None:
    """Take a rule out of force. Its words stay readable by its id; deleting them is forgetting, not this."""
    with store.transaction():
        store.memories.retire(_rule(store, number).id, _ACTOR, Author.HUMAN)
    refresh(store, paths)


def rule(store: Store, number: int) -> Memory:
    """The user's rule of that number; NotFoundError when there is none in force."""
    with store.reading():
        return _rule(store, number)


def _make_rule(store: Store, memory: Memory, domain: str | None) -> Memory:
    policy = LADDER[MemoryType.RULE]
    changes = {
        "type": MemoryType.RULE,
        "tier": policy.tier,
        "author": Author.HUMAN,
        "importance": policy.importance,
        "confidence": 1.0,
        "always": domain is None,
        "domain": domain,
    }
    return store.memories.update(memory.id, memory.version, _ACTOR, Author.HUMAN, **changes)


def _active(store: Store, number: int) -> Memory:
    memory = store.memories.get(number)
    if memory.status != ACTIVE:
        raise NotFoundError(f"{memory.public_id} is {memory.status}, so it is no rule in force. See: hippo rules list")
    return memory


def _rule(store: Store, number: int) -> Memory:
    memory = _active(store, number)
    if memory.type is not MemoryType.RULE or memory.author is not Author.HUMAN:
        raise NotFoundError(
            f"{memory.public_id} is no rule of yours. To make it one: hippo rules accept {memory.public_id} --always"
        )
    return memory


def _words(text: str) -> str:
    words = visible(admit(text, users_own=True))
    if len(words) > LONGEST:
        raise UsageError(
            f"That is too long for a rule ({len(words):,} characters, at most {LONGEST:,}). Say it in a sentence or "
            "two, or make several rules of it."
        )
    return words


def _domain(name: str | None) -> str | None:
    if name is None:
        return None
    domain = normalise_domain(name)
    if len(domain) > _LONGEST_DOMAIN or not any(letter.isalnum() for letter in domain):
        raise UsageError(
            f"A domain is a short name like git or sql, at most {_LONGEST_DOMAIN} characters; got {name!r}."
        )
    return domain
