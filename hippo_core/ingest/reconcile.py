"""Where a draft meets what is known already: add it, or confirm what says the same. Decides; storing is the store's.

Human memories are confirmed, never replaced.
"""

from enum import Enum

from hippo_core import clock
from hippo_core.errors import RefusedError
from hippo_core.model.memory import Draft
from hippo_core.store import Store


class Outcome(str, Enum):
    ADD = "add"
    REINFORCE = "reinforce"
    SUPERSEDE = "supersede"
    CONFLICT = "conflict"
    IGNORE = "ignore"


def reconcile(store: Store, draft: Draft, actor: str) -> Outcome:
    """Bring one draft into the store. Inside a transaction; the draft's scope must be known to the store."""
    from dataclasses import replace

    from hippo_core.guard.gate import admit

    try:
        draft = replace(draft, text=admit(draft.text))
    except RefusedError:
        return Outcome.IGNORE
    observed = clock.now() if draft.observed_at is None else draft.observed_at
    same = store.memories.same_text(draft.text, draft.scope)
    if same:
        store.memories.reinforce(same.id, actor, draft.sources, observed, draft.confidence)
        return Outcome.REINFORCE
    store.memories.add(draft, actor)
    return Outcome.ADD
