"""cron: one marked block at the end of the user's crontab; every other byte of it stays. Standard library only.

cron does not make up for what it slept through, so each run also looks what else is overdue. A line of ours depends on
no setting of the crontab's, and sets none: the command names its environment itself, prints nothing, and is quoted so
that any shell takes it.
"""

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from hippo_core.errors import ScheduleError
from hippo_core.schedule.jobs import Job
from hippo_core.schedule.scheduler import PRODUCT, Target, ask, require

_DAEMONS = (b"cron", b"crond", b"fcron")
_ENV = "/usr/bin/env"
_OURS = b" schedule run --scheduled "
_ANY_START = f"# >>> {PRODUCT}".encode()
_NO_CRONTAB, _NO_NEWLINE = b" (there was no crontab)", b" (the line before had no end)"


class Crontab:
    name, title, place, system = "cron", "cron", None, None

    def problem(self) -> str | None:
        if sys.platform == "win32" or shutil.which("crontab") is None:
            return "there is no cron here"
        try:
            read_crontab()
        except ScheduleError as error:
            return str(error)
        return None if _daemon_runs() else "cron is installed, but its daemon does not run"

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        others = without_block(read_crontab(), target.prefix)
        require(["crontab", "-"], with_block(others, target.prefix, [line(target, job) for job in jobs]))

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        if shutil.which("crontab") is None:
            return
        before = read_crontab()
        if before is None:
            return  # taken away since, ours with it
        after = without_block(before, prefix)
        if after is None:
            require(["crontab", "-r"])
        elif after != before:
            require(["crontab", "-"], after)

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        start, end = (marker.decode() for marker in _markers(prefix))
        return f"crontab -e, and delete the lines from '{start}' to '{end}'"

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        rows = (read_crontab() or b"").splitlines()
        ours = [rows[number] for number in _our_rows(rows, prefix) if not rows[number].startswith(b"#")]
        return [job.name for job in jobs if any(row.endswith(_OURS + job.name.encode()) for row in ours)]


def line(target: Target, job: Job) -> str:
    """A job's line: five fields of time, then a command in which cron's % is escaped."""
    hour = "*" if job.hour is None else str(job.hour)
    words = [_ENV, *(f"{name}={value}" for name, value in target.environment.items()), *target.command(job)]
    command = " ".join(shlex.quote(word) for word in words)
    return f"{','.join(map(str, job.minutes))} {hour} * * * {command}".replace("%", "\\%")


def with_block(crontab: bytes | None, prefix: str, lines: Sequence[str]) -> bytes:
    """A crontab (None: there is none) with the block at its end; the marker notes what removal has to restore."""
    before = crontab or b""
    note = _NO_CRONTAB if crontab is None else _NO_NEWLINE if before and not before.endswith(b"\n") else b""
    start, end = _markers(prefix)
    rows = [start + note, *(row.encode() for row in lines), end]
    return before + (b"\n" if note == _NO_NEWLINE else b"") + b"\n".join(rows) + b"\n"


def without_block(crontab: bytes | None, prefix: str) -> bytes | None:
    """The crontab as it was before the block, with all that changed around it since; None where there was none."""
    if crontab is None:
        return None
    start, _ = _markers(prefix)
    rows = crontab.splitlines(keepends=True)
    ours = _our_rows(rows, prefix)
    kept = b"".join(row for number, row in enumerate(rows) if number not in ours)
    note = next((rows[number][len(start) :].rstrip() for number in ours if rows[number].startswith(start)), b"")
    if note == _NO_NEWLINE.rstrip() and max(ours) == len(rows) - 1:
        kept = kept.removesuffix(b"\n")
    return None if note == _NO_CRONTAB.rstrip() and not kept else kept


def read_crontab() -> bytes | None:
    """The user's crontab; None when there is none. ScheduleError when this user may not have one."""
    status, output, said = ask(["crontab", "-l"])
    if status == 0:
        return output
    if "no crontab for" in said.lower() or "can't open" in said.lower():  # the second is BusyBox's way to say it
        return None
    raise ScheduleError(f"crontab refuses this user ({said}).")


def _markers(prefix: str) -> tuple[bytes, bytes]:
    return f"# >>> {prefix}: written by hippo schedule".encode(), f"# <<< {prefix}".encode()


def _our_rows(rows: Sequence[bytes], prefix: str) -> list[int]:
    """The numbers of the rows that we wrote. Somebody may have put rows between them, or taken some away."""
    start, end = _markers(prefix)
    ours, inside = [], False
    for number, row in enumerate(rows):
        begins, ends = row.startswith(start), row.rstrip(b"\r\n") == end
        if begins or ends or (inside and _OURS in row):
            ours.append(number)
        inside = begins or (inside and not ends and not row.startswith(_ANY_START))
    return ours


def _daemon_runs() -> bool:
    """Whether some cron is at work. Where /proc does not show it, it is taken to run, as macOS starts it on demand."""
    names = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            program, argument, *_ = map(os.path.basename, [*entry.read_bytes().split(b"\0"), b""])
            names.append(argument if program == b"busybox" else program)
    return not names or any(name in _DAEMONS for name in names)
