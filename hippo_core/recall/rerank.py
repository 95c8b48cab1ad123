"""Ranking the candidates again: by what the agent has worked out so far, or by a model that reads question and text.

A stage here gives an order and no more. Which candidates may be shown at all, and the numbers that are shown, stay
relevance.py's, which are calibrated: the highest goes to whom the stage puts first, and so on. So silence does not
depend on a stage, and one that fails leaves everything as it was.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hippo_core.config import Config
from hippo_core.errors import RerankerUnavailableError, UsageError
from hippo_core.recall.relevance import Evidence, relevance
from hippo_core.recall.weights import WEIGHTS, Weights

if TYPE_CHECKING:
    import numpy

# Takes the question and the candidates' (number, text), best first; returns for those it judged how well each answers,
# on any scale. Raises RerankerUnavailableError when it cannot.
Reranker = Callable[[str, Sequence[tuple[int, str]]], Mapping[int, float]]

RERANKED, SO_FAR = "reranked", "so far"  # the stages' names in an explanation
BUDGET = 1.5  # seconds that a search waits for a reranker
PAUSE = 60.0  # seconds without another try after one that failed


def open_reranker(config: Config) -> Reranker | None:
    """The reranker that the settings name, None for none. RerankerUnavailableError when it cannot run here."""
    if config.reranker == "off":
        return None
    if config.reranker == "local":
        from hippo_core.recall.cross_encoder import CrossEncoder

        return Sparing(CrossEncoder(config.reranker_folder))
    if config.reranker == "voyage":
        from hippo_core.recall.voyage import Voyage

        return Sparing(Voyage(config.voyage_base_url))
    raise UsageError(f"There is no reranker {config.reranker!r}: it is local, voyage or off.")


class Sparing:
    """A Reranker that leaves another one alone for a while after it failed, so that not every search waits for it."""

    def __init__(self, reranker: Reranker) -> None:
        self.reranker = reranker
        self.rest_until = 0.0

    def __call__(self, question: str, candidates: Sequence[tuple[int, str]]) -> Mapping[int, float]:
        if time.monotonic() < self.rest_until:
            raise RerankerUnavailableError("the reranker failed a moment ago and is left alone for a minute.")
        try:
            return self.reranker(question, candidates)
        except RerankerUnavailableError:
            self.rest_until = time.monotonic() + PAUSE
            raise


class Reranking:
    """The reranker of the settings in force, kept from one search to the next."""

    def __init__(self) -> None:
        self._reranker: Reranker | None = None
        self._opened_for: tuple[str | None, ...] = ()

    def of(self, config: Config) -> Reranker | None:
        """None for none. One that cannot run here says so when it is asked, as one that fails does."""
        chosen = config.reranker, config.reranker_folder, config.voyage_base_url
        if self._opened_for != chosen:
            try:
                self._reranker = open_reranker(config)
            except RerankerUnavailableError as error:
                self._reranker = _failing(error)
            self._opened_for = chosen
        return self._reranker


def _failing(error: RerankerUnavailableError) -> Reranker:
    def fail(question: str, candidates: Sequence[tuple[int, str]]) -> Mapping[int, float]:
        raise error

    return fail


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
