"""The tool server to talk to: as a process that speaks JSON-RPC, or in this process behind the SDK's own client."""

import contextlib
import json
import os
import subprocess
import sys

import anyio
from mcp.client import Client as SdkClient

from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.server import build


class Client:
    """A client that sends one request at a time. Everything the server prints must be its answer."""

    def __init__(self, folder, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hippo_core.cli.main", "serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )  # fmt: skip
        self.sent = 0

    def request(self, method, **params):
        self.sent += 1
        self.send({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.sent and answer["jsonrpc"] == "2.0"
        return answer

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def start(self):
        client = {"name": "test", "version": "1"}
        answer = self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool, **arguments):
        """(text, whether it is an error) of a tool's answer."""
        result = self.request("tools/call", name=tool, arguments=arguments)["result"]
        assert "structuredContent" not in result  # the same text twice would be paid for twice
        return result["content"][0]["text"], bool(result.get("isError"))


@contextlib.contextmanager
def serving(folder):
    """A started server process, which must have nothing to complain about when it ends."""
    client = Client(folder)
    client.start()
    yield client
    end(client)


def end(client):
    out, err = client.process.communicate(timeout=60)
    assert (client.process.returncode, out, err) == (0, b"", b"")


class Near:
    """The same server in this process, behind the SDK's client."""

    def __init__(self, tools):
        self.server = build(tools)

    def call(self, tool, **arguments):
        async def once():
            async with SdkClient(self.server) as client:
                return await client.call_tool(tool, arguments)

        result = anyio.run(once)
        assert result.structured_content is None  # the same text twice would be paid for twice
        return result.content[0].text, bool(result.is_error)


def learn(store, text, folder=None, kind=MemoryType.FACT, author=Author.MACHINE, **more):
    scope = scope_of(str(folder)) if folder else GLOBAL_SCOPE
    with store.transaction():
        store.memories.ensure_scope(scope)
        return store.memories.add(Draft(text, kind, scope.key, author, **more), "test")


def say(store, text, uid, folder, role=Role.USER, withheld=None):
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        message = Message(uid, "s1", role, text, 1.0, str(folder), 0)
        store.archive.append(message, scope=scope_of(str(folder)), source_id=source.id, withheld=withheld)


def keywords_only(paths):
    paths.config.write_text('{"embedder": "off"}', encoding="utf-8")
