"""Runs the real client hermetically: an empty environment, a home of its own, only loopback to talk to.

Knows how to call the client and what came back, not what a test wants to see there.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from e2e.api_request import ApiRequest
from e2e.stub_api import StubApi

CLOSED_PORT = "http://127.0.0.1:9"  # a proxy that answers nobody: whatever would leave the machine fails
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_EVENTS = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
_CONVERSATION = ("-p", "--input-format", "stream-json", *_EVENTS)
API_KEY = "no-key-the-stub-asks-for-none"


@dataclass(frozen=True)
class Run:
    """One finished call of the client. requests: what reached the API meanwhile."""

    returncode: int
    stdout: str
    stderr: str
    requests: list[ApiRequest]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The lines of `--output-format stream-json`."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    def event(self, kind: str, subtype: str | None = None) -> dict[str, Any]:
        """The first event of that type."""
        for event in self.events:
            if event["type"] == kind and subtype in (None, event.get("subtype")):
                return event
        raise AssertionError(f"no {kind} event in {self.stdout[-2000:]!r}, stderr {self.stderr[-2000:]!r}")

    @property
    def main(self) -> list[ApiRequest]:
        """The requests of the main conversation, without its sub-agents'."""
        return [request for request in self.requests if request.agent_id is None]

    @property
    def answer(self) -> str:
        """The client's last words to the user."""
        return self.event("result")["result"]


@dataclass(frozen=True)
class Conversation:
    """An open session of the client."""

    process: subprocess.Popen[str]

    def send(self, prompt: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(_prompt_line(prompt))
        self.process.stdin.flush()

    def terminate(self) -> None:
        """Ask the client to end, as closing its terminal or shutting down does."""
        self.process.terminate()

    def close(self) -> None:
        """Say goodbye: the client ends the session in its own time."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        """End the client as a crash or a power cut would: none of its hooks runs."""
        end_group(self.process)


@dataclass
class Client:
    """One user of the client: a home, a folder to work in, settings. Every call is a process of its own."""

    binary: Path
    api: StubApi
    root: Path
    plugin: Path | None = None

    def __post_init__(self) -> None:
        self.home, self.work = self.root / "home", self.root / "work"
        self.config = self.home / ".claude"
        for folder in (self.config, self.work, self.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def settings(self) -> Path:
        return self.config / "settings.json"

    def transcript(self, session: str) -> Path:
        """Where the client keeps a session that was held in `work`."""
        found = list((self.config / "projects").glob(f"*/{session}.jsonl"))
        assert len(found) == 1, f"no transcript of {session} in {self.config}"
        return found[0]

    def new_session(self) -> str:
        return str(uuid.uuid4())

    def ask(
        self, prompt: str, *arguments: str, session: str | None = None, resume: str | None = None, **more: Any
    ) -> Run:
        """One prompt in print mode, its events as JSON lines."""
        chosen = ["--session-id", session] if session else ["--resume", resume] if resume else []
        return self.run("-p", prompt, *_EVENTS, *chosen, *arguments, **more)

    def converse(self, prompts: Sequence[str], *arguments: str, timeout: float = 90.0) -> Run:
        """Several prompts in one session of one process, each sent when the one before was answered.

        (Prompts that wait in the client's queue together become one turn.)
        """
        before = len(self.api.requests)
        process = self._start([*_CONVERSATION, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        conversation, waiting, lines = Conversation(process), list(prompts), []
        watchdog = threading.Timer(timeout, conversation.kill)
        watchdog.start()
        try:
            conversation.send(waiting.pop(0))
            for line in process.stdout or ():
                lines.append(line)
                if line.startswith("{") and json.loads(line)["type"] == "result":
                    if waiting:
                        conversation.send(waiting.pop(0))
                    else:
                        conversation.close()
            returncode = process.wait()
        finally:
            watchdog.cancel()
            conversation.kill()
        return Run(returncode, "".join(lines), "", self.api.requests[before:])

    @contextlib.contextmanager
    def open_conversation(self, session: str) -> Iterator["Conversation"]:
        """A session that stays open until it is killed, at the latest when the `with` ends."""
        process = self._start(
            [*_CONVERSATION, "--session-id", session], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        try:
            yield Conversation(process)
        finally:
            end_group(process)

    def run(self, *arguments: str, stdin: str | None = None, timeout: float = 90.0, **more: Any) -> Run:
        """Call the client and wait for it; it and whatever it left in its process group end with the timeout."""
        before = len(self.api.requests)
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = self._start(arguments, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout)
        except BaseException:
            end_group(process)
            raise
        return Run(process.returncode, stdout, stderr, self.api.requests[before:])

    def _start(
        self,
        arguments: Sequence[str],
        *,
        stdin: int,
        stdout: int,
        stderr: int = subprocess.STDOUT,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        plugin = ["--plugin-dir", str(self.plugin)] if self.plugin else []
        return subprocess.Popen(
            [self.binary, *arguments, *plugin],
            cwd=cwd or self.work,
            env={**self.base_environment(), **(environment or {})},
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            start_new_session=os.name == "posix",
        )

    def base_environment(self) -> dict[str, str]:
        """All that the client is told of the machine it runs on."""
        system = {name: os.environ[name] for name in ("SYSTEMROOT", "COMSPEC", "PATHEXT") if name in os.environ}
        return {
            **system,
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "PATH": os.environ["PATH"] if os.name == "nt" else _SYSTEM_PATH,
            "TMPDIR": str(self.root / "tmp"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "USER": "tester",
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": API_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "HTTP_PROXY": CLOSED_PORT,
            "HTTPS_PROXY": CLOSED_PORT,
            "NO_PROXY": "127.0.0.1,localhost",
        }


def end_group(process: subprocess.Popen) -> None:
    """End a process started as the head of its own group, with everything it started there."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _prompt_line(prompt: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n"
