"""The spool: which memories were shown and used, noted by those who may not write the store.

A line holds ids and a time, never a word. Noting costs one small append, and whatever goes wrong with it is kept to
itself: an answer matters more than its count. Knows nothing of how the notes are counted.
"""

import contextlib
import json
import os
from collections.abc import Iterable

from hippo_core import clock
from hippo_core.paths import Paths, ensure_private

NAME = "shown.jsonl"
MOST_BYTES = 1_000_000  # some 20,000 searches; what comes on top before the next night is not counted
_MOST_IDS = 100


def note_shown(paths: Paths, numbers: Iterable[int]) -> None:
    """These memories were given as an answer."""
    _append(paths, "shown", numbers)


def note_used(paths: Paths, numbers: Iterable[int]) -> None:
    """These memories were looked at in full."""
    _append(paths, "used", numbers)


def _append(paths: Paths, what: str, numbers: Iterable[int]) -> None:
    ids = list(numbers)[:_MOST_IDS]
    if not ids:
        return
    line = json.dumps({"at": round(clock.now(), 3), what: ids}).encode() + b"\n"
    with contextlib.suppress(OSError):
        file = ensure_private(paths.spool) / NAME
        # One write of a line to a file opened for appending: writers at the same time do not mix.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if os.fstat(descriptor).st_size < MOST_BYTES:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
