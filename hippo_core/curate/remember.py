"""Storing one memory that somebody asked for, at once: guard, guess its type, reconcile with what is known, render.

Knows nothing of sessions and transcripts; whether a text is the user's own is the caller's to say (guard.spoken).
"""

from hippo_core import clock
from hippo_core.embed.base import Embedder
from hippo_core.errors import UsageError, VectorsUnavailableError
from hippo_core.model.memory import Draft, Memory
from hippo_core.model.scope import Scope
from hippo_core.model.types import LADDER, Author, MemoryType
from hippo_core.paths import Paths
from hippo_core.store import Store

LONGEST = 10_000  # characters; a memory is a few sentences
_MACHINE_CONFIDENCE = 0.7  # an agent's own note: said on purpose, but not by the user


def remember(
    store: Store,
    paths: Paths,
    text: str,
    *,
    type: MemoryType | None = None,
    scope: Scope,
    author: Author,
    actor: str,
    pinned: bool = False,
) -> Memory:
    """Store `text` in `scope` and render. type None: guessed from its wording; a machine's is never a rule's.

    What is known already is confirmed instead (the memory then has a version above 1); a human who says what a machine
    stored makes it their own. Raises RefusedError where the guard does not let the text become a memory.
    """
    from hippo_core.distill.cues import guess_type
    from hippo_core.guard.gate import admit
    from hippo_core.guard.trust import without_authority
    from hippo_core.render.refresh import refresh

    admitted = admit(_presentable(text), users_own=author is Author.HUMAN)
    kind, confidence = type or guess_type(admitted), 1.0
    if author is Author.MACHINE:
        kind, confidence = without_authority(kind), _MACHINE_CONFIDENCE
    draft = Draft(admitted, kind, scope.key, author, confidence=confidence, pinned=pinned)
    with store.transaction():
        store.memories.ensure_scope(scope)
        known = store.memories.same_text(admitted, scope.key)
        if known is None:
            memory = store.memories.add(draft, actor)
        elif author is Author.MACHINE:
            memory = store.memories.reinforce(known.id, actor, (), clock.now(), known.confidence)
        else:
            memory = _made_human(store, known, draft, actor, chosen_type=type)
    refresh(store, paths)
    return memory


def embed_memory(store: Store, memory: Memory, embedder: Embedder | None) -> bool:
    """Give one memory its vectors at once, without waiting for the others that may be due.

    False where there is no embedder: keywords find it all the same, and the next pass makes up for it.
    """
    if embedder is None:
        return False
    try:
        vectors = embedder.embed(embedder.pieces(memory.text)).astype("<f4", copy=False)
        with store.transaction():
            chunks = [vector.tobytes() for vector in vectors]
            store.vectors.put(memory.id, embedder.fingerprint, embedder.dimension, chunks, memory.text)
    except VectorsUnavailableError:
        return False
    return True


def _made_human(store: Store, known: Memory, draft: Draft, actor: str, chosen_type: MemoryType | None) -> Memory:
    """Confirm a known memory in the user's name; their word on its type or pin is the newer one."""
    changes: dict[str, object] = {}
    if known.author is Author.MACHINE:
        changes |= {"author": Author.HUMAN, "confidence": 1.0}
    if chosen_type is not None and chosen_type is not known.type:
        policy = LADDER[chosen_type]
        changes |= {"type": chosen_type, "tier": policy.tier, "importance": policy.importance}
    if draft.pinned and not known.pinned:
        changes["pinned"] = True
    if changes:
        known = store.memories.update(known.id, known.version, actor, Author.HUMAN, **changes)
    return store.memories.reinforce(known.id, actor, (), clock.now(), 1.0)


def _presentable(text: str) -> str:
    """`text` without outer white space and without halves of characters, which no file can hold."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    if not whole:
        raise UsageError('There is nothing to remember: the text is empty. Say it, as in: hippo remember "TEXT"')
    if len(whole) > LONGEST:
        raise UsageError(
            f"That is too long for a memory: {len(whole):,} characters, at most {LONGEST:,}. Say it in a few sentences."
        )
    return whole
