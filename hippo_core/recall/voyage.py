"""Voyage's reranker, for those who chose it in the settings: rerank-2.5-lite reads the question beside each candidate.

Text leaves the machine, and the user pays; so nothing here runs unless the settings say `reranker: voyage`. The base
URL comes from the settings alone, the key from VOYAGE_API_KEY. What is sent is redacted first.
"""

import json
import math
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from hippo_core import usage
from hippo_core.embed.borders import well_formed
from hippo_core.errors import RerankerUnavailableError
from hippo_core.guard.redact import redact
from hippo_core.recall.rerank import BUDGET

MODEL = "rerank-2.5-lite"
_BASE_URL = "https://api.voyageai.com/v1"
_MOST_LETTERS = 2_000  # of one text
_MOST_BYTES = 1_000_000  # of an answer
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Voyage:
    """A Reranker. RerankerUnavailableError without a key, and when no usable answer comes within the budget."""

    def __init__(self, base_url: str | None = None) -> None:
        self._url = (base_url or _BASE_URL).rstrip("/") + "/rerank"
        self._service = usage.service_at(base_url, "Voyage")
        parts = urlsplit(self._url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise RerankerUnavailableError("voyage_base_url must begin with https://, for a key is sent there.")
        self._key = os.environ.get("VOYAGE_API_KEY", "")
        if not self._key:
            raise RerankerUnavailableError("The settings choose Voyage's reranker, but VOYAGE_API_KEY is not set.")

    def __call__(self, question: str, candidates: Sequence[tuple[int, str]]) -> Mapping[int, float]:
        body = {
            "model": MODEL,
            "query": _sendable(question),
            "documents": [_sendable(text) for _, text in candidates],
            "return_documents": False,
            "truncation": True,
        }
        scores = _scores(self._post_in_time(body), len(candidates))
        return {number: scores[index] for index, (number, _) in enumerate(candidates)}

    def _post_in_time(self, body: dict[str, Any]) -> bytes:
        """The answer. A timeout of the library's is one of each read, so the whole is waited for from outside."""
        done: list[bytes | Exception] = []

        def post() -> None:
            try:
                answer = self._post(body)
                usage.note(self._service, MODEL, _tokens(answer))  # paid for, also when nobody waits any more
                done.append(answer)
            except Exception as error:  # whatever the network throws, it is told below
                done.append(error)

        worker = threading.Thread(target=post, daemon=True)
        worker.start()
        worker.join(BUDGET)
        if not done:
            raise RerankerUnavailableError(_too_late())
        if isinstance(done[0], Exception):
            raise RerankerUnavailableError(_reason(done[0])) from done[0]
        return done[0]

    def _post(self, body: dict[str, Any]) -> bytes:
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stays(HTTPRedirectHandler):
            """Follows no redirect: the key is for the address in the settings."""

            def redirect_request(self, *arguments: Any) -> None:
                return None

        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        request = Request(self._url, json.dumps(body).encode(), headers, method="POST")
        with build_opener(Stays).open(request, timeout=BUDGET) as answer:
            return answer.read(_MOST_BYTES)


def _sendable(text: str) -> str:
    """What may leave the machine of a text: no secrets, not more than the beginning, never the empty string."""
    return well_formed(redact(text))[:_MOST_LETTERS].strip() or "-"


def _tokens(answer: bytes) -> object:
    """What an answer says it cost, None where it does not."""
    try:
        return json.loads(answer)["usage"]["total_tokens"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _scores(answer: bytes, count: int) -> list[float]:
    """The scores in the order of what was sent; RerankerUnavailableError when the answer does not fit that."""
    try:
        scores = {int(row["index"]): float(row["relevance_score"]) for row in json.loads(answer)["data"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RerankerUnavailableError("Voyage's answer cannot be read.") from error
    if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
        raise RerankerUnavailableError("Voyage's answer does not fit the question.")
    return [scores[index] for index in range(count)]


def _reason(error: Exception) -> str:
    """What an error means, in plain words; its own text may quote the key, so it is left out."""
    status = getattr(error, "code", None)
    if status in (401, 403):
        return "Voyage refused VOYAGE_API_KEY."
    if status == 429:
        return "the limit of the Voyage account is reached."
    if status is not None:
        return f"Voyage answered with HTTP {status}."
    if isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
        return _too_late()
    return "Voyage cannot be reached."


def _too_late() -> str:
    return f"Voyage did not answer within {BUDGET:g} s."
