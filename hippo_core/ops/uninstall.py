"""Uninstalling: out of Claude Code without a trace, then the programs; the memory only when asked to.

Standard library only: it deletes the environment that everything else lives in.
"""

import contextlib
from pathlib import Path

from hippo_core.errors import InstallError
from hippo_core.ops import client, link
from hippo_core.paths import Paths, move, remove_tree
from hippo_core.record import Record
from hippo_core.schedule import choose


def uninstall(paths: Paths, *, purge: bool) -> int:
    """Remove what the installer brought; with `purge` the memory and the settings too. The exit status."""
    record = Record(paths)
    if not record.exists and choose.chosen(paths) is None and not (purge and paths.store.exists()):
        print(f"Nothing is installed in {paths.home}. If it is elsewhere, set HIPPO_HOME and run this again.")
        return 0
    notes = choose.remove(paths)  # first, so that no job starts in what is half removed
    notes += client.unregister(record)
    link.remove(paths, record)
    # The interpreter first: a session that still runs then finds no program for its hooks, which it forgives. Python's
    # own complaint about a missing script would block its prompts.
    for folder in (paths.venv, paths.plugin, paths.render, paths.run, paths.spool, paths.log, paths.alerts):
        _remove_tree(folder)
    for file in (paths.queries, paths.install_record):
        file.unlink(missing_ok=True)
    if purge:
        _remove_tree(paths.snapshot)  # rules and memories, and their history
        _remove_tree(paths.usage)
        for file in (*paths.home.glob(f"{paths.store.name}*"), paths.config, paths.joined):
            file.unlink(missing_ok=True)
    _say(paths, notes, purge)
    return 1 if notes else 0


def _remove_tree(folder: Path) -> None:
    """Delete a folder of ours; it is out of the way at once, however long the deletion takes."""
    aside = folder.with_name(f"{folder.name}.removed")
    try:
        if aside.exists():  # of a time before, which did not come to its end
            remove_tree(aside)
        if folder.exists():
            move(folder, aside)
            remove_tree(aside)
    except OSError as error:
        raise InstallError(
            f"{error.filename or folder} cannot be removed ({error.strerror or error}). Close Claude Code's sessions "
            "and run this again."
        ) from error


def _say(paths: Paths, notes: list[str], purge: bool) -> None:
    for note in notes:
        print(note)
    if not purge and paths.store.exists():
        print(
            f"Hippocampus is removed. The memory stays in {paths.store} ({paths.store.stat().st_size / 1e6:,.1f} MB): "
            "install.py takes it up again, install.py --uninstall --purge deletes it."
        )
        return
    with contextlib.suppress(OSError):
        paths.home.rmdir()
    there = paths.home.iterdir() if paths.home.exists() else ()
    left = sorted(entry.name for entry in there if entry != paths.schedule_record)  # that stays while the jobs do
    done = "Hippocampus is removed, its memory and settings included." if purge else "Hippocampus is removed."
    print(done + (f" Not ours, so left in {paths.home}: {', '.join(left)}." if left else ""))
