"""The OpenAI embedder, for those who chose it in the settings: text-embedding-3-small, 1,536 numbers.

Text leaves the machine, and the user pays; so nothing here runs unless the settings say `embedder: openai`. The base
URL comes from the settings alone, the key from OPENAI_API_KEY.
"""

import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from hippo_core import usage
from hippo_core.embed.borders import best_cut, well_formed
from hippo_core.errors import VectorsUnavailableError

if TYPE_CHECKING:
    import numpy
    import openai

MODEL = "text-embedding-3-small"
_BASE_URL = "https://api.openai.com/v1"
# The window is 8,191 tokens and a request 300,000. A token is never shorter than a byte, so counting bytes needs no
# tokenizer and never exceeds either.
_MOST_BYTES_A_PIECE = 8_000
_MOST_BYTES_A_REQUEST = 250_000
_MOST_TEXTS_A_REQUEST = 256
_TIMEOUT_SECONDS = 20.0
_RETRIES = 2


class OpenAiEmbedder:
    """Raises VectorsUnavailableError without the package or a key, and from `embed` when no usable answer comes."""

    dimension = 1536
    fingerprint = f"openai/{MODEL}/1"

    def __init__(self, base_url: str | None = None) -> None:
        self._base_url = base_url or _BASE_URL
        self._service = usage.service_at(base_url, "OpenAI")
        missing = [name for name in ("numpy", "openai") if importlib.util.find_spec(name) is None]
        if missing:
            from hippo_core.record import installer

            raise VectorsUnavailableError(
                f"The settings choose OpenAI's embeddings, but {' and '.join(missing)} cannot be found here. "
                f"Recall works by keywords alone; to install it: {installer(' --with openai')}"
            )
        self._key = os.environ.get("OPENAI_API_KEY", "")
        if not self._key:
            raise VectorsUnavailableError(
                "The settings choose OpenAI's embeddings, but OPENAI_API_KEY is not set. "
                "Recall works by keywords alone."
            )
        self._client: openai.OpenAI | None = None
        self._opening = threading.Lock()

    @staticmethod
    def pieces(text: str) -> list[str]:
        text = well_formed(text)
        parts, start = [], 0
        while start < len(text):
            high = start + len(_fitting(text[start : start + _MOST_BYTES_A_PIECE]))
            cut = high if high == len(text) else best_cut(text, start + (high - start) // 2, high)
            parts.append(text[start:cut].strip())
            start = cut
        return [part for part in parts if part] or [""]

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        import numpy

        vectors = numpy.zeros((len(texts), self.dimension), dtype=numpy.float32)
        for batch in _batches([_sendable(text) for text in texts]):
            for position, numbers in self._request(batch):
                vectors[position] = numbers
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)

    def _request(self, batch: Sequence[tuple[int, str]]) -> list[tuple[int, list[float]]]:
        """(position, vector) of a batch of (position, text)."""
        import openai

        try:
            answer = self._open().embeddings.create(model=MODEL, input=[text for _, text in batch])
            usage.note(self._service, MODEL, _tokens(answer.usage))  # paid for, whether or not it is any use
            vectors = {item.index: item.embedding for item in answer.data}
        except (openai.OpenAIError, ValueError) as error:
            _give_up(error)
        if sorted(vectors) != list(range(len(batch))) or any(len(v) != self.dimension for v in vectors.values()):
            _give_up(ValueError("the answer does not fit the request"))
        return [(position, vectors[index]) for index, (position, _) in enumerate(batch)]

    def _open(self) -> "openai.OpenAI":
        import openai

        with self._opening:
            if self._client is None:
                self._client = openai.OpenAI(
                    api_key=self._key, base_url=self._base_url, timeout=_TIMEOUT_SECONDS, max_retries=_RETRIES
                )
            return self._client


def _sendable(text: str) -> str:
    """At most one window of `text`, and never the empty string, which the service refuses."""
    return _fitting(well_formed(text)) or " "


def _fitting(text: str) -> str:
    return text.encode()[:_MOST_BYTES_A_PIECE].decode("utf-8", "ignore")


def _batches(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    batch: list[tuple[int, str]] = []
    size = 0
    for position, text in enumerate(texts):
        length = len(text.encode())
        if batch and (size + length > _MOST_BYTES_A_REQUEST or len(batch) == _MOST_TEXTS_A_REQUEST):
            yield batch
            batch, size = [], 0
        batch.append((position, text))
        size += length
    if batch:
        yield batch


def _tokens(told: object) -> object:
    """What an answer says it cost; a service that only speaks the protocol may leave either out, or both."""
    return getattr(told, "total_tokens", None) or getattr(told, "prompt_tokens", None)


def _give_up(error: Exception) -> NoReturn:
    """Say in plain words what the service's error means; its own text may quote the key, so it is left out."""
    import openai

    reasons = (
        (openai.AuthenticationError, "OPENAI_API_KEY was refused"),
        (openai.RateLimitError, "the account's limit is reached"),
        (openai.APITimeoutError, "it did not answer in time"),
        (openai.APIConnectionError, "it cannot be reached"),
    )
    reason = next((words for kind, words in reasons if isinstance(error, kind)), None)
    if reason is None and isinstance(error, openai.APIStatusError):
        reason = f"it answered with HTTP {error.status_code}"
    raise VectorsUnavailableError(
        f"OpenAI's embeddings are not available: {reason or 'its answer cannot be read'}. "
        "Recall works by keywords alone for now; nothing was lost."
    ) from error
