#!/usr/bin/env python3
"""When the archive's search stays silent: what each floor for the best result would give, with and without vectors.

    HIPPO_BENCH_DATA=DIR python benchmarks/silence.py [--queries 160] [--cache DIR]

Each set's questions are asked of the archive that answers them and of the other, which cannot. The curve is printed for
the coefficients in force (recall/relevance.py) on both halves of the questions, by a hash of their id, and for such as
are fitted on the first, on the second. calibrate.py does the same for memories.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import calibrate  # noqa: E402
import numpy  # noqa: E402
import sets  # noqa: E402

from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.recall.archive import Search, read_archive_query  # noqa: E402
from hippo_core.recall.relevance import Evidence, least_shown, relevance  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("longmemeval", "memaware", "devmembench")
STORES = ("longmemeval", "devmembench")  # memaware asks longmemeval's
FLOORS = (0, 0.03, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
SHOWN = 5


@dataclass
class Asked(calibrate.Asked):
    """shares: of each candidate's session, as a share of the best one's score; same order as the candidates."""

    shares: list[float]


def ask(store: Store, searcher: Embedder | None, query: dict, own: bool, weight: float) -> Asked:
    asked = read_archive_query(query["text"], archived.asked_at(query))
    row = Asked(sets.half(query["id"]), [], own, weight, [])
    if asked.empty or asked.time_alone:
        return row
    search = Search(store, asked, None)
    search.by_words()
    search.by_meaning(searcher)
    scores = search.scores(SHOWN)
    gold = set(query["evidence"]) if own else set()
    messages = store.archive.fetch(list(scores))
    row.candidates = [(search.evidence[number], messages[number].session_id in gold) for number in scores]
    row.shares = [score / max(scores.values()) for score in scores.values()]
    return row


def everything(most: int, stores: dict[str, Store], searcher: Embedder | None) -> Iterator[Asked]:
    for name in SETS:
        queries = archived.queries(name)[:most]
        for place, store in stores.items():
            own = (place == "devmembench") == (name == "devmembench")
            for query in queries:
                yield ask(store, searcher, query, own, 1 / len(queries))


def report(rows: list[Asked], chance: Callable[[Evidence], float]) -> None:
    print("    best  answered  silent  true of shown  shown")
    for least in FLOORS:
        shown = [(row, shown_of(row, chance, least)) for row in rows]
        yes = [any(labels) for row, labels in shown if row.answerable]
        no = [not labels for row, labels in shown if not row.answerable]
        labels = [label for row, found in shown if row.answerable for label in found]
        cells = "     ".join(f"{100 * sum(values) / max(1, len(values)):5.1f}" for values in (yes, no, labels))
        print(f"    {least:.2f}   {cells}      {len(labels) / max(1, len(yes)):.1f}")


def shown_of(row: Asked, chance: Callable[[Evidence], float], least: float) -> list[bool]:
    """Of what would be shown when the best has to reach `least`: does each answer? As `Search.scores` has it."""
    best = max((chance(seen) for seen, _ in row.candidates), default=0.0)
    if best < least:
        return []
    floor = least_shown(best)
    pairs = zip(row.candidates, row.shares, strict=True)
    return [label for (_, label), share in pairs if best * share >= floor][:SHOWN]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=160, help="at most so many of a set")
    parser.add_argument("--cache", type=Path, help="keep stores and vectors here for the next run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = arguments.cache or Path(folder)
        embedder = archived.embedder(cache)
        stores = {name: archived.store(name, embedder, cache) for name in STORES}
        for title, searcher in (("with vectors", embedder), ("keywords only", None)):
            rows = list(everything(arguments.queries, stores, searcher))
            halves = [[row for row in rows if row.half == half] for half in (0, 1)]
            with_cosine = searcher is not None
            b = calibrate.fit(halves[0], with_cosine)

            def fitted(seen: Evidence, b: numpy.ndarray = b, with_cosine: bool = with_cosine) -> float:
                weighed = numpy.dot(calibrate.features(seen, with_cosine), b) + calibrate.FUSED * seen.fused
                return float(1 / (1 + numpy.exp(-weighed)))

            print(f"{title}: {len(halves[0])} and {len(halves[1])} questions and stores")
            print("  as it is, the half to choose by")
            report(halves[0], relevance)
            print("  as it is, held out")
            report(halves[1], relevance)
            print("  fitted, held out:", ", ".join(f"{value:.2f}" for value in b))
            report(halves[1], fitted)
        for store in stores.values():
            store.close()


if __name__ == "__main__":
    main()
