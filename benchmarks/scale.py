#!/usr/bin/env python3
"""What a search of the archive by words costs as the archive grows.

    HIPPO_BENCH_DATA=DIR python benchmarks/scale.py [--sizes 1000 10000 100000] [--seed 1]

The rows are real messages of the longmemeval pool, perturbed: of each copy a tenth of the words is exchanged for words
of other messages, so that the vocabulary keeps its shape. Ten projects. The questions are 20 of the set's own, spread
over it. Printed: the median and the worst of the questions in milliseconds of processor time (a busy machine does not
blur it), after one round to warm up. "words": the two keyword lists; "search": all of `hippo archive` without vectors;
"unbounded": the keyword lists without a plan.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402

from hippo_core.ingest.archive import prepare_search  # noqa: E402
from hippo_core.model.message import Message, Role  # noqa: E402
from hippo_core.model.scope import Scope, project_scope  # noqa: E402
from hippo_core.recall.archive import Search, search_archive  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.recall.sessions import TUNING, Tuning  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SET, QUESTIONS, PROJECTS, PORTION = "longmemeval", 20, 10, 5_000
EXCHANGED = 0.1
LETTERS = 600  # of a message; what is longer is cut, so that a million rows fit a disk

Timed = Callable[[str], object]


def perturbed(chance: random.Random) -> Iterator[tuple[str, Role, str]]:
    """(session, who speaks, text), without end."""
    rows = archived.corpus(SET)
    words = [word for row in rows[:: max(1, len(rows) // 2_000)] for word in row["text"].split()]
    round_number = 0
    while True:
        for row in rows:
            text = row["text"][:LETTERS].split()
            for place in range(len(text)):
                if round_number and chance.random() < EXCHANGED:
                    text[place] = chance.choice(words)
            role = Role.USER if row["speaker"] == "user" else Role.ASSISTANT
            yield f"{row['session']}-{round_number}", role, " ".join(text)
        round_number += 1


def projects() -> list[Scope]:
    return [project_scope(f"example.org/team/p{number}", f"p{number}") for number in range(PROJECTS)]


def grow(store: Store, rows: Iterator[tuple[str, Role, str]], size: int) -> None:
    """Append rows until the archive holds `size`, a session in one project."""
    places = projects()
    number = store.episodes.newest()
    while number < size:
        with store.transaction():
            source = store.progress.begin_source(f"/{number}.jsonl")
            for _ in range(min(PORTION, size - number)):
                session, role, text = next(rows)
                number += 1
                scope = places[zlib.crc32(session.encode()) % PROJECTS]
                message = Message(f"u{number}", session, role, text, float(number), None, number)
                store.archive.append(message, scope=scope, source_id=source.id)


def keyword_channel(store: Store, scopes: list[str] | None, tuning: Tuning = TUNING) -> Timed:
    def search(question: str) -> object:
        found = Search(store, read_query(question), scopes, tuning=tuning)
        found.by_words()
        return found.lists

    return search


def milliseconds(questions: list[str], search: Timed) -> tuple[float, float]:
    """(median, worst) over the questions."""
    times = []
    for _ in range(2):
        times = []
        for question in questions:
            started = time.process_time()
            search(question)
            times.append((time.process_time() - started) * 1000)
    return statistics.median(times), max(times)


def measure(store: Store, questions: list[str]) -> list[tuple[float, float]]:
    one = [projects()[0].key]
    return [
        milliseconds(questions, keyword_channel(store, None)),
        milliseconds(questions, keyword_channel(store, one)),
        milliseconds(questions, lambda question: search_archive(store, question, scopes=None)),
        milliseconds(questions, keyword_channel(store, None, Tuning(budget=sys.maxsize))),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    asked = archived.queries(SET)
    questions = [query["text"] for query in asked[:: len(asked) // QUESTIONS][:QUESTIONS]]
    print(f"{'rows':>9}  {'words, all':>15}  {'one project':>15}  {'search':>15}  {'unbounded':>15}  file MB")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "scale.db"
        rows = perturbed(random.Random(arguments.seed))
        with Store.open(path) as store:
            for size in sorted(arguments.sizes):
                grow(store, rows, size)
                prepare_search(store, seconds=600)
                cells = [f"{median:6.1f} / {worst:6.1f}" for median, worst in measure(store, questions)]
                print(f"{size:>9,}  " + "  ".join(cells) + f"  {path.stat().st_size / 1e6:7.0f}", flush=True)


if __name__ == "__main__":
    main()
