"""Registering with the real client and leaving it again: its own commands, its own way of writing settings."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from hippo_core.ops import client, settings
from hippo_core.ops.stage import stage_plugin
from hippo_core.record import Record
from hippo_core.registration import plugin_enabled

pytestmark = pytest.mark.e2e

SOURCE = Path(__file__).resolve().parents[2]
SHAPES = [
    None,
    b"{}",
    b'{\r\n\t"outputStyle": "Explanatory",\r\n\t"n": 1.0,\r\n\t"9": [1,  2]}',
    b'{"enabledPlugins": {}, "permissions": {"allow": ["Bash(ls:*)"]}}\n',
    '{ "env": { "NOTE": "grüße, 部署" } }'.encode(),
]


@pytest.fixture
def real_client(client_program, isolated, tmp_path, monkeypatch):
    """The real client on PATH, with a configuration folder and a home of its own. Returns its settings file."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(client_program)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    (isolated / ".claude").mkdir()
    return isolated / ".claude" / "settings.json"


@pytest.fixture
def staged(paths):
    """The data folder's path holds a space."""
    stage_plugin(SOURCE, paths, str(paths.venv / "bin" / "python"))
    return paths


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("before", SHAPES)
def test_settings_are_byte_identical_after_install_upgrade_and_uninstall(before, real_client, staged):
    if before is not None:
        real_client.write_bytes(before)
    for _ in range(2):
        assert client.register(staged, Record(staged)).done
        assert plugin_enabled(real_client.read_bytes())
    assert client.unregister(Record(staged)) == []
    assert settings.read(real_client) == before
    plugins = real_client.parent / "plugins"
    assert not any("hippo" in name for name in files_below(plugins))
    assert not any("hippo" in (plugins / name).read_text(encoding="utf-8") for name in files_below(plugins))


def test_settings_edited_meanwhile_keep_the_edit(real_client, staged):
    real_client.write_bytes(SHAPES[2])
    client.register(staged, Record(staged))
    edited = real_client.read_bytes().replace(b'"Explanatory"', b'"Learning",\r\n   "theme":"dark"')
    real_client.write_bytes(edited)
    client.register(staged, Record(staged))  # an upgrade must not take the edit for its own
    client.unregister(Record(staged))
    after = real_client.read_bytes()
    assert json.loads(after) == {"outputStyle": "Learning", "theme": "dark", "n": 1, "9": [1, 2]}
    assert not settings.names_us(after)


def test_plugin_that_the_user_switched_off_stays_off(real_client, staged):
    client.register(staged, Record(staged))
    real_client.write_bytes(real_client.read_bytes().replace(b'hippo@hippocampus": true', b'hippo@hippocampus": false'))
    registration = client.register(staged, Record(staged))
    assert "claude plugin enable" in registration.line
    assert plugin_enabled(real_client.read_bytes()) is False


def test_uninstall_without_the_client_leaves_as_little(real_client, staged, monkeypatch, tmp_path):
    real_client.write_bytes(SHAPES[3])
    client.register(staged, Record(staged))
    monkeypatch.setenv("PATH", str(tmp_path))
    client.unregister(Record(staged))
    assert real_client.read_bytes() == SHAPES[3]
    plugins = real_client.parent / "plugins"
    assert not any("hippo" in (plugins / name).read_text(encoding="utf-8") for name in files_below(plugins))


def test_plugin_registered_by_the_two_printed_lines_goes_as_well(real_client, staged, monkeypatch, tmp_path):
    real_client.write_bytes(SHAPES[2])
    with monkeypatch.context() as without_client:
        without_client.setenv("PATH", str(tmp_path / "nowhere"))
        registration = client.register(staged, Record(staged))
    assert not registration.done and len(registration.commands) == 2
    for command in registration.commands:
        subprocess.run(shlex.split(command), check=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert plugin_enabled(real_client.read_bytes())
    client.unregister(Record(staged))
    assert real_client.read_bytes() == SHAPES[2]


def test_client_that_refuses_leaves_the_two_lines_to_type(paths, isolated, tmp_path, monkeypatch):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho 'no such command: plugin' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    registration = client.register(paths, Record(paths))
    assert not registration.done and "no such command" in registration.line
    assert [command.split()[:2] for command in registration.commands] == [["claude", "plugin"]] * 2
