"""An ntfy-style HTTP endpoint on loopback that can go away and come back on the same port."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class NtfyServer:
    """received: the published messages, in the order of their arrival. hold: set to leave requests unanswered."""

    def __init__(self):
        self.received: list[dict] = []
        self.status = 200
        self.hold: threading.Event | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._server: ThreadingHTTPServer | None = None

    @property
    def address(self) -> str:
        return f"ntfy://127.0.0.1:{self.port}/hippo-topic?mode=private"

    @property
    def bodies(self) -> list[str]:
        return [message["message"] for message in self.received]

    def up(self) -> "NtfyServer":
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.hold:
                    outer.hold.wait(30)
                if outer.status == 200:
                    outer.received.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def down(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
