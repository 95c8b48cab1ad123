#!/usr/bin/env python3
"""Which fusion of the channels serves memories best: reciprocal ranks, scores on one scale, weights from the question.

    HIPPO_BENCH_DATA=DIR python benchmarks/fusion.py [--cache DIR]

On precisionmembench as typed memories, and on what curated.py asks of devmembench and longmemeval. A fusion with
weights to choose answers each fold (retrieval.py's, by a hash of the question's id) by those that are best on the other
folds of all three. Printed: any@5 / R@5 / MRR of the fused list alone, and of recall's candidates in the order of their
relevance, of which the fused rank is but a part; without the stages after it (variety). Exits with 1 when a published
figure of the weights in force is lost (published.py).
"""

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import precision  # noqa: E402
import published  # noqa: E402
import retrieval  # noqa: E402
import sets  # noqa: E402

from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.model.scope import GLOBAL  # noqa: E402
from hippo_core.recall import channels, pipeline  # noqa: E402
from hippo_core.recall.channels import EXACT_CHANNEL, PLAIN_CHANNEL, VECTOR_CHANNEL, Found, Where  # noqa: E402
from hippo_core.recall.fuse import reciprocal_ranks  # noqa: E402
from hippo_core.recall.query import Query, read_query  # noqa: E402
from hippo_core.recall.weights import WEIGHTS  # noqa: E402
from hippo_core.store import Store  # noqa: E402

MEASURES = ("any@5", "R@5", "MRR")
DEPTH, LONG = 40, 6  # LONG: content words

Lists = Mapping[str, Sequence[tuple[int, float]]]
Fusion = Callable[[Query, Lists], dict[int, float]]  # item -> 0..1, best first


@dataclass(frozen=True)
class Question:
    part: str
    fold: int
    text: str
    scopes: list[str] | None
    gold: list[str]
    store: Store
    unit_of: Mapping[int, str]  # memory number -> what the gold is of


def weighed(exact: float, words: float, meaning: float) -> dict[str, float]:
    return {**WEIGHTS.channels, EXACT_CHANNEL: exact, PLAIN_CHANNEL: words, VECTOR_CHANNEL: meaning}


GRID = [weighed(*each) for each in itertools.product((0.0, 0.3, 1.0), (0.5, 1.0, 2.0), (1.0,))]


def by_rank(weights: Mapping[str, float], constant: int = WEIGHTS.rank_constant, without: str = "") -> Fusion:
    def fused(asked: Query, lists: Lists) -> dict[int, float]:
        left = {name: ranked for name, ranked in lists.items() if name != without}
        return reciprocal_ranks(left, weights, constant) if left else {}

    return fused


def by_score(weights: Mapping[str, float], from_last: bool) -> Fusion:
    """Linear: each list's scores from 0, or from its last one, to its best, weighed and added up."""

    def fused(asked: Query, lists: Lists) -> dict[int, float]:
        whole, scores = sum(weights[name] for name in lists) or 1.0, {}
        for name, ranked in lists.items():
            low = min((score for _, score in ranked), default=0.0) if from_last else 0.0
            span = max((score for _, score in ranked), default=0.0) - low
            for item, score in ranked:
                share = (score - low) / span if span > 0 else 1.0
                scores[item] = scores.get(item, 0.0) + weights[name] * max(0.0, share) / whole
        return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))

    return fused


def by_question(named: float, long: float) -> Fusion:
    """Reciprocal ranks; words count `named` times as much where the question names something, meaning `long` times in
    a long question."""

    def fused(asked: Query, lists: Lists) -> dict[int, float]:
        weights = dict(WEIGHTS.channels)
        if asked.literals:
            weights[PLAIN_CHANNEL] *= named
            weights[EXACT_CHANNEL] *= named
        if len(asked.words) >= LONG:
            weights[VECTOR_CHANNEL] *= long
        return reciprocal_ranks(lists, weights)

    return fused


def by_peak(power: float) -> Fusion:
    """Reciprocal ranks; a list counts by how far its best is ahead of its tenth."""

    def fused(asked: Query, lists: Lists) -> dict[int, float]:
        weights = dict(WEIGHTS.channels)
        for name, ranked in lists.items():
            if len(ranked) > 1 and ranked[0][1] > 0:
                weights[name] *= (1 - ranked[:10][-1][1] / ranked[0][1] + 0.05) ** power
        return reciprocal_ranks(lists, weights)

    return fused


IN_FORCE = "weights in force"
FUSIONS: Mapping[str, Sequence[Fusion]] = {
    "equal weights, constant 60": [by_rank(weighed(1, 1, 1), 60)],
    "equal weights, constant 10": [by_rank(weighed(1, 1, 1))],
    IN_FORCE: [by_rank(WEIGHTS.channels)],
    "weights chosen": [by_rank(weights, constant) for weights in GRID for constant in (10, 60)],
    "scores, last to best, chosen": [by_score(weights, True) for weights in GRID],
    "shares of the best, chosen": [by_score(weights, False) for weights in GRID],
    "from the question, chosen": [by_question(*each) for each in itertools.product((0.5, 1.0, 2.0, 4.0), repeat=2)],
    "from how peaked, chosen": [by_peak(power) for power in (0.0, 0.25, 0.5, 1.0)],
    "in force, without exact": [by_rank(WEIGHTS.channels, without=EXACT_CHANNEL)],
    "in force, without words": [by_rank(WEIGHTS.channels, without=PLAIN_CHANNEL)],
    "in force, without meaning": [by_rank(WEIGHTS.channels, without=VECTOR_CHANNEL)],
}


