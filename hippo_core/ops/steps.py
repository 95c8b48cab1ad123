"""Progress for people: a line for each step, rewritten on a terminal while it runs. Standard library only.

In a pipe or a log, a step is one line when it begins to take long and one when it is done.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

_WIDTH = 28
_REDRAW = 0.1  # seconds between two drawings on a terminal
_PATIENCE = 10.0  # seconds between two lines elsewhere


class Step:
    """One step while it runs. Set `note` to what the finished line should say."""

    def __init__(self, title: str):
        self.note = ""
        self._title, self._began = title, time.monotonic()
        self._terminal, self._shown = sys.stdout.isatty(), 0
        self._drawn = self._began
        if self._terminal:
            self._draw("")

    def at(self, done: int, total: int) -> None:
        """The step has come to `done` of `total`."""
        if time.monotonic() - self._drawn >= (_REDRAW if self._terminal else _PATIENCE):
            self._draw(f"{done:,} of {total:,}")

    def finish(self) -> None:
        took = time.monotonic() - self._began
        note = f"{self.note}  {took:.0f} s" if took >= 1 else self.note
        self._write(note, "\n")

    def abandon(self) -> None:
        if self._terminal:
            self._write("", "\n")

    def _draw(self, progress: str) -> None:
        self._drawn = time.monotonic()
        self._write(progress, "" if self._terminal else "\n")

    def _write(self, note: str, end: str) -> None:
        line = f"  {self._title:<{_WIDTH}}{note}".rstrip()
        if self._terminal:  # blanks over what was longer: an older Windows console shows a code for that as it is
            line, self._shown = "\r" + line.ljust(self._shown), len(line)
        sys.stdout.write(line + end)
        sys.stdout.flush()


@contextlib.contextmanager
def step(title: str) -> Iterator[Step]:
    """A step of the work; its line is finished when the block is left."""
    running = Step(title)
    try:
        yield running
    except BaseException:
        running.abandon()
        raise
    running.finish()


def use_utf8() -> None:
    """Print any character on any console, at worst as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
