"""`hippo doctor` and `hippo monitor` in a home where everything is real: the client, the programs, the plugin."""

import json
import os
import subprocess
from pathlib import Path

import apsw
import pytest

from e2e.installation import User
from e2e.product import Product
from hippo_core.ops import client
from hippo_core.record import Record

pytestmark = pytest.mark.e2e


class Home:
    """Somebody with the product, registered in the real client, with jobs and sessions."""

    def __init__(self, product: Product, user: User):
        self.product, self.user = product, user

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ},
            "CLAUDE_CONFIG_DIR": str(self.user.client_folder),
            "HIPPO_HOME": str(self.product.home),
            "HIPPO_SCHEDULER": "hooks",
            "LANG": "C.UTF-8",
        }
        return subprocess.run(
            [self.product.scripts / "hippo", *arguments],
            cwd=self.user.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )

    def wrong(self) -> dict[str, str]:
        """What the doctor finds wrong, by check; the exit status says the same."""
        done = self.run("doctor", "--json")
        report = json.loads(done.stdout)
        found = {row["check"]: row["line"] for row in report["checks"] if not row["ok"]}
        assert (done.returncode, report["ok"]) == ((1, False) if found else (0, True)), done.stderr
        return found


@pytest.fixture
def home(product: Product, client_program: Path, pip_cache: Path, tmp_path, monkeypatch) -> Home:
    user = User(tmp_path / "user", pip_cache)
    user.hold_sessions()
    (user.programs / "claude").symlink_to(client_program)
    monkeypatch.setenv("PATH", f"{user.programs}:/usr/bin:/bin")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(user.client_folder))
    home = Home(product, user)
    assert client.register(product.paths, Record(product.paths)).done
    assert home.run("schedule", "install").returncode == 0
    assert home.run("ingest").returncode == 0
    return home


@pytest.mark.skipif(os.name == "nt", reason="links and modes")
def test_doctor_finds_a_real_home_sound_and_mends_what_was_broken_in_it(home: Home):
    done = home.run("doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert all(line.startswith("ok ") for line in lines) and len(lines) == 17, done.stdout
    assert "4 messages" in done.stdout and "enabled, version" in done.stdout
    assert "local model loads, every memory has its vectors" in done.stdout
    assert "the client's hooks start all 5 jobs" in done.stdout

    paths = home.product.paths
    os.chmod(paths.store, 0o644)
    (paths.render / "rules.json").unlink()
    paths.schedule_record.unlink()
    store = apsw.Connection(str(paths.store))
    store.execute("DELETE FROM memory_plain_data WHERE id = 1; DELETE FROM memory_chunk")
    store.close()
    assert set(home.wrong()) >= {"permissions", "rendered", "scheduler", "keywords", "meaning"}
    said = home.run("doctor").stdout
    assert "can be repaired: hippo doctor --fix" in said

    done = home.run("doctor", "--fix")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("mended  ") >= 5 and "wrong" not in done.stdout
    assert home.wrong() == {}
    assert "token bucket" in home.run("recall", "rate limiting", "--all").stdout


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_plugin_that_the_real_client_gave_up_is_found_by_doctor_monitor_and_status(home: Home):
    assert home.run("monitor").stdout == "All is well.\n"
    assert "plugin      enabled" in home.run("status").stdout
    gone = subprocess.run(
        ["claude", "plugin", "uninstall", "hippo@hippocampus"], capture_output=True, stdin=subprocess.DEVNULL, text=True
    )
    assert gone.returncode == 0, gone.stderr
    assert home.wrong()["plugin"] == "not registered in Claude Code"
    assert home.run("monitor").stdout == "! Claude Code does not have the plugin, so no session gets memory\n"
    assert "plugin      not registered" in home.run("status").stdout
    assert home.run("doctor", "--fix").returncode == 1, "only the user can give it back"
