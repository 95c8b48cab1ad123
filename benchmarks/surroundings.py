#!/usr/bin/env python3
"""What the turns beside a hit cost: tokens of an answer for a model, and the time of its search and text.

    HIPPO_BENCH_DATA=DIR python benchmarks/surroundings.py [--messages 100000] [--queries 100] [--cache DIR]

The first questions of longmemeval and memaware are asked of a grown archive (grown.py) by words alone.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import grown  # noqa: E402

from hippo_core.recall.archive import search_archive  # noqa: E402
from hippo_core.recall.present import archive_for_model  # noqa: E402
from hippo_core.render.budget import tokens  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("longmemeval", "memaware")
AROUND, SHOWN = (0, 1, 3, 10), (5, 20)  # turns on each side, hits
TIMED = 90  # questions, each asked with and without a turn on each side


def answer(store: Store, question: str, k: int, around: int) -> str | None:
    """What a model gets; None where nothing is found."""
    found = search_archive(store, question, scopes=None, k=k, around=around)
    return archive_for_model(found.hits, found.notes) if found.hits else None


def milliseconds(store: Store, question: str, around: int) -> float:
    started = time.process_time()
    answer(store, question, SHOWN[0], around)
    return (time.process_time() - started) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100, help="of each set")
    parser.add_argument("--cache", type=Path, help="keep the archive here for the next run")
    options = parser.parse_args()
    questions = [query["text"] for name in SETS for query in archived.queries(name)[: options.queries]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = grown.kept(options.cache or Path(folder), options.messages, None)
        with Store.open(home / "memory.db", readonly=True) as store:
            print(f"{len(questions)} questions, {options.messages:,} messages: tokens of an answer, mean (most)")
            for k in SHOWN:
                for around in AROUND:
                    answers = filter(None, (answer(store, question, k, around) for question in questions))
                    costs = list(map(tokens, answers))
                    print(
                        f"  of {k:2d}, {around:2d} turns on each side  {statistics.fmean(costs):6,.0f} ({max(costs):,})"
                    )
            times = [[milliseconds(store, question, around) for around in (0, 1)] for question in questions[:TIMED]]
            alone, beside = map(statistics.median, zip(*times, strict=True))
            print(
                f"search and text of {SHOWN[0]}, processor time: alone {alone:.1f} ms, with a turn beside {beside:.1f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
