#!/usr/bin/env python3
"""Fits the coefficients of recall.relevance, and prints what each floor for the best result would give.

    HIPPO_BENCH_DATA=DIR python benchmarks/calibrate.py [--queries 40] [--cache DIR]

Each set's queries are asked of its own store, where the gold is known, and of the other sets' stores, which cannot
answer them. Fitted on one half of the queries (by a hash of their id), reported on the other. A logistic regression by
Newton's method; every set and every store weighs the same. The fused rank's coefficient is given, not fitted: a rank is
relative, the first is first also where nothing fits, so a large one orders a little better and is silent much less.
Printed for the table in force (recall/weights.py) and for the fitted one. Exits with 1 when a published figure is lost.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy  # noqa: E402
import published  # noqa: E402
import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.recall import channels  # noqa: E402
from hippo_core.recall.channels import Where  # noqa: E402
from hippo_core.recall.pipeline import judge  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.recall.relevance import Evidence, least_shown, relevance  # noqa: E402
from hippo_core.recall.weights import WEIGHTS, Logistic, Weights  # noqa: E402
from hippo_core.store import Store  # noqa: E402

FUSED = WEIGHTS.with_vectors.fused
SHOWN = 5
FLOORS = (0, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3)
CANDIDATES = 10  # of each query, the best by a first guess: what a person would get to see


@dataclass
class Asked:
    """One query on one store. candidates: (evidence, does it answer?). weight: of each candidate in the fit."""

    half: int
    candidates: list[tuple[Evidence, bool]]
    answerable: bool
    weight: float


def ask(store: Store, embedder: Embedder | None, text: str, unit_of: dict[int, str], gold: set[str]) -> list:
    """The best candidate of each unit (session or turn), with its label."""
    asked, _ = channels.mended(store, read_query(text))
    if asked.empty:
        return []
    pool = judge(store, asked, channels.search(store, asked, Where(None, None), embedder))
    guess = {
        number: seen.coverage + 2.5 * (seen.cosine or 0) + 0.5 * seen.fused for number, seen in pool.evidence.items()
    }
    best: dict[str, int] = {}
    for number in sorted(guess, key=guess.get, reverse=True):
        best.setdefault(unit_of[number], number)
    return [(pool.evidence[number], unit in gold) for unit, number in best.items()][:CANDIDATES]


def everything(queries: int, cache: Path, embedder: Embedder, searcher: Embedder | None) -> Iterator[Asked]:
    parts = [sets.load(name, queries) for name in ("devmembench", "precisionmembench", "longmemeval")]
    for part in parts:
        store, ids = sets.store_of(part, embedder, cache)
        session = {corpus_id: session for corpus_id, session, _ in part.corpus}
        unit_of = {number: session[i] if part.by_session else i for number, i in ids.items()}
        for other in parts:
            own = other is part
            weight = 1 / len(other.queries) / (1 if own else len(parts) - 1)
            for query_id, text, gold in other.queries:
                candidates = ask(store, searcher, text, unit_of, set(gold) if own else set())
                yield Asked(sets.half(query_id), candidates, own, weight)
        store.close()


def fitted(rows: Sequence[Asked], with_cosine: bool) -> Weights:
    """The table in force, with the coefficients that fit these."""
    x = numpy.array([features(seen, with_cosine) for row in rows for seen, _ in row.candidates])
    given = numpy.array([FUSED * seen.fused for row in rows for seen, _ in row.candidates])
    y = numpy.array([float(label) for row in rows for _, label in row.candidates])
    w = numpy.array([row.weight for row in rows for _ in row.candidates])
    w /= w.mean()
    b = numpy.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + numpy.exp(-(x @ b + given)))
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + 1e-3 * numpy.eye(len(b))
        b += numpy.linalg.solve(hessian, x.T @ (w * (y - p)) - 1e-3 * b)
    cosine = float(b[2]) if with_cosine else 0.0
    logistic = Logistic(float(b[0]), float(b[1]), FUSED, cosine)
    return WEIGHTS._replace(**{"with_vectors" if with_cosine else "keywords_only": logistic})


def features(seen: Evidence, with_cosine: bool) -> list[float]:
    return [1.0, seen.coverage, *([seen.cosine or 0.0] if with_cosine else [])]


def report(rows: Sequence[Asked], weights: Weights) -> dict[str, float]:
    """Print how often what is said is true, and what each floor gives; what the one in force does."""
    judged = [(relevance(seen, weights), label) for row in rows for seen, label in row.candidates]
    print("  said      true    of")
    for low, high in ((0, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = [label for value, label in judged if low <= value < high]
        if inside:
            print(f"  {low:.2f}-{min(high, 1):.2f} {sum(inside) / len(inside):.2f}  {len(inside):5d}")
    shown = {
        least: [(row, shown_of(row, weights, least)) for row in rows] for least in (*FLOORS, weights.best_at_least)
    }
    return curve(shown, weights.best_at_least)


def curve(shown: Mapping[float, list[tuple[Asked, list[bool]]]], chosen: float) -> dict[str, float]:
    """Print what each floor gives that the best has to reach; what the chosen one does. shown: floor -> labels."""
    print("    best  answered  silent  true of shown  shown")
    by_chosen = {}
    for least, found in sorted(shown.items()):
        own = [labels for row, labels in found if row.answerable]
        given = {
            "answered": _share([any(labels) for labels in own]),
            "silent": _share([not labels for row, labels in found if not row.answerable]),
            "true of shown": _share([label for labels in own for label in labels]),
        }
        cells = "     ".join(f"{value:5.1f}" for value in given.values())
        mark = "*" if least == chosen else " "
        print(f"   {mark}{least:.2f}   {cells}      {sum(map(len, own)) / max(1, len(own)):.1f}")
        by_chosen = given if least == chosen else by_chosen
    return by_chosen


def shown_of(row: Asked, weights: Weights, least: float) -> list[bool]:
    """Of what a person would get to see when the best has to reach `least`: does each answer?"""
    judged = sorted(((relevance(seen, weights), label) for seen, label in row.candidates), key=lambda pair: -pair[0])
    best = judged[0][0] if judged else 0.0
    floor = least_shown(best, weights)
    return [label for value, label in judged[:SHOWN] if value >= floor] if best >= least else []


def _share(values: Sequence[bool]) -> float:
    return 100 * sum(values) / max(1, len(values))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--queries", type=int, default=sets.QUERIES, help="at most so many of a large set, with their sessions"
    )
    parser.add_argument("--cache", type=Path, help="keep the embedded stores here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        embedder = open_embedder(Config())
        found = {}
        for name, searcher in (("with vectors", embedder), ("keywords only", None)):
            rows = list(everything(options.queries, options.cache or Path(folder), embedder, searcher))
            first, second = ([row for row in rows if row.half == half] for half in (0, 1))
            weights = fitted(first, searcher is not None)
            for title, table in (("fitted", weights), ("in force", WEIGHTS)):
                logistic = table.keywords_only if searcher is None else table.with_vectors
                print(f"{name}, {title}:", ", ".join(f"{n}={value:.2f}" for n, value in logistic._asdict().items()))
                given = report(second, table)
            found |= {(name, measure): value for measure, value in given.items()}
    return published.held("calibrate", found) if options.queries == sets.QUERIES else 0


if __name__ == "__main__":
    sys.exit(main())
