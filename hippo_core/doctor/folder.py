"""Checks of the data folder: settings, whose files these are, leftovers, locks, room on the disk. Opens no store."""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from hippo_core import clock
from hippo_core import config as settings
from hippo_core.counting import counted
from hippo_core.doctor.base import Finding, Patient, ill, well
from hippo_core.errors import HippoError, VectorsUnavailableError
from hippo_core.paths import Paths
from hippo_core.store.room import room

_LONGEST_JOB = 3 * 3_600.0


def settings_readable(patient: Patient) -> Iterator[Finding]:
    from hippo_core.embed.choose import open_embedder
    from hippo_core.monitor.hours import quiet_until

    means = "The jobs do not run, the hooks go on with what was rendered."
    try:
        config = settings.load(patient.paths)
        with contextlib.suppress(VectorsUnavailableError):  # a matter of the embedder, which has its own check
            open_embedder(config)
        means = "No alert is held back at night."
        quiet_until(config.quiet_hours, clock.now())
    except HippoError as error:
        yield ill("settings", str(error), means, f"mend or delete {patient.paths.config}")
        return
    there = "as written" if patient.paths.config.exists() else "all defaults"
    idle = ", ".join(map(repr, settings.unknown(patient.paths)))
    yield well("settings", f"readable, {there}" + (f"; no setting, so of no effect: {idle}" if idle else ""))


def private(patient: Patient) -> Iterator[Finding]:
    if os.name != "posix":
        return
    me, foreign, open_ones = os.getuid(), [], []
    for path in _own(patient.paths):
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            continue
        if found.st_uid != me:
            foreign.append(path)
        elif stat.S_IMODE(found.st_mode) & 0o077:
            open_ones.append(path)
    if foreign:
        yield ill("permissions", f"owned by another user: {counted(len(foreign), 'file')}, first {foreign[0]}",
                  "What runs as you may not write them.", f"sudo chown -R {me} '{patient.paths.home}'")  # fmt: skip
    if open_ones:
        yield ill(
            "permissions",
            f"{counted(len(open_ones), 'path')} can be read by other users, first {open_ones[0]}",
            "Whoever has an account here may read what you said.",
            "hippo doctor --fix",
            lambda: _close(open_ones),
        )
    if not foreign and not open_ones:
        yield well("permissions", "all files are readable by you alone")


def _close(paths: list[Path]) -> str:
    for path in paths:
        os.chmod(path, stat.S_IMODE(path.stat().st_mode) & 0o700)
    return f"{counted(len(paths), 'path')} made readable by you alone"


def leftovers(patient: Patient) -> Iterator[Finding]:
    from hippo_core.dream.leftovers import clear, half_written

    old = half_written(patient.paths)
    if not old:
        yield well("leftovers", "no half-written files")
        return
    yield ill("leftovers", f"{counted(len(old), 'half-written file')}, first {old[0]}",
              "A process died while it wrote; the next night deletes it.", "hippo doctor --fix",
              lambda: f"{counted(clear(patient.paths), 'file')} deleted")  # fmt: skip


def locks(patient: Patient) -> Iterator[Finding]:
    """A lock is free when its holder dies; what can go wrong is a holder that never ends."""
    from filelock import FileLock, Timeout

    held = []
    for file in sorted(patient.paths.run.glob("*.lock")):
        lock = FileLock(file, timeout=0)
        try:
            lock.acquire()
            lock.release()
        except Timeout:
            held.append(file)
        except OSError as error:
            yield ill("locks", f"{file} cannot be opened ({error.strerror or error})", "Its job cannot run.",
                      "delete it when nothing of hippo runs")  # fmt: skip
    stuck = [(file.stem, note) for file in held if (note := _holder(file)) and _age(note) > _LONGEST_JOB]
    for name, note in stuck:
        yield ill("locks", f"{name} has been at work for {_age(note) / 3_600:.0f} hours (pid {note['pid']})",
                  "It hangs, and keeps every other run of it out.", f"end process {note['pid']}")  # fmt: skip
    if not stuck:
        working = ", ".join(file.stem for file in held)
        yield well("locks", f"at work just now: {working}" if working else "none is held")


def _holder(lock: Path) -> dict | None:
    try:
        note = json.loads(lock.with_suffix(".holder").read_bytes())
        return {"pid": int(note["pid"]), "since": float(note["since"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _age(note: dict) -> float:
    return clock.now() - note["since"]


def disk(patient: Patient) -> Iterator[Finding]:
    try:
        there = room(patient.paths.store)
    except OSError as error:
        yield ill("disk", f"{patient.paths.home} cannot be read ({error.strerror or error})", "Nothing can be stored.",
                  "check that the folder is there and is yours")  # fmt: skip
        return
    line = f"{there.free / 1e9:,.1f} GB free, the store takes {there.taken / 1e6:,.1f} MB"
    if there.enough:
        yield well("disk", line)
    else:
        yield ill("disk", line, "A pass may stop half-way (nothing is lost), and forgetting cannot rewrite the file.",
                  f"free {(there.needed - there.free) / 1e6:,.0f} MB")  # fmt: skip


def _own(paths: Paths) -> Iterator[Path]:
    """Everything in the data folder that holds something of the user's: not the programs."""
    apart = {paths.venv, paths.plugin}
    if not paths.home.exists():
        return
    yield paths.home
    for folder, below, names in os.walk(paths.home):
        below[:] = [name for name in below if Path(folder, name) not in apart]
        yield from (path for name in (*below, *names) if (path := Path(folder, name)).exists())
