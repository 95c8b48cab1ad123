"""Staging: absolute paths, an older version's leftovers gone, nothing half written for a client that reads along."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hippo_core.errors import InstallError
from hippo_core.ops.stage import stage_plugin
from hippo_core.paths import Paths

SOURCE = Path(__file__).resolve().parents[1]
PYTHON = "/opt/some where/vénv/bin/python"


@pytest.fixture
def checkout(tmp_path):
    """A checkout that a test may change."""
    folder = tmp_path / "checkout"
    (folder / "hippo_core").mkdir(parents=True)
    for part in ("hooks", "commands", "skills", ".claude-plugin"):
        shutil.copytree(SOURCE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("hippo_core/project.py", "hippo_core/awake.py", ".mcp.json", "plugin.json", "README.md", "LICENSE"):
        shutil.copy(SOURCE / part, folder / part)
    return folder


def hooks_of(plugin):
    manifest = json.loads((plugin / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    hooks = [hook for groups in manifest["hooks"].values() for group in groups for hook in group["hooks"]]
    return [hook for hook in hooks if hook["type"] == "command"]


def test_every_hook_runs_the_given_interpreter_and_is_told_the_data_folder(paths):
    stage_plugin(SOURCE, paths, PYTHON)
    staged, unstaged = hooks_of(paths.plugin), hooks_of(SOURCE)
    assert len(staged) == len(unstaged) > 0
    for hook, original in zip(staged, unstaged, strict=True):
        assert hook["command"] == PYTHON
        assert hook["args"] == [*original["args"], str(paths.home)]
        assert hook["args"][:2] == ["-I", "-S"]
        assert hook["timeout"] == original["timeout"]


def test_server_starts_with_the_given_interpreter_for_this_data_folder(paths):
    stage_plugin(SOURCE, paths, PYTHON)
    server = json.loads((paths.plugin / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert server["command"] == PYTHON and server["env"] == {"HIPPO_HOME": str(paths.home)}
    assert server["args"][-1] == "serve" and server["alwaysLoad"] is True


def test_no_placeholder_is_left_anywhere(paths):
    stage_plugin(SOURCE, paths, PYTHON)
    files = [file for file in paths.plugin.rglob("*") if file.is_file()]
    assert any("hippo" in file.read_text(encoding="utf-8") for file in files if file.suffix == ".md")
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "@HIPPO@" not in text and "@PYTHON@" not in text and "@HOME@" not in text, file


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell reads it")
def test_command_in_a_skill_survives_a_shell(paths):
    """The path of the program holds a space; the agent pastes the line into a shell."""
    stage_plugin(SOURCE, paths, PYTHON)
    lines = (paths.plugin / "skills" / "recall" / "SKILL.md").read_text(encoding="utf-8").splitlines()
    command = next(line for line in lines if " recall " in line and "`" in line).split("`")[1]
    words = subprocess.run(["/bin/sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, encoding="utf-8").stdout
    assert words.splitlines()[:2] == ["/opt/some where/vénv/bin/hippo", "recall"]


def test_staged_folder_is_the_marketplace_that_holds_the_plugin(paths):
    stage_plugin(SOURCE, paths, PYTHON)
    market = json.loads((paths.plugin / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))
    (plugin,) = market["plugins"]
    manifest = (paths.plugin / plugin["source"] / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8")
    assert (market["name"], plugin["name"], json.loads(manifest)["name"]) == ("hippocampus", "hippo", "hippo")


def test_staging_again_changes_no_file(paths):
    stage_plugin(SOURCE, paths, PYTHON)
    before = {file: file.stat().st_mtime_ns for file in paths.plugin.rglob("*")}
    stage_plugin(SOURCE, paths, PYTHON)
    assert {file: file.stat().st_mtime_ns for file in paths.plugin.rglob("*")} == before


def test_files_of_an_older_version_go(checkout, paths):
    (checkout / "commands" / "old.md").write_text("old", encoding="utf-8")
    (checkout / "skills" / "old").mkdir()
    (checkout / "skills" / "old" / "SKILL.md").write_text("old", encoding="utf-8")
    stage_plugin(checkout, paths, PYTHON)
    assert (paths.plugin / "commands" / "old.md").exists()
    stage_plugin(SOURCE, paths, PYTHON)
    assert not (paths.plugin / "commands" / "old.md").exists()
    assert not (paths.plugin / "skills" / "old").exists()


def test_hook_of_an_older_version_still_lets_a_running_session_s_prompts_through(checkout, paths):
    """Python answers a missing script with status 2, by which the client blocks the prompt and erases it."""
    (checkout / "hooks" / "older.py").write_text("print('older')", encoding="utf-8")
    stage_plugin(checkout, paths, PYTHON)
    stage_plugin(SOURCE, paths, PYTHON)
    script = paths.plugin / "hooks" / "older.py"
    done = subprocess.run([sys.executable, "-I", "-S", script, paths.home], input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_client_that_reads_along_never_sees_half_a_file(paths, tmp_path):
    """Two forms of the same files are staged in turn while they are read all the time."""
    forms = [PYTHON, PYTHON + "3"]
    stage_plugin(SOURCE, paths, forms[0])
    seen, stop = set(), threading.Event()

    def read_along():
        while not stop.is_set():
            commands = {hook["command"] for hook in hooks_of(paths.plugin)}
            seen.add(commands.pop() if len(commands) == 1 else "mixed")
            for name in (".mcp.json", "plugin.json", ".claude-plugin/plugin.json"):
                json.loads((paths.plugin / name).read_text(encoding="utf-8"))

    failures = []
    reader = threading.Thread(target=lambda: _note_failure(read_along, failures))
    reader.start()
    for turn in range(40):
        stage_plugin(SOURCE, paths, forms[turn % 2])
    stop.set()
    reader.join()
    assert not failures
    assert seen and seen <= set(forms)


def _note_failure(work, failures):
    try:
        work()
    except Exception as error:
        failures.append(error)


def test_incomplete_checkout_is_refused_before_anything_is_written(tmp_path):
    paths = Paths(tmp_path / "data")
    with pytest.raises(InstallError, match="not a complete checkout"):
        stage_plugin(tmp_path, paths, PYTHON)
    assert not paths.plugin.exists()
