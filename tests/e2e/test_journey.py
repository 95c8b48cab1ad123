"""The whole way of one user, in order: install.py with the client on PATH, sessions, uninstalling without a trace."""

import os
import re
from pathlib import Path

import pytest

from e2e.client import CLOSED_PORT, Client
from e2e.installation import User
from e2e.stub_api import StubApi, use
from e2e.test_tools import call
from hippo_core.store import Store

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.name == "nt", reason="puts a shell script on PATH in the client's place"),
]

RULE = "Never force-push to a shared branch."


def test_from_install_to_uninstall(client_program: Path, api, shared_folder: Path, pip_cache: Path):
    user = User(shared_folder / f"journey {os.getpid()}", pip_cache)
    client = Client(client_program, api, user.root)
    _put_on_path(user, client_program)
    before = b'{\r\n\t"theme" : "dark", "n": 1.0}'
    client.settings.write_bytes(before)
    user.hold_sessions()

    assert "registered with Claude Code; start a new session" in user.install()
    assert client.settings.read_bytes() != before

    # The sessions held before the installation are memory in a project where nothing was ever said.
    _, answer = call(
        client, api, "memory_search", {"query": "why a token bucket for rate limiting", "everywhere": True}
    )
    assert "partners send requests in bursts" in answer
    assert user.hippo("rules", "add", RULE, "--always").returncode == 0
    assert RULE in client.ask("hello").main[0].text

    assert str(user.paths.store) in _run_command(client, api, "/memories", r"`(.* status)`")
    with Store.open(user.paths.store, readonly=True) as store:
        (unwanted,) = store.memories.fetch(store.forgetting.memories_holding(["token bucket"])).values()
    forget = r"`(.* forget )--dry-run ID ID`"
    shown = _run_command(client, api, "/forget the bucket", forget, f"--dry-run {unwanted.public_id}")
    assert "token bucket" in shown and unwanted.public_id in shown
    _run_command(client, api, "/forget the bucket", forget, f"--yes {unwanted.public_id}")
    with Store.open(user.paths.store, readonly=True) as store:
        assert store.forgetting.memories_holding(["token bucket"]) == []

    user.install("--uninstall")
    assert client.settings.read_bytes() == before
    run = client.ask("hello")
    assert RULE not in run.main[0].text and "hippo" not in {
        plugin["name"] for plugin in run.event("system", "init")["plugins"]
    }
    assert user.paths.store.exists()


def _put_on_path(user: User, binary: Path) -> None:
    """`claude` for install.py to find, without a way off this machine."""
    script = user.programs / "claude"
    script.write_text(
        f"#!/bin/sh\nHTTPS_PROXY={CLOSED_PORT} HTTP_PROXY={CLOSED_PORT} exec '{binary}' \"$@\"\n", encoding="utf-8"
    )
    script.chmod(0o755)


def _run_command(client: Client, api: StubApi, prompt: str, pattern: str, more: str = "") -> str:
    """Let the model run the program that one of our commands names; what it printed.

    The line must work as it stands in the command: from any folder, without a variable set.
    """
    body = client.ask(prompt).main[0].prompt
    named = re.search(pattern, body)
    assert named, body
    line = named[1] + more
    api.on(lambda request: not request.tool_results, use("Bash", {"command": line}))
    run = client.ask(prompt, "--allowedTools", f"Bash({line})")
    assert run.event("result")["permission_denials"] == []
    return run.main[-1].tool_results[0]
