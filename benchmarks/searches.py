"""Recall beside what it is compared with, each as a function of a question. Used by the scripts beside it."""

from collections.abc import Callable, Sequence

from hippo_core.embed.base import Embedder
from hippo_core.errors import UsageError
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.pipeline import recall
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

RECALL, BY_WORDS = "recall", "recall, no vectors"
DEPTH = 40

Search = Callable[[str, Sequence[str] | None], list[int]]  # question, scopes -> memory numbers, best first


def of_memories(store: Store, embedder: Embedder, k: int, with_like: bool = False) -> dict[str, Search]:
    """The keyword floor (FTS5, Porter stemmer, OR of all words), vectors alone, both in plain fusion, and recall.

    with_like: a result is followed by the memories that it stands for.
    """

    def keyword_floor(text: str, scopes: Sequence[str] | None) -> list[int]:
        hits = store.memories.keyword_hits(text.split(), index=PLAIN, scopes=scopes, limit=DEPTH)
        return [number for number, _ in hits]

    def vectors_alone(text: str, scopes: Sequence[str] | None) -> list[int]:
        vector = embedder.embed([text])[0].tobytes()
        return [n for n, _ in store.vectors.nearest(embedder.fingerprint, vector, scopes=scopes, limit=DEPTH)]

    def plain_fusion(text: str, scopes: Sequence[str] | None) -> list[int]:
        lists = {"words": keyword_floor(text, scopes), "meaning": vectors_alone(text, scopes)}
        ranked = {name: [(number, 0.0) for number in numbers] for name, numbers in lists.items()}
        return list(reciprocal_ranks(ranked, dict.fromkeys(ranked, 1.0), 60))

    def pipeline(searcher: Embedder | None) -> Search:
        def found(text: str, scopes: Sequence[str] | None) -> list[int]:
            try:
                results = recall(store, text, embedder=searcher, scopes=scopes, k=k).results
            except UsageError:
                return []  # an empty question is told apart, and brings nothing
            return [number for one in results for number in (one.memory.id, *(one.like if with_like else ()))]

        return found

    return {
        "keyword floor": keyword_floor,
        "vectors alone": vectors_alone,
        "plain fusion": plain_fusion,
        BY_WORDS: pipeline(None),
        RECALL: pipeline(embedder),
    }
