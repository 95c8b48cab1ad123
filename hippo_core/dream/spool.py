"""Counts the spool of what was shown into the store, once.

The spool is renamed, then counted in one transaction that also marks its new name as counted, then deleted. Killed
anywhere, the next run goes on from there and counts nothing twice.
"""

import contextlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from hippo_core import clock
from hippo_core.paths import Paths
from hippo_core.spool import NAME
from hippo_core.store import Store
from hippo_core.store.use import Use

_COUNTING = ".counting"  # the suffix of a spool that nobody appends to any more
_LARGEST_ID = 2**63


def fold(store: Store, paths: Paths) -> int:
    """Count what the spool holds; returns how many times a memory was shown or used."""
    _set_aside(paths)
    counted = 0
    for file in sorted(paths.spool.glob(f"*{_COUNTING}")):
        uses = _uses(file)
        with store.transaction():
            new = store.uses.fold(file.name, uses)
        if new:
            counted += sum(use.shown + use.used for use in uses.values())
        with contextlib.suppress(OSError):
            file.unlink()
    with store.reading():
        gone = [name for name in store.uses.folded() if not (paths.spool / name).exists()]
    if gone:
        with store.transaction():
            store.uses.forget_folded(gone)
    return counted


def _set_aside(paths: Paths) -> None:
    # A name that never comes again, whatever the clock says, or its notes would pass for counted ones.
    with contextlib.suppress(OSError):  # there is none, or on Windows somebody is just appending: the next night, then
        os.replace(paths.spool / NAME, paths.spool / f"shown.{secrets.token_hex(8)}{_COUNTING}")


def _uses(file: Path) -> dict[int, Use]:
    """What a spool holds, by memory."""
    uses: dict[int, Use] = {}
    for at, what, number in _notes(file):
        use = uses.get(number, Use())
        if what == "shown":
            uses[number] = Use(use.shown + 1, use.used, _later(use.last_shown, at), use.last_used)
        else:
            uses[number] = Use(use.shown, use.used + 1, use.last_shown, _later(use.last_used, at))
    return uses


def _notes(file: Path) -> Iterator[tuple[float, str, int]]:
    """(time, "shown" or "used", memory) of every note; a line that is damaged is passed over."""
    now = clock.now()
    for line in file.read_bytes().splitlines():
        try:
            note = json.loads(line)
            at = min(float(note["at"]), now)  # a clock that was ahead must not make a memory look newly shown for years
            if not math.isfinite(at):
                continue
            for what in ("shown", "used"):
                for number in note.get(what, ()):
                    if type(number) is int and 0 < number < _LARGEST_ID:
                        yield at, what, number
        except (ValueError, OverflowError, TypeError, KeyError, AttributeError, RecursionError):
            continue


def _later(known: float | None, at: float) -> float:
    return at if known is None else max(known, at)
