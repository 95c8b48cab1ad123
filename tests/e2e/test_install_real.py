"""install.py for real: an empty home, packages from the index, and what is there when it says that it is done."""

import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from e2e.installation import SOURCE, Installed, User
from hippo_core.ops import venv
from hippo_core.record import Record
from hippo_core.store import Store

pytestmark = pytest.mark.e2e

NO_NETWORK = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull}


def test_installer_ends_with_what_it_stored_where_who_pays_and_a_real_recall(installed: Installed):
    said = installed.said
    with Store.open(installed.paths.store, readonly=True) as store:
        memories = store.memories.select()
    assert "Hippocampus is ready." in said
    assert "4 messages" in said and f"{len(memories)} memories" in said and memories
    assert str(installed.paths.store) in said
    assert "nobody pays" in said
    assert "5 registered with the client's hooks" in said
    assert Path(Record(installed.paths).get("source"), "install.py").is_file()
    example = said.partition("Try it:")[2]
    assert any(memory.text.splitlines()[0] in example for memory in memories)


def test_question_of_the_example_finds_it_again_through_the_link_on_path(installed: Installed):
    """The link works without HIPPO_HOME: the command knows its folder by its environment."""
    question = installed.said.partition("Try it:")[2].partition('recall "')[2].partition('"')[0]
    environment = {**installed.user.environment, "PATH": f"{installed.user.home}/.local/bin"}
    del environment["HIPPO_HOME"]
    done = subprocess.run(
        ["hippo", "recall", question, "--all", "--json"], env=environment, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]


def test_plugin_is_registered_by_the_client_s_two_commands(installed: Installed):
    calls = (installed.user.root / "claude-calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(call) for call in calls] == [
        ["plugin", "marketplace", "add", str(installed.plugin)],
        ["plugin", "install", "hippo@hippocampus"],
    ]


def test_staged_paths_are_absolute_and_start_in_an_empty_environment(installed: Installed):
    manifest = json.loads((installed.plugin / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    hooks = [hook for groups in manifest["hooks"].values() for group in groups for hook in group["hooks"]]
    assert hooks
    for hook in (hook for hook in hooks if hook["type"] == "command"):
        assert hook["command"] == str(installed.python) and hook["args"][-1] == str(installed.paths.home)
    server = json.loads((installed.plugin / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert server["command"] == str(installed.python)
    done = subprocess.run([server["command"], "-I", "-c", "import hippo_core.cli.main"], env=server["env"])
    assert done.returncode == 0


def test_home_holds_nothing_but_what_was_there_and_the_link(installed: Installed):
    """ONNX Runtime 1.32 kept a device id and a queue of reports in ~/.cache; nothing leaves the machine."""
    home = installed.user.home
    files = {path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir()}
    assert {file for file in files if not file.startswith(".claude/projects/")} == {".local/bin/hippo"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_data_folder_is_private(installed: Installed):
    home = installed.paths.home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    kept = [file for file in home.rglob("*") if file.is_file() and not file.is_relative_to(installed.paths.venv)]
    assert kept and all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in kept), kept


def test_every_package_of_the_locks_imports_what_the_product_needs(installed: Installed):
    code = "import apsw, click, platformdirs, filelock, rich, mcp.server, sqlite_vec, tokenizers, onnxruntime, numpy"
    environment = {**installed.user.environment, "ORT_DISABLE_TELEMETRY": "1"}
    assert subprocess.run([installed.python, "-I", "-c", code], env=environment).returncode == 0


def test_platform_without_vector_wheels_works_by_keywords_until_there_are_some(
    installed: Installed, shared_folder: Path, pip_cache: Path
):
    """The index of this user's pip is a folder that holds the core packages and nothing else."""
    user = User(shared_folder / f"keywords {os.getpid()}", pip_cache)
    user.hold_sessions()
    mirror = shared_folder / f"mirror-{os.getpid()}"  # no space in it: pip takes the setting for a list
    command = [
        "--disable-pip-version-check",
        "download",
        "--quiet",
        "--require-hashes",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        str(mirror),
    ]
    lock = str(SOURCE / "requirements" / "core.lock")
    subprocess.run([installed.python, "-m", "pip", *command, "-r", lock], env=user.environment, check=True)

    user.extra = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(mirror), "PIP_CONFIG_FILE": os.devnull}
    said = user.install()
    assert "Recall works by keywords, without vectors" in said and "Hippocampus is ready but for one step" in said
    found = user.hippo("recall", "rate limiting", "--all")
    assert found.returncode == 0 and "token bucket" in found.stdout

    user.extra = {}
    said = user.install()
    assert "without vectors" not in said
    explained = user.hippo("recall", "rate limiting", "--all", "--explain")
    assert "token bucket" in explained.stdout and "cosine" in explained.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_offline_killed_resumed_upgraded_mended_removed(shared_folder: Path, pip_cache: Path):
    """One user's story, since each chapter needs what the one before left behind."""
    user = User(shared_folder / f"story {os.getpid()}", pip_cache)
    user.hold_sessions()
    settings = user.client_folder / "settings.json"
    before = b'{\r\n\t"model" : "opus", "n": 1.0}'
    settings.write_bytes(before)

    user.extra = NO_NETWORK
    said = user.install(status=1)
    assert "the package index was not reached" in said and said.count("\n") < 12
    user.extra = {}

    _stop_when_packages_are_there(user, 1, signal.SIGTERM, "Stopped.", 130)
    _stop_when_packages_are_there(user, 12, signal.SIGKILL, "", -signal.SIGKILL)
    assert not venv.interpreter_of(user.paths.venv).with_name("hippo").exists()
    said = user.install()
    assert "ready but for one step" in said and "claude plugin marketplace add" in said
    assert "made" not in said  # it carried on with the environment that was there

    assert user.hippo("remember", "The staging database is called heron.").returncode == 0
    user.extra = NO_NETWORK
    said = user.install()  # run again: nothing to fetch, nothing lost
    assert "up to date" in said and "installed" not in said
    user.extra = {}
    next(user.paths.venv.glob("**/site-packages/rich/console.py")).unlink()
    said = user.install()
    assert "mended: rich" in said
    assert "heron" in user.hippo("recall", "name of the staging database").stdout

    assert "The memory stays in" in user.install("--uninstall")
    assert settings.read_bytes() == before
    assert sorted(path.name for path in user.paths.home.iterdir() if "memory.db" not in path.name) == []
    assert not (user.home / ".local").exists()
    with Store.open(user.paths.store, readonly=True) as store:
        assert any("heron" in memory.text for memory in store.memories.select())
    user.install("--uninstall", "--purge")
    assert not user.paths.home.exists()


def _stop_when_packages_are_there(user: User, count: int, how: signal.Signals, words: str, status: int) -> None:
    """Stop install.py, on SIGKILL with its pip, when it has begun to copy and `count` more packages are there."""
    packages = next(user.paths.venv.glob("**/site-packages"))
    before = len(list(packages.glob("*.dist-info")))
    deadline = time.monotonic() + 300
    with user.start() as process:
        while len(list(packages.glob("*.dist-info"))) < before + count:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        if how is signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        _, err = process.communicate()
    assert process.returncode == status and words in err
