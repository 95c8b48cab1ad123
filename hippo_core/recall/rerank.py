"""Ranking the candidates again: by what the agent has worked out so far, or by a model that reads question and text.

A stage here gives an order and no more. Which candidates may be shown at all, and the numbers that are shown, stay
relevance.py's, which are calibrated: the highest goes to whom the stage puts first, and so on. So silence does not
depend on a stage, and one that fails leaves everything as it was.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hippo_core.recall.relevance import Evidence, relevance
from hippo_core.recall.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy

# Takes the question and the candidates' (number, text), best first; returns for those it judged how well each answers,
# on any scale. Raises RerankerUnavailableError when it cannot.
Reranker = Callable[[str, Sequence[tuple[int, str]]], Mapping[int, float]]

RERANKED, SO_FAR = "reranked", "so far"  # the stages' names in an explanation
BUDGET = 1.5  # seconds that a search waits for a reranker


def reordered(relevances: Mapping[int, float], judged: Mapping[int, float]) -> dict[int, float]:
    """The same numbers handed out anew, in the order of `judged`; whom it left out comes after, in the old order."""
    order = sorted(relevances, key=lambda item: (item in judged, judged.get(item, 0.0), relevances[item]), reverse=True)
    return dict(zip(order, sorted(relevances.values(), reverse=True), strict=True))


def bearing(
    relevances: Mapping[int, float],
    covered: Mapping[int, float],
    vectors: "Mapping[int, numpy.ndarray]",
    thought: "numpy.ndarray | None",
    weights: Weights = WEIGHTS,
) -> dict[int, float]:
    """How well each candidate fits the question and what was worked out so far as well: one relevance times the other.

    covered: the share of that text's words in each candidate. thought: its vector, None where there are none.
    """
    fits = {}
    for item, fit in relevances.items():
        cosine = float(vectors[item] @ thought) if thought is not None and item in vectors else None
        fits[item] = fit * relevance(Evidence(covered[item], 0.0, cosine), weights)
    return fits
