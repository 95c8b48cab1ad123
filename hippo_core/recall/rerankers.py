"""Which reranker the settings name, opened when it is first needed, and left alone for a while after it failed."""

import time
from collections.abc import Mapping, Sequence

from hippo_core.config import Config
from hippo_core.errors import RerankerUnavailableError, UsageError
from hippo_core.recall.rerank import Reranker

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
