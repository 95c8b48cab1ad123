"""Every test gets its own home, data folder and client folder, and no credential of the machine it runs on."""

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest
from hook_process import hooks, interpreter  # noqa: F401

from hippo_core import config as settings
from hippo_core.paths import Paths
from hippo_core.store import Store, migrations

_STRAY = ("HIPPO_NOW", "HIPPO_CHILD", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "VOYAGE_API_KEY", "CLAUDE_PROJECT_DIR")

os.environ["TZ"] = "UTC"  # what people read is in their own time zone
if hasattr(time, "tzset"):
    time.tzset()


def pytest_report_header() -> str:
    import apsw

    return f"SQLite {apsw.sqlite_lib_version()} through APSW {apsw.apsw_version()}, Python {sys.version.split()[0]}"


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own."""
    home = tmp_path_factory.mktemp("home")
    for name in _STRAY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("HIPPO_HOME", str(home / "hippo data"))
    monkeypatch.setenv("HIPPO_SCHEDULER", "hooks")  # no test touches the machine's own, unless it says so
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    return home


@pytest.fixture
def paths(isolated: Path) -> Paths:
    return Paths(isolated / "hippo data")


@pytest.fixture
def store(paths: Paths):
    with Store.open(paths.store) as opened:
        yield opened


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch):
    """set_zone(name): the process goes on in another time zone, for as long as the test runs."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process cannot be set here")

    def move(name: str) -> None:
        there.setenv("TZ", name)
        time.tzset()

    with monkeypatch.context() as there:
        yield move
    time.tzset()


@pytest.fixture
def in_tokyo(set_zone) -> None:
    """The process of a user whose clock is nine hours ahead of UTC."""
    set_zone("JST-9")


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch):
    """`with before("m008_compact_vectors"):` stores are made as they were before that migration."""

    @contextlib.contextmanager
    def older(name: str):
        done = [migration.__name__ for migration in migrations.MIGRATIONS].index(name)
        with monkeypatch.context() as then:
            then.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:done])
            then.setattr(migrations, "NEWEST", done)
            yield

    return older


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of real transcripts that HIPPO_SAMPLES names; skips where it names none."""
    return _external("HIPPO_SAMPLES")


@pytest.fixture(scope="session")
def bench_data() -> Path:
    """The folder of retrieval sets that HIPPO_BENCH_DATA names; skips where it names none."""
    return _external("HIPPO_BENCH_DATA")


def _external(variable: str) -> Path:
    named = os.environ.get(variable)
    if not named or not Path(named).is_dir():
        pytest.skip(f"{variable} names no folder, so there are no real samples to test with")
    return Path(named)


@pytest.fixture
def machine(paths: Paths, isolated: Path, monkeypatch: pytest.MonkeyPatch):
    """An installation that the monitor looks at."""
    from monitored_machine import Machine

    Store.open(paths.store).close()
    return Machine(paths, isolated / ".claude" / "projects", monkeypatch)


@pytest.fixture
def ntfy(paths: Paths, monkeypatch: pytest.MonkeyPatch):
    """The endpoint that alerts go to."""
    from ntfy_server import NtfyServer

    pytest.importorskip("apprise")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = NtfyServer().up()
    settings.save(paths, alerts=[server.address])
    yield server
    server.down()
