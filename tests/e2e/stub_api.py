"""A loopback stand-in for the Messages API: answers by rules a test gives, and keeps every request it saw.

Speaks the plain and the streaming form and counts tokens. Knows nothing of the client that calls it.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from e2e.api_request import ApiRequest

Block = dict[str, Any]
When = Callable[[ApiRequest], bool]


@dataclass(frozen=True)
class Reply:
    """What the model says. status >= 400 sends an API error of type `error` instead; delay: seconds before it."""

    blocks: Sequence[Block]
    status: int = 200
    error: str = "api_error"
    delay: float = 0.0
    usage: dict[str, int] = field(default_factory=dict)


def say(text: str, **more: Any) -> Reply:
    """The model answers in words."""
    return Reply([{"type": "text", "text": text}], **more)


def use(tool: str, tool_input: dict[str, Any], **more: Any) -> Reply:
    """The model calls a tool."""
    return Reply([{"type": "tool_use", "name": tool, "input": tool_input}], **more)


def fail(status: int, error: str) -> Reply:
    """The API answers with an error, for example fail(529, "overloaded_error")."""
    return Reply([], status=status, error=error)


class StubApi:
    """Use in a `with`. Rules are tried in the order they were added; a request that none matches is answered "Done"."""

    def __init__(self) -> None:
        self._rules: list[tuple[When, Reply, list[int]]] = []
        self._requests: list[ApiRequest] = []
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.api = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def on(self, when: When, reply: Reply, times: int = 1) -> None:
        """Answer `reply` to the next `times` requests for which `when` holds."""
        with self._changed:
            self._rules.append((when, reply, [times]))

    @property
    def requests(self) -> list[ApiRequest]:
        """Every request for a message so far, in the order of arrival."""
        with self._changed:
            return list(self._requests)

    def wait_for(self, when: When, timeout: float = 30.0) -> ApiRequest:
        """The first request for which `when` holds, whether it has arrived yet or not."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                found = next((request for request in self._requests if when(request)), None)
                if found is not None:
                    return found
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"no such request among the {len(self._requests)} seen in {timeout:.0f} s")

    def answer(self, request: ApiRequest) -> tuple[int, Reply]:
        """Record a request; its number and the reply to it."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
            for when, reply, left in self._rules:
                if left[0] > 0 and when(request):
                    left[0] -= 1
                    return len(self._requests), reply
            return len(self._requests), say("Done")

    def __enter__(self) -> "StubApi":
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self._send_error(404, "not_found_error")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        elif path == "/v1/messages":
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(ApiRequest(path, headers, json.loads(raw)))
        else:
            self._send_error(404, "not_found_error")

    def _answer(self, request: ApiRequest) -> None:
        number, reply = self.server.api.answer(request)  # type: ignore[attr-defined]
        if reply.delay:
            time.sleep(reply.delay)
        try:
            if reply.status >= 400:
                self._send_error(reply.status, reply.error)
            elif request.body.get("stream"):
                self._send_stream(_message(number, request, reply))
            else:
                self._send_json(200, _message(number, request, reply))
        except ConnectionError:
            pass  # the client was ended while it waited

    def _send_error(self, status: int, kind: str) -> None:
        self._send_json(status, {"type": "error", "error": {"type": kind, "message": "said by the stub"}})

    def _send_json(self, status: int, body: Block) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_stream(self, message: Block) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in _events(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Nothing: a test reads `requests`."""


def _message(number: int, request: ApiRequest, reply: Reply) -> Block:
    blocks = [
        {"id": f"toolu_{number:04d}_{i}", **block} if block["type"] == "tool_use" else block
        for i, block in enumerate(reply.blocks)
    ]
    calls_tool = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", ""),
        "content": blocks,
        "stop_reason": "tool_use" if calls_tool else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 5,
            **reply.usage,
        },
    }


def _events(message: Block) -> Iterator[Block]:
    """A message in the pieces of the streaming form."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}
