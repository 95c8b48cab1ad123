"""Real installations: users with a home of their own, install.py run as they would run it, real packages.

One finished installation is made for all tests and all test processes (fixture `installed`); it is only looked at. A
test that changes one makes its own `User`. Knows how install.py is called, not what a test wants to see.
"""

import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from filelock import FileLock

from hippo_core.ops import venv
from hippo_core.paths import Paths

SOURCE = Path(__file__).resolve().parents[2]
_TIMEOUT = 600  # seconds for one run of install.py on a busy machine
_SYSTEM = ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "SSL_CERT_FILE", "HTTPS_PROXY", "NO_PROXY")
# No other: pip asks a `rustc` that it finds there for its version, and a toolchain manager then litters the home.
_SYSTEM_PATH = os.environ["PATH"].split(os.pathsep) if os.name == "nt" else ["/usr/bin", "/bin"]
_SAID = [
    ("user", "Why does the payments API limit requests at all?"),
    ("assistant", "We decided to use a token bucket for rate limiting because partners send requests in bursts."),
    ("user", "From now on always run `make fixtures` before the integration tests."),
    ("assistant", "The root cause of the flaky integration tests was a missing fixture; `make fixtures` fixed it."),
]


@dataclass
class User:
    """Somebody with an empty home. The data folder's path holds a space and letters outside ASCII."""

    root: Path
    cache: Path  # of pip, shared, so that only the first installation downloads
    python: str = venv.base_interpreter()
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.programs.mkdir(exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def programs(self) -> Path:
        """A folder of the user's own that comes first on PATH."""
        return self.root / "programs"

    @property
    def paths(self) -> Paths:
        return Paths(self.root / "Gedächtnis daten" / "hippocampus")

    @property
    def client_folder(self) -> Path:
        return self.home / ".claude"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _SYSTEM if name in os.environ}
        reach = {
            name: value for name, value in venv.clean_environment().items() if name in os.environ and "PIP" in name
        }
        return {
            **kept,
            **reach,
            **_pip_configuration(),
            "PIP_CACHE_DIR": str(self.cache),
            "PATH": os.pathsep.join([str(self.programs), *_SYSTEM_PATH]),
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "HIPPO_HOME": str(self.paths.home),
            "HIPPO_SCHEDULER": "hooks",  # not the machine's own
            "LANG": "C.UTF-8",
            **self.extra,
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """install.py, running, without standard input."""
        return subprocess.Popen(
            [self.python, str(SOURCE / "install.py"), *arguments],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=os.name == "posix",
        )

    def install(self, *arguments: str, status: int = 0) -> str:
        """Run install.py to its end; what it printed."""
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=_TIMEOUT)
        assert process.returncode == status, f"{process.returncode}\n{out}\n{err}"
        return out + err

    def hippo(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = venv.interpreter_of(self.paths.venv).with_name("hippo.exe" if os.name == "nt" else "hippo")
        return subprocess.run(
            [program, *arguments],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_TIMEOUT,
        )

    def hold_sessions(self, count: int = 1) -> None:
        """Leave transcripts where Claude Code does."""
        folder = self.client_folder / "projects" / "-srv-payments-api"
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"session {number}"))
            lines = [json.dumps(_record(session, place, *said)) for place, said in enumerate(_SAID)]
            (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def fake_client(self, status: int = 0) -> Path:
        """Put a `claude` on PATH that only notes how it was called; returns the file with one JSON list a line."""
        notes = self.root / "claude-calls.jsonl"
        program = self.programs / "claude"
        program.write_text(
            f"#!{self.python}\nimport json, sys\n"
            f"with open({str(notes)!r}, 'a', encoding='utf-8') as file:\n"
            "    file.write(json.dumps(sys.argv[1:]) + '\\n')\n"
            f"sys.exit({status})\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
        return notes


@dataclass(frozen=True)
class Installed:
    """The shared installation. user: whose it is. said: everything install.py printed."""

    user: User
    said: str

    @property
    def paths(self) -> Paths:
        return self.user.paths

    @property
    def python(self) -> Path:
        return venv.interpreter_of(self.paths.venv)

    @property
    def scripts(self) -> Path:
        """The folder of the environment's programs, `hippo` among them."""
        return self.python.parent

    @property
    def plugin(self) -> Path:
        return self.paths.plugin


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all test processes of this run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def pip_cache(shared_folder: Path) -> Path:
    return shared_folder / "pip cache"


@pytest.fixture(scope="session")
def installed(shared_folder: Path, pip_cache: Path) -> Iterator[Installed]:
    """A finished installation with memories, for all tests to look at and none to change."""
    user = User(shared_folder / "installed", pip_cache)
    said = user.root / "said.txt"
    with FileLock(shared_folder / "installed.lock"):
        if not said.exists():
            user.hold_sessions()
            user.fake_client()
            said.write_text(_install_or_skip(user), encoding="utf-8")
    yield Installed(user, said.read_text(encoding="utf-8"))


def _install_or_skip(user: User) -> str:
    with user.start() as process:
        out, err = process.communicate(timeout=_TIMEOUT)
    if "index was not reached" in err and os.environ.get("HIPPO_REQUIRE_CLIENT") != "1":
        pytest.skip("the package index cannot be reached, so nothing can be installed")
    assert process.returncode == 0, out + err
    return out + err


def _record(session: str, place: int, role: str, text: str) -> dict:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": str(uuid.uuid5(uuid.UUID(session), str(place))),
        "sessionId": session,
        "timestamp": f"2026-03-0{place + 1}T10:00:00.000Z",
        "cwd": "/srv/payments-api",
        "message": {"role": role, "content": content},
    }


def _pip_configuration() -> dict[str, str]:
    """The real user's pip configuration, which an empty home would hide: it may name the only index there is."""
    if "PIP_CONFIG_FILE" in os.environ:
        return {"PIP_CONFIG_FILE": os.environ["PIP_CONFIG_FILE"]}
    for file in (".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf", "pip/pip.ini"):
        if (_REAL_HOME / file).is_file():
            return {"PIP_CONFIG_FILE": str(_REAL_HOME / file)}
    return {}


_REAL_HOME = Path.home()  # at import, before any test has set another
