#!/usr/bin/env python3
"""Whether sketches lose any of the nearest memories, and what comparing fewer vectors saves.

    [HIPPO_BENCH_DATA=DIR] python benchmarks/nearest.py [--memories 5000] [--questions 200] [--cache DIR]

Texts and questions are the real ones of benchmarks/memories.py, every one embedded. What the search by sketches finds
is held against all vectors compared, as vec0 does it by itself. Printed: how many of the true nearest 10 and 50 are
missing, how many vectors were compared exactly, and the processor time of both searches.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import memories  # noqa: E402
from vector_cache import CachingEmbedder  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.store import Store, vec0  # noqa: E402

WANTED = (10, 50)
AS_NEAR = 1e-6  # cosines no further apart than that differ by rounding


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--cache", type=Path, help="keep the vectors here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        embedder = CachingEmbedder(open_embedder(Config()), options.cache or Path(folder, "cache"))
        vectors = embedder.embed(memories.texts(memories.REAL_WORDS, options.memories))
        asked = embedder.embed(memories.questions(memories.REAL_WORDS)[: options.questions])
        with Store.open(Path(folder, "memory.db")) as store:
            assert store.vectors.available
            table = vec0.Vec0(store._db, "nearest", embedder.dimension)
            with store.transaction():
                table.create()
                table.add([(row, "g", vector.tobytes()) for row, vector in enumerate(vectors, 1)])
            return max(report(table, [vector.tobytes() for vector in asked], wanted) for wanted in WANTED)


def report(table: vec0.Vec0, asked: list[bytes], wanted: int) -> int:
    """Print what is missing; 1 if anything is."""
    missing, took = 0, {"all": [], "likeliest": []}
    with counted() as compared:
        for vector in asked:
            near = {}
            for way, most in (("all", sys.maxsize), ("likeliest", 0)):
                vec0._ALL_UP_TO = most
                before = time.process_time()
                near[way] = table.nearest(vector, scopes=None, limit=wanted)
                took[way].append((time.process_time() - before) * 1000)
            least = near["all"][-1][1] - AS_NEAR
            missing += wanted - sum(cosine >= least for _, cosine in near["likeliest"])
    whole, few = (statistics.median(times) for times in took.values())
    middle = statistics.median(compared)
    print(f"nearest {wanted}: {missing} of {wanted * len(asked):,} missing; {middle:.0f} compared, {max(compared)} at "
          f"most; {few:.1f} ms instead of {whole:.1f}")  # fmt: skip
    return int(missing > 0)


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many vectors each search by sketches compares."""
    counts, real = [], vec0.Vec0._read

    def read(table: vec0.Vec0, places: list) -> bytearray:
        counts.append(len(places))
        return real(table, places)

    vec0.Vec0._read = read
    yield counts
    vec0.Vec0._read = real


if __name__ == "__main__":
    sys.exit(main())
