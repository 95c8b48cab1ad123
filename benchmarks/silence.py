#!/usr/bin/env python3
"""When the archive's search stays silent: what each floor for the best result would give, with and without vectors.

    HIPPO_BENCH_DATA=DIR python benchmarks/silence.py [--queries 100] [--cache DIR]

Each set's questions are asked of the archive that answers them and of the other, which cannot. The curve is printed for
the coefficients in force (recall/weights.py) on both halves of the questions, by a hash of their id, and for such as
are fitted on the first, on the second. calibrate.py does the same for memories. Exits with 1 when a published figure is
lost (published.py).
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import calibrate  # noqa: E402
import published  # noqa: E402
import sets  # noqa: E402

from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.recall.archive import Search, read_archive_query  # noqa: E402
from hippo_core.recall.relevance import least_shown, relevance  # noqa: E402
from hippo_core.recall.weights import WEIGHTS, Weights  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("longmemeval", "memaware", "devmembench")
STORES = ("longmemeval", "devmembench")  # memaware asks longmemeval's
FLOORS = (0, 0.03, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)
SHOWN = 5
QUERIES = 100  # of each set, unless told otherwise: what is published


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


def report(rows: Sequence[Asked], weights: Weights, chosen: float) -> dict[str, float]:
    shown = {least: [(row, shown_of(row, weights, least)) for row in rows] for least in (*FLOORS, chosen)}
    return calibrate.curve(shown, chosen)


def shown_of(row: Asked, weights: Weights, least: float) -> list[bool]:
    """Of what would be shown when the best has to reach `least`: does each answer? As `Search.choose` has it."""
    best = max((relevance(seen, weights) for seen, _ in row.candidates), default=0.0)
    if best < least:
        return []
    floor = least_shown(best, weights)
    pairs = zip(row.candidates, row.shares, strict=True)
    return [label for (_, label), share in pairs if best * share >= floor][:SHOWN]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=QUERIES, help="at most so many of a set")
    parser.add_argument("--cache", type=Path, help="keep stores and vectors here for the next run")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = options.cache or Path(folder)
        embedder = archived.embedder(cache)
        stores = {name: archived.store(name, embedder, cache) for name in STORES}
        for title, searcher in (("with vectors", embedder), ("keywords only", None)):
            rows = list(everything(options.queries, stores, searcher))
            halves = [[row for row in rows if row.half == half] for half in (0, 1)]
            weights = calibrate.fitted(halves[0], searcher is not None)
            chosen = WEIGHTS.best_at_least if searcher is None else WEIGHTS.archive_best_at_least
            print(f"{title}: {len(halves[0])} and {len(halves[1])} questions and stores")
            for name, half, table in (
                ("in force, the half to choose by", halves[0], WEIGHTS),
                ("fitted, held out", halves[1], weights),
                ("in force, held out", halves[1], WEIGHTS),
            ):
                print(f"  {name}")
                given = report(half, table, chosen)
            found |= {(title, measure): value for measure, value in given.items()}
        for store in stores.values():
            store.close()
    return published.held("silence", found) if options.queries == QUERIES else 0


if __name__ == "__main__":
    sys.exit(main())
