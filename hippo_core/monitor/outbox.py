"""Notices on their way: on disk until each channel has taken them, in order, so that being offline loses none.

One JSON file, replaced whole. An entry names the channels that still have to get it; when the last one has, it is gone.
Bounded: the oldest are dropped, and counted. Knows nothing of how a channel sends.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hippo_core.paths import Paths, write_atomic

MOST = 200


@dataclass(frozen=True)
class Letter:
    """not_before: when it may be sent. to: the keys of the channels that have not got it yet."""

    at: float
    title: str
    body: str
    urgent: bool
    not_before: float
    to: tuple[str, ...]


@dataclass(frozen=True)
class Drained:
    """sent: letters that a channel took, once for each channel. failed: why a channel stopped, by its key."""

    sent: int
    failed: dict[str, str]


def waiting(paths: Paths) -> list[Letter]:
    """What is still to be sent, oldest first."""
    try:
        raw = json.loads(_file(paths).read_bytes())
        return [Letter(**{**letter, "to": tuple(letter["to"])}) for letter in raw]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def put(paths: Paths, letters: Sequence[Letter]) -> int:
    """Add letters at the end; how many old ones had to go for that."""
    if not letters:
        return 0
    all_of_them = [*waiting(paths), *letters]
    _write(paths, all_of_them[-MOST:])
    return max(0, len(all_of_them) - MOST)


def drain(paths: Paths, channels: Sequence[str], send: Callable[[str, Letter], str | None], now: float) -> Drained:
    """Send what is due to each channel, oldest first; `send` answers why it could not, or None.

    A channel that fails once is left until the next time, so that its letters stay in order. The file is written after
    each letter: a crash repeats at most one. What was meant for channels that are gone is dropped.
    """
    letters = [_meant_for(letter, channels) for letter in waiting(paths)]
    sent, failed = 0, {}
    for channel in channels:
        for place, letter in enumerate(letters):
            held = letter.at <= now < letter.not_before  # one of a time to come was written by a clock put back since
            if channel not in letter.to or held:
                continue
            problem = send(channel, letter)
            if problem is not None:
                failed[channel] = problem
                break
            sent += 1
            letters[place] = replace(letter, to=tuple(other for other in letter.to if other != channel))
            _write(paths, letters)
    _write(paths, letters)
    return Drained(sent, failed)


def _meant_for(letter: Letter, channels: Sequence[str]) -> Letter:
    return replace(letter, to=tuple(channel for channel in letter.to if channel in channels))


def _write(paths: Paths, letters: Sequence[Letter]) -> None:
    kept = [asdict(letter) for letter in letters if letter.to]
    if kept or _file(paths).exists():
        write_atomic(_file(paths), json.dumps(kept, ensure_ascii=False, indent=1).encode())


def _file(paths: Paths) -> Path:
    return paths.alerts / "outbox.json"
