"""What each session was shown: numbers of memories and what they cost, never a word of them.

One small file a session (run/shown/<session id>), so that a session taken up again by a new process is told nothing
twice, and `forget` can reach it. A file that cannot be read or written is a session that is told nothing.
"""

import contextlib
import os
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from hippo_core.clock import DAY
from hippo_core.paths import Paths, ensure_private, write_atomic

_KEPT_DAYS = 30
_SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")


@dataclass(frozen=True)
class Shown:
    """numbers: of memories. tokens: spent in this session so far."""

    numbers: frozenset[int] = frozenset()
    tokens: int = 0


def shown_in(paths: Paths, session: str) -> Shown | None:
    """None for a session whose name or file is unusable."""
    file = _file(paths, session)
    if file is None:
        return None
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return Shown()
    except (OSError, ValueError):
        return None
    rows = [[int(number) for number in line.split()] for line in lines if _plain(line)]
    return Shown(frozenset(number for row in rows for number in row[1:]), sum(row[0] for row in rows))


def note(paths: Paths, session: str, numbers: Iterable[int], tokens: int) -> bool:
    """These were shown, and cost so much. False when that cannot be written down."""
    file = _file(paths, session)
    if file is None:
        return False
    line = " ".join(map(str, (tokens, *numbers))) + "\n"
    try:
        ensure_private(file.parent)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(line.encode("ascii"))
    except OSError:
        return False
    return True


def drop(paths: Paths, numbers: Collection[int]) -> None:
    """Take forgotten memories out of every session's list."""
    for file in _files(paths):
        with contextlib.suppress(OSError, ValueError):
            lines = [line.split() for line in file.read_text(encoding="ascii").splitlines() if _plain(line)]
            kept = [[row[0], *(one for one in row[1:] if int(one) not in numbers)] for row in lines]
            if kept != lines:
                write_atomic(file, "".join(" ".join(row) + "\n" for row in kept).encode("ascii"))


def remove_old(paths: Paths) -> None:
    """Remove the lists of sessions that nobody takes up any more."""
    oldest = time.time() - _KEPT_DAYS * DAY
    for file in _files(paths):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _file(paths: Paths, session: str) -> Path | None:
    return _folder(paths) / session if _SESSION.fullmatch(session) else None


def _files(paths: Paths) -> list[Path]:
    try:
        return [file for file in _folder(paths).iterdir() if _SESSION.fullmatch(file.name)]
    except OSError:
        return []


def _folder(paths: Paths) -> Path:
    return paths.run / "shown"


def _plain(line: str) -> bool:
    """Whether a line is one of ours, whole; a crash may have cut the last one."""
    return bool(line) and all(word.isdigit() for word in line.split())
