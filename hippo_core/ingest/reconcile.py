"""Where a draft meets what is known: it is added, confirms, replaces, or is let go. Storing is the store's concern.

Human memories are confirmed, never replaced: what contradicts one is journalled and dropped.
"""

from collections.abc import Sequence
from enum import Enum

from hippo_core import clock
from hippo_core.distill.sameness import key_words, overlap, replaces, same
from hippo_core.errors import RefusedError
from hippo_core.guard.gate import admit
from hippo_core.model.memory import Draft, Memory
from hippo_core.model.scope import GLOBAL
from hippo_core.model.types import LADDER, Author
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

NEIGHBOURS = 12  # memories that a draft is compared with
MOST_WORDS = 16  # of a draft that are looked up
NOVELTY_WEIGHT = 0.1  # how far novelty moves importance, half of it down and half up


class Outcome(str, Enum):
    ADD = "add"
    REINFORCE = "reinforce"
    SUPERSEDE = "supersede"
    CONFLICT = "conflict"
    IGNORE = "ignore"


def reconcile(store: Store, draft: Draft, actor: str) -> Outcome:
    """Bring one draft into the store. Inside a transaction; the draft's scope must be known to the store."""
    try:
        draft = draft._replace(text=admit(draft.text))
    except RefusedError:
        return Outcome.IGNORE
    observed = clock.now()
    if draft.observed_at is not None:
        # Of a clock that was ahead, the memory would be newer than all that is said until then.
        observed = min(draft.observed_at, observed)
    draft = draft._replace(observed_at=observed)
    exact = store.memories.same_text(draft.text, draft.scope)
    neighbours = [] if exact else _neighbours(store, draft)
    known = exact or next((memory for memory in neighbours if same(memory.text, draft.text)), None)
    if known:
        return _confirm(store, known, draft, actor, observed)
    rivals = [memory for memory in neighbours if memory.scope == draft.scope]
    if any(memory.confirmed_at > observed and replaces(memory.text, draft.text) for memory in rivals):
        return Outcome.IGNORE  # transcripts come in any order: this one is out of date already
    outdated = [memory for memory in rivals if memory.confirmed_at <= observed and replaces(draft.text, memory.text)]
    frozen = [memory for memory in outdated if memory.frozen]
    if frozen:
        store.memories.note(frozen[0].id, actor, "conflict")
        return Outcome.CONFLICT
    added = store.memories.add(_weighed(draft, neighbours), actor)
    for memory in outdated:
        store.memories.supersede(memory.id, added.id, actor, Author.MACHINE, observed)
    return Outcome.SUPERSEDE if outdated else Outcome.ADD


def _confirm(store: Store, known: Memory, draft: Draft, actor: str, observed: float) -> Outcome:
    if draft.sources and set(draft.sources) <= set(store.memories.get(known.id).sources):
        return Outcome.IGNORE  # the same message once more confirms nothing
    store.memories.reinforce(known.id, actor, draft.sources, observed, draft.confidence)
    return Outcome.REINFORCE


def _neighbours(store: Store, draft: Draft) -> list[Memory]:
    """The active memories nearest by their words in the draft's scope and in what holds everywhere, best first."""
    scopes = list(dict.fromkeys((draft.scope, GLOBAL)))
    words = sorted(key_words(draft.text), key=len, reverse=True)[:MOST_WORDS]
    hits = store.memories.keyword_hits(words, index=PLAIN, scopes=scopes, limit=NEIGHBOURS)
    found = store.memories.fetch([number for number, _ in hits])
    return [found[number] for number, _ in hits]


def _weighed(draft: Draft, neighbours: Sequence[Memory]) -> Draft:
    """The draft with its importance nudged by novelty: 1 - similarity to the nearest memory in scope."""
    novelty = 1 - max((overlap(draft.text, memory.text) for memory in neighbours), default=0.0)
    importance = LADDER[draft.type].importance if draft.importance is None else draft.importance
    return draft._replace(importance=min(1.0, max(0.0, importance + NOVELTY_WEIGHT * (novelty - 0.5))))
