"""The embed step: gives every active memory that has none its vectors. Resumable: each batch is one transaction."""

from collections.abc import Callable

from hippo_core.embed.base import Embedder
from hippo_core.store import Store

BATCH = 64


def embed_pending(
    store: Store,
    embedder: Embedder,
    on_progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embed what is pending, oldest first; returns how many memories."""
    with store.reading():
        waiting = len(store.vectors.pending(embedder.fingerprint, -1)) if on_progress else 0
    done = 0
    while True:
        with store.reading():
            batch = store.vectors.pending(embedder.fingerprint, BATCH)
        if not batch:
            return done
        _embed_batch(store, embedder, batch)
        done += len(batch)
        if on_progress:
            on_progress(done, max(done, waiting))


def _embed_batch(store: Store, embedder: Embedder, batch: list[tuple[int, str]]) -> None:
    pieces = [(number, piece) for number, text in batch for piece in embedder.pieces(text)]
    vectors = embedder.embed([piece for _, piece in pieces]).astype("<f4", copy=False)
    chunks: dict[int, list[bytes]] = {number: [] for number, _ in batch}
    for (number, _), vector in zip(pieces, vectors, strict=True):
        chunks[number].append(vector.tobytes())
    with store.transaction():
        for number, text in batch:
            store.vectors.put(number, embedder.fingerprint, embedder.dimension, chunks[number], text)
