"""Registers the staged plugin with Claude Code, and takes it out again without a trace. Standard library only.

The client's own commands do the work where `claude` is on PATH; its settings file is looked after around them. Knows
nothing of what the plugin does.
"""

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hippo_core import paths as places
from hippo_core.errors import InstallError
from hippo_core.ops import settings
from hippo_core.ops.settings import Before
from hippo_core.paths import Paths, for_shell
from hippo_core.record import Record
from hippo_core.registration import MARKETPLACE, PLUGIN, plugin_enabled

_TIMEOUT = 120  # seconds for one command of the client


@dataclass(frozen=True)
class Registration:
    """done: the client knows the plugin. line: how it stands, else why it does not. commands: what is left to type."""

    done: bool
    line: str
    commands: tuple[str, ...] = ()


def register(paths: Paths, record: Record) -> Registration:
    """Make the staged folder a marketplace of the client and its plugin an installed one."""
    file = places.client_home() / "settings.json"
    try:
        _keep_settings(record, file)
    except InstallError as error:  # all else is in place by now, and works
        return Registration(False, str(error))
    if plugin_enabled(settings.read(file)) is False:
        return Registration(
            True, f"is switched off in Claude Code, and stays so until you run: claude plugin enable {PLUGIN}"
        )
    program = shutil.which("claude")
    if program is None:
        return Registration(False, "`claude` is not on PATH. Where it is, run these two lines:", by_hand(paths))
    edited = _is_edited(record, file)
    for arguments in (["marketplace", "add", str(paths.plugin)], ["install", PLUGIN]):
        failure = _call(program, arguments, dict(os.environ))
        if failure:
            return Registration(
                False, f"It did not take the plugin ({failure}). When that is mended, run:", by_hand(paths)
            )
    if not edited:
        _note_settings(record, file)
    return Registration(True, "registered with Claude Code; start a new session")


def unregister(record: Record) -> list[str]:
    """Take the plugin out of every client folder it was registered in; lines about what could not be done."""
    notes = []
    for folder, kept in record.get("clients", {}).items():
        file = Path(folder) / "settings.json"
        found = settings.read(file)
        program = shutil.which("claude")
        if program and found is not None:
            environment = {name: value for name, value in os.environ.items() if name != "CLAUDE_CONFIG_DIR"}
            if kept["named"]:
                environment["CLAUDE_CONFIG_DIR"] = folder
            # Each may fail where the user was quicker; what counts is what is left.
            for arguments in (["uninstall", PLUGIN], ["marketplace", "remove", MARKETPLACE]):
                _call(program, arguments, environment)
        _forget_by_hand(Path(folder))
        after = settings.restored(found, Before.from_json(kept["before"]))
        settings.write(file, after)
        if settings.names_us(settings.read(file)):
            notes.append(f"{file} still names {PLUGIN}, and is no JSON that can be mended here; take it out by hand.")
    return notes


def by_hand(paths: Paths) -> tuple[str, ...]:
    """The commands that register the staged plugin, as they are typed in any folder."""
    return (f"claude plugin marketplace add {for_shell(paths.plugin)}", f"claude plugin install {PLUGIN}")


def _keep_settings(record: Record, file: Path) -> None:
    """Keep the settings as they are before we are in them; a copy from an earlier time when we already are."""
    found = settings.read(file)
    clients = record.get("clients", {})
    folder = str(file.parent)
    if folder in clients and settings.names_us(found):
        return
    before = Before(settings.restored(found, None))  # normally as found; without us if the user was quicker
    named = "CLAUDE_CONFIG_DIR" in os.environ
    record.put(clients={**clients, folder: {"named": named, "before": before.to_json()}})


def _is_edited(record: Record, file: Path) -> bool:
    """Whether somebody other than us changed the settings since they were kept."""
    before = Before.from_json(record.get("clients")[str(file.parent)]["before"])
    found = settings.read(file)
    return found != before.data and settings.digest(found) != before.left


def _note_settings(record: Record, file: Path) -> None:
    """Remember how our registration left the settings, so that an edit can be told from it."""
    clients = record.get("clients")
    kept = clients[str(file.parent)]
    before = Before(Before.from_json(kept["before"]).data, settings.digest(settings.read(file)))
    record.put(clients={**clients, str(file.parent): {**kept, "before": before.to_json()}})


def _call(program: str, arguments: list[str], environment: dict[str, str]) -> str | None:
    """Run one of the client's plugin commands; None when it succeeded, else its reason in one line."""
    quiet = {"HIPPO_CHILD": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    try:
        done = subprocess.run(
            [program, "plugin", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**environment, **quiet},
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]
    return said if done.returncode else None


def _forget_by_hand(folder: Path) -> None:
    """Remove what the client keeps of us beside its settings, or all of it where the client is gone."""
    plugins = folder / "plugins"
    for file, path in (
        (plugins / "known_marketplaces.json", (MARKETPLACE,)),
        (plugins / "installed_plugins.json", ("plugins", PLUGIN)),
    ):
        with contextlib.suppress(OSError, ValueError):
            text = file.read_bytes().decode("utf-8")
            if settings.cut(text, path) != text:
                settings.write(file, settings.cut(text, path).encode("utf-8"))
    for leftover in (plugins / "cache" / MARKETPLACE, plugins / "data" / PLUGIN.replace("@", "-")):
        shutil.rmtree(leftover, ignore_errors=True)