def questions(embedder: Embedder, cache: Path, folder: Path) -> Iterator[Question]:
    for name in ("devmembench", "longmemeval"):
        part = sets.load(name, sets.QUERIES)
        store, ids = sets.store_of(part, embedder, cache)
        session = {corpus_id: session for corpus_id, session, _ in part.corpus}
        unit_of = {number: session[corpus_id] for number, corpus_id in ids.items()}
        for query_id, text, gold in part.queries:
            yield Question(name, retrieval.fold(query_id), text, None, gold, store, unit_of)
    beliefs = [belief for belief in precision.rows("corpus.jsonl") if belief["speaker"] == precision.OWNER]
    store, by_number = precision.filled(folder / "typed.db", beliefs, embedder)
    ids = {number: belief["id"] for number, belief in by_number.items()}
    for case in precision.cases():
        if case.evidence and case.owner == precision.OWNER:
            scopes = [*(precision.scope_of(scope).key for scope in case.scopes), GLOBAL]
            fold = retrieval.fold(case.name)
            yield Question(precision.NAME, fold, case.question, scopes, case.evidence, store, ids)


class Asked:
    """A question with what the channels found for it: that is the same for every fusion."""

    def __init__(self, question: Question, embedder: Embedder):
        self._question, store = question, question.store
        self.part, self.fold = question.part, question.fold
        self._query, _ = channels.mended(store, read_query(question.text))
        self._found = channels.search(store, self._query, Where(question.scopes, None), embedder)
        self._score = sets.scorer()

    def alone(self, fusion: Fusion) -> dict[str, float]:
        """What the fused list is worth by itself."""
        return self._scored(fusion(self._query, self._found.lists))

    def in_recall(self, fusion: Fusion) -> dict[str, float]:
        """What recall is worth with it: its candidates, their relevance, silence and what is beside the point."""
        found = Found()
        found.lists, found.question = dict(self._found.lists), self._found.question
        real = pipeline.reciprocal_ranks
        pipeline.reciprocal_ranks = lambda lists, *_: fusion(self._query, lists)
        try:
            pool = pipeline.judge(self._question.store, self._query, found)
        finally:
            pipeline.reciprocal_ranks = real
        return self._scored(pool.showable())

    def _scored(self, numbers: Mapping[int, float]) -> dict[str, float]:
        units = list(dict.fromkeys(self._question.unit_of[number] for number in list(numbers)[:DEPTH]))
        return self._score(units, self._question.gold)


def held_out(results: Sequence[Sequence[Mapping[str, float]]], asked: Sequence[Asked]) -> list[Mapping[str, float]]:
    """Each question's score under what is best on the other folds, every set weighing the same. results: by fusion."""
    parts = list(dict.fromkeys(one.part for one in asked))

    def outside(scores: Sequence[Mapping[str, float]], fold: int) -> float:
        pairs = [(one, retrieval.goal(score)) for one, score in zip(asked, scores, strict=True) if one.fold != fold]
        return statistics.fmean(statistics.fmean(goal for one, goal in pairs if one.part == part) for part in parts)

    best = {fold: max(results, key=lambda scores: outside(scores, fold)) for fold in range(retrieval.FOLDS)}
    return [best[one.fold][place] for place, one in enumerate(asked)]


def report(
    title: str, asked: Sequence[Asked], judged: Callable[[Asked, Fusion], Mapping[str, float]]
) -> dict[published.Key, float]:
    """Print what each fusion gives; what the one in force gives is returned."""
    found = {}
    parts = list(dict.fromkeys(one.part for one in asked))
    print(f"\n{title:30s} " + "   ".join(f"{part:>20s}" for part in parts))
    for name, fusions in FUSIONS.items():
        scores = held_out([[judged(one, fusion) for one in asked] for fusion in fusions], asked)
        cells = []
        for part in parts:
            own = [score for one, score in zip(asked, scores, strict=True) if one.part == part]
            means = {measure: 100 * statistics.fmean(score[measure] for score in own) for measure in MEASURES}
            cells.append(" / ".join(f"{mean:5.1f}" for mean in means.values()))
            if name == IN_FORCE:
                found |= {(f"{title}, {part}", measure): mean for measure, mean in means.items()}
        print(f"{name:30s}  " + "   ".join(cells))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="keep stores and vectors here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = options.cache or Path(folder)
        embedder = archived.embedder(cache)
        asked = [Asked(question, embedder) for question in questions(embedder, cache, Path(folder))]
        found = report("the fused list alone", asked, Asked.alone) | report("recall", asked, Asked.in_recall)
    return published.held("fusion", found)


if __name__ == "__main__":
    sys.exit(main())
