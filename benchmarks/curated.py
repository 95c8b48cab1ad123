#!/usr/bin/env python3
"""How well recall finds what answers a question, on the sets that HIPPO_BENCH_DATA names.

    HIPPO_BENCH_DATA=DIR python benchmarks/curated.py [SET ...] [--queries 40] [--cache DIR]

Every line of a corpus is a memory; the pipeline is the one that the command and the tool server call, with its floor
and its variety. It is compared with the keyword floor (FTS5, Porter stemmer, OR of all words), with vectors alone, with
plain fusion of both, and with the pipeline without vectors. A session's best turn speaks for it. `--queries 0` takes a
whole set, which may take long to embed; otherwise a large set is its first queries, their sessions, and 120 others.
Exits with 1 when a published figure is lost (published.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import published  # noqa: E402
import searches  # noqa: E402
import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("devmembench", "precisionmembench", "longmemeval")
MEASURES = ("R@5", "any@5", "R@10", "MRR")


def measure(part: sets.Part, store: Store, ids: dict[int, str], embedder: Embedder) -> dict[published.Key, float]:
    session = {corpus_id: session for corpus_id, session, _ in part.corpus}
    unit = "sessions" if part.by_session else "items"
    print(f"{part.name}: {len(part.queries)} questions, {len(part.corpus)} memories, scored by {unit}")
    score, measured = sets.scorer(), {}
    for name, search in searches.of_memories(store, embedder, searches.DEPTH).items():
        scores = []
        for _, text, gold in part.queries:
            found = [ids[number] for number in search(text, None)]
            ranked = list(dict.fromkeys(map(session.get, found) if part.by_session else found))
            scores.append(score(ranked, gold))
        means = {measure: 100 * sum(score[measure] for score in scores) / len(scores) for measure in MEASURES}
        print(f"  {name:20s} " + "  ".join(f"{measure} {mean:5.1f}" for measure, mean in means.items()))
        measured |= {(part.name, f"{name} {measure}"): mean for measure, mean in means.items()}
    return measured


def main() -> int:
    embedder, options, found = open_embedder(Config()), sets.arguments(__doc__, SETS), {}
    for part, store, ids in sets.stored(options, embedder):
        found |= measure(part, store, ids, embedder)
    return published.held("curated", found) if options.queries == sets.QUERIES else 0


if __name__ == "__main__":
    sys.exit(main())
