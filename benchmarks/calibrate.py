#!/usr/bin/env python3
"""Fits the coefficients of recall.relevance, and prints what each floor for the best result would give.

    HIPPO_BENCH_DATA=DIR python benchmarks/calibrate.py [--queries 40] [--cache DIR]

Each set's queries are asked of its own store, where the gold is known, and of the other sets' stores, which cannot
answer them. Fitted on one half of the queries (by a hash of their id), reported on the other. A logistic regression by
Newton's method; every set and every store weighs the same. The fused rank's coefficient is given, not fitted: a rank is
relative, the first is first also where nothing fits, so a large one orders a little better and is silent much less.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy  # noqa: E402
import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.recall import channels  # noqa: E402
from hippo_core.recall.channels import Where  # noqa: E402
from hippo_core.recall.pipeline import judge  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.recall.relevance import Evidence, least_shown  # noqa: E402
from hippo_core.recall.weights import WEIGHTS  # noqa: E402
from hippo_core.store import Store  # noqa: E402

FUSED = WEIGHTS.with_vectors.fused
SHOWN = 5
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


def fit(rows: list[Asked], with_cosine: bool) -> numpy.ndarray:
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
    return b


def features(seen: Evidence, with_cosine: bool) -> list[float]:
    return [1.0, seen.coverage, *([seen.cosine or 0.0] if with_cosine else [])]


def report(rows: list[Asked], b: numpy.ndarray, with_cosine: bool) -> None:
    def chance(seen: Evidence) -> float:
        return float(1 / (1 + numpy.exp(-(numpy.dot(features(seen, with_cosine), b) + FUSED * seen.fused))))

    judged = [(chance(seen), label) for row in rows for seen, label in row.candidates]
    print("  said      true    of")
    for low, high in ((0, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = [label for value, label in judged if low <= value < high]
        if inside:
            print(f"  {low:.2f}-{min(high, 1):.2f} {sum(inside) / len(inside):.2f}  {len(inside):5d}")
    print("  best  answered  silent  true of shown  shown")
    for least in (0, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3):
        shown = [(row, shown_of(row, chance, least)) for row in rows]
        yes = [any(labels) for row, labels in shown if row.answerable]
        no = [not labels for row, labels in shown if not row.answerable]
        labels = [label for row, found in shown if row.answerable for label in found]
        counts = len(labels) / max(1, len(yes))
        print(f"  {least:.2f}   {_share(yes)}   {_share(no)}     {_share(labels)}      {counts:.1f}")


def shown_of(row: Asked, chance: Callable[[Evidence], float], least: float) -> list[bool]:
    """Of what a person would get to see when the best has to reach `least`: does each answer?"""
    judged = sorted(((chance(seen), label) for seen, label in row.candidates), key=lambda pair: -pair[0])[:SHOWN]
    best = judged[0][0] if judged else 0.0
    floor = least_shown(best)
    return [label for value, label in judged if value >= floor] if best >= least else []


def _share(values: list[bool]) -> str:
    return f"{100 * sum(values) / max(1, len(values)):5.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=40, help="at most so many of a large set, with their sessions")
    parser.add_argument("--cache", type=Path, help="keep the embedded stores here for the next run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        embedder = open_embedder(Config())
        for name, searcher in (("WITH_VECTORS", embedder), ("KEYWORDS_ONLY", None)):
            rows = list(everything(arguments.queries, arguments.cache or Path(folder), embedder, searcher))
            b = fit([row for row in rows if row.half == 0], searcher is not None)
            names = ("bias", "coverage", "cosine")
            print(name, ", ".join(f"{n}={value:.2f}" for n, value in zip(names, b, strict=False)), f"fused={FUSED}")
            report([row for row in rows if row.half == 1], b, searcher is not None)


if __name__ == "__main__":
    main()
