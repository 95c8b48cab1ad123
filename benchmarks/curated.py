#!/usr/bin/env python3
"""How well recall finds what answers a question, on the sets that HIPPO_BENCH_DATA names.

    HIPPO_BENCH_DATA=DIR python benchmarks/curated.py [SET ...] [--queries 40] [--cache DIR]

Every line of a corpus is a memory; the pipeline is the one that the command and the tool server call, with its floor
and its variety. It is compared with the keyword floor (FTS5, Porter stemmer, OR of all words), with vectors alone, and
with the pipeline without vectors. A session's best turn speaks for it. `--queries 0` takes a whole set, which may take
long to embed; otherwise a large set is its first queries, their sessions, and 120 others.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.store.memories import PLAIN  # noqa: E402

SETS = ("devmembench", "precisionmembench", "longmemeval")
MEASURES = ("R@5", "any@5", "R@10", "MRR")
DEPTH = 40

Search = Callable[[str], list[int]]  # question -> memory numbers, best first


def searches(store: Store, embedder: Embedder) -> dict[str, Search]:
    def keyword_floor(text: str) -> list[int]:
        return [n for n, _ in store.memories.keyword_hits(text.split(), index=PLAIN, scopes=None, limit=DEPTH)]

    def vectors_alone(text: str) -> list[int]:
        vector = embedder.embed([text])[0].tobytes()
        return [n for n, _ in store.vectors.nearest(embedder.fingerprint, vector, scopes=None, limit=DEPTH)]

    def pipeline(searcher: Embedder | None) -> Search:
        return lambda text: [r.memory.id for r in recall(store, text, embedder=searcher, scopes=None, k=DEPTH).results]

    return {
        "keyword floor": keyword_floor,
        "vectors alone": vectors_alone,
        "recall, no vectors": pipeline(None),
        "recall": pipeline(embedder),
    }


def measure(part: sets.Part, store: Store, ids: dict[int, str], embedder: Embedder) -> None:
    session = {corpus_id: session for corpus_id, session, _ in part.corpus}
    unit = "sessions" if part.by_session else "items"
    print(f"{part.name}: {len(part.queries)} questions, {len(part.corpus)} memories, scored by {unit}")
    score = sets.scorer()
    for name, search in searches(store, embedder).items():
        scores = []
        for _, text, gold in part.queries:
            found = [ids[number] for number in search(text)]
            ranked = list(dict.fromkeys(map(session.get, found) if part.by_session else found))
            scores.append(score(ranked, gold))
        means = "  ".join(f"{m} {100 * sum(s[m] for s in scores) / len(scores):5.1f}" for m in MEASURES)
        print(f"  {name:20s} {means}")


def main() -> None:
    embedder = open_embedder(Config())
    for part, store, ids in sets.stored(sets.arguments(__doc__, SETS), embedder):
        measure(part, store, ids, embedder)


if __name__ == "__main__":
    main()
