"""Runs a hook script as the client does: a process of its own, the event on standard input.

The interpreter is a virtual environment's whose `hippo_core` only records how it was started, so that the hooks which
start a catch-up leave no real one behind.
"""

import importlib.util
import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOOKS = {
    "session_rules": "SessionStart",
    "session_memory": "SessionStart",
    "user_prompt": "UserPromptSubmit",
    "subagent_start": "SubagentStart",
    "allow_own_tools": "PreToolUse",
    "stop": "Stop",
    "session_end": "SessionEnd",
}
SESSION = "0c9a3f6e-1111-4222-8333-944455556666"
_RECORDER = '''\
"""Writes down how it was started, and stays until it is told to go."""
import json, os, sys, time

home = os.environ["HIPPO_HOME"]
null = os.stat(os.devnull)
quiet = all(os.path.samestat(os.fstat(n), null) for n in range(3)) if os.name == "posix" else None
record = {"argv": sys.argv[1:], "pid": os.getpid(), "quiet": quiet, "isolated": sys.flags.isolated}
record["session"], record["nice"] = (os.getsid(0), os.nice(0)) if os.name == "posix" else (None, None)
path = os.path.join(home, f"started-{os.getpid()}.json")
with open(path + ".tmp", "w") as file:
    json.dump(record, file)
os.replace(path + ".tmp", path)
deadline = time.monotonic() + 30
while os.path.exists(os.path.join(home, "stay")) and time.monotonic() < deadline:
    time.sleep(0.01)
'''


def shared_by_hooks():
    """hooks/hippo_hook.py as a module."""
    spec = importlib.util.spec_from_file_location("hippo_hook", ROOT / "hooks" / "hippo_hook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The recording environment's interpreter."""
    folder = tmp_path_factory.mktemp("bare") / "a venv"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (packages,) = [*folder.glob("lib/python*/site-packages"), *folder.glob("Lib/site-packages")][:1]
    package = packages / "hippo_core" / "cli"
    package.mkdir(parents=True)
    for file in (package.parent / "__init__.py", package / "__init__.py"):
        file.write_bytes(b"")
    package.joinpath("main.py").write_text(_RECORDER, encoding="utf-8")
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


class Hooks:
    """The hook scripts, ready to run."""

    def __init__(self, python: str):
        self.python = python

    def command(self, hook: str, data: Path | None) -> list[str]:
        """As hooks.json has it. data None: the plugin is not set up."""
        return [self.python, "-I", "-S", str(ROOT / "hooks" / f"{hook}.py"), *([str(data)] if data else [])]

    def run(
        self, hook: str, data: Path | None, stdin: bytes | None = None, *, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess:
        """Run a hook. It always succeeds, and complains of nothing."""
        done = subprocess.run(
            self.command(hook, data),
            input=event(hook) if stdin is None else stdin,
            capture_output=True,
            cwd=cwd,
            env={**os.environ, **environment},
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b""), f"{hook}: {done.returncode}, {done.stderr.decode()}"
        return done

    def said(self, *args: object, **named: object) -> str:
        """What a hook puts before the model; "" for nothing."""
        return context(self.run(*args, **named).stdout)


@pytest.fixture
def hooks(interpreter: str) -> Hooks:
    return Hooks(interpreter)


def context(output: bytes) -> str:
    return json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""


def event(hook: str, **fields: object) -> bytes:
    """The event of a hook, as the client writes it."""
    common = {"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": os.getcwd(), "hook_event_name": HOOKS[hook]}
    return json.dumps({**common, **fields}, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
