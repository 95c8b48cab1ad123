"""The system's own cron runs a job of a real installation, and its crontab is as it was after the removal."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.installation import User
from hippo_core import heartbeat
from hippo_core.schedule import cron

pytestmark = pytest.mark.e2e

_PATIENCE = 150  # seconds; cron looks once a minute


@pytest.fixture
def daemon() -> Iterator[None]:
    """A running cron: the system's, or one that is started for the test."""
    program = shutil.which("cron") or shutil.which("crond") or shutil.which("cron", path="/usr/sbin:/sbin")
    if not sys.platform.startswith("linux") or shutil.which("crontab") is None or program is None:
        pytest.skip("cron is not installed here")
    if cron._daemon_runs():
        yield
        return
    if os.geteuid() != 0:
        pytest.skip("cron does not run here, and only root may start it")
    process = subprocess.Popen([program, "-f"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while not cron._daemon_runs() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        if process.poll() is not None:
            pytest.skip(f"cron does not start here (status {process.returncode})")
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def crontab() -> Iterator[bytes | None]:
    """The crontab of whoever runs the tests, as it is before; put back whatever happens."""
    before = cron.read_crontab()
    yield before
    if before is None:
        subprocess.run(["crontab", "-r"], capture_output=True)
    else:
        subprocess.run(["crontab", "-"], input=before, check=True)


def test_cron_runs_the_watcher_and_the_uninstaller_leaves_the_crontab_as_it_was(daemon, crontab, tmp_path, pip_cache):
    others = (crontab or b"") + b"# somebody's own\n11 4 * * 1 /bin/true --with=100\\%  \n"
    subprocess.run(["crontab", "-"], input=others, check=True)
    user = User(tmp_path / "user", pip_cache)
    user.extra |= {"HIPPO_SCHEDULER": "cron", "CLAUDE_CONFIG_DIR": str(user.client_folder)}
    assert "jobs      5 registered with cron" in user.install()
    there = cron.read_crontab()
    assert there.startswith(others) and there.count(b"schedule run --scheduled") == 5

    user.hold_sessions()
    subprocess.run(["crontab", "-"], input=_every_minute(there, b" watch"), check=True)
    beat = _wait_for(user)
    assert (beat.result, beat.error) == ("ok", None)
    assert beat.counts["messages"] == 4 and beat.last_worked == beat.last_ran

    user.install("--uninstall")
    assert cron.read_crontab() == others


def _every_minute(crontab: bytes, ending: bytes) -> bytes:
    """The crontab with our line of that ending due every minute."""
    rows = []
    for row in crontab.splitlines(keepends=True):
        if row.rstrip().endswith(ending):
            row = b"* * * * * " + row.split(maxsplit=5)[5]
        rows.append(row)
    return b"".join(rows)


def _wait_for(user: User) -> heartbeat.Beat:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        beat = heartbeat.read(user.paths, "watch")
        if beat is not None and beat.counts.get("messages"):
            return beat
        time.sleep(0.5)
    log = Path(user.paths.log, "hippo.log")
    pytest.fail(f"cron ran no watcher: {log.read_text(encoding='utf-8') if log.exists() else 'no log'}")
