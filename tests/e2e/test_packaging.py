"""The plugin as a package: valid, installable from a marketplace, quiet without install.py, gone without a trace."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from e2e.installation import SOURCE

pytestmark = pytest.mark.e2e


def checkout(folder: Path) -> Path:
    """The plugin as a marketplace serves it: the repository's files without anything that install.py adds."""
    kept = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks", "docs")
    shutil.copytree(SOURCE, folder, ignore=kept)
    for name in (".claude-plugin", ".mcp.json"):
        source = SOURCE / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    return folder


@pytest.mark.parametrize("which", ["source", "staged"])
@pytest.mark.parametrize("part", [".", ".claude-plugin/plugin.json"])
def test_validate_strict_finds_nothing(bare_client, product, tmp_path, which, part):
    """In the source the folder is a marketplace and a plugin at once, and each has its own checks."""
    folder = checkout(tmp_path / "hippo") if which == "source" else product.plugin
    run = bare_client.run("plugin", "validate", str(folder / part), "--strict")
    assert run.returncode == 0, run.stdout + run.stderr


def test_client_accepts_every_part_of_the_plugin(client):
    run = client.ask("hello")
    start = run.event("system", "init")
    assert "plugin_errors" not in start or start["plugin_errors"] == []
    assert {"name": "plugin:hippo:memory", "status": "connected"}.items() <= start["mcp_servers"][0].items()
    assert all(event["exit_code"] == 0 and not event["stderr"] for event in hook_responses(run))
    assert {"hippo:recall", "hippo:rules"} <= set(start["skills"])


def hook_responses(run):
    found = [event for event in run.events if event.get("subtype") == "hook_response"]
    assert found, "no hook ran at all"
    return found


def test_installed_from_a_marketplace_it_works_and_goes_without_a_trace(bare_client, product):
    """Nothing but the client's own commands, on the folder that staging made."""
    before = b'{"theme": "dark"}'
    bare_client.settings.write_bytes(before)
    product.hippo("rules", "add", "Never force-push.", "--always", cwd=bare_client.work)
    name = json.loads((product.paths.plugin / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))["name"]
    for command in (["marketplace", "add", str(product.paths.plugin)], ["install", f"hippo@{name}"]):
        run = bare_client.run("plugin", *command)
        assert run.returncode == 0, run.stdout + run.stderr
    (request,) = bare_client.ask("hello").requests
    assert "Never force-push." in request.text


def test_plugin_without_install_says_one_line_and_nothing_else(bare_client, tmp_path):
    client = dataclasses.replace(bare_client, plugin=checkout(tmp_path / "hippo"))
    run = client.ask("hello")
    assert run.returncode == 0 and run.answer == "Done"
    shown = [json.loads(event["output"]) for event in hook_responses(run) if event["output"].strip()]
    assert len(shown) == 1 and "install.py" in shown[0]["systemMessage"] and "\n" not in shown[0]["systemMessage"]
    assert all(event["exit_code"] == 0 and not event["stderr"] for event in hook_responses(run))
    assert "ippocampus" not in run.main[0].prompt
