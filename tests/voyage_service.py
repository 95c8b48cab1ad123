"""A stand-in for Voyage's reranker on a loopback port, which speaks the protocol as Voyage documents it."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service(ThreadingHTTPServer):
    """POST /v1/rerank: a document that holds `prefers` is relevant.

    `answer` may replace the answer by (status, bytes); `hold`, when set, is waited for before answering; so is `drip`,
    for at most 20 s, but meanwhile white space comes, so that no single read takes long.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.prefers = "vault"
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.answer: tuple[int, bytes] | None = None
        self.elsewhere: str | None = None
        self.hold: threading.Event | None = None
        self.drip: threading.Event | None = None
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self):  # noqa: N802, the name http.server calls
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.headers.append(dict(self.headers))
        if self.server.hold:
            self.server.hold.wait(60)
        status, data = self.server.answer or (200, json.dumps(self._ranking(request)).encode())
        self.send_response(status if self.path == "/v1/rerank" else 404)
        if self.server.elsewhere:
            self.send_header("Location", self.server.elsewhere)
        self.send_header("Content-Type", "application/json")
        if not self.server.drip:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self._drip()
            self.wfile.write(data)

    def _drip(self):
        for _ in range(1_000 if self.server.drip else 0):
            if self.server.drip.wait(0.02):
                break
            self.wfile.write(b" ")

    def _ranking(self, request):
        scores = [0.9 if self.server.prefers in text else 0.1 for text in request["documents"]]
        rows = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
        rows.sort(key=lambda row: -row["relevance_score"])  # the service answers best first
        return {"object": "list", "data": rows, "model": request["model"], "usage": {"total_tokens": 7}}

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serving() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        for event in filter(None, (server.hold, server.drip)):
            event.set()
        server.shutdown()
        thread.join()
