"""Why a memory says what it says: the words it came from, who said them and where, its use, and what it was before.

Reads the store, and of the client's transcripts only where a line is. Knows nothing of how that is shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hippo_core.model.memory import Memory
from hippo_core.recall.stopwords import STOP_WORDS
from hippo_core.store import Store
from hippo_core.store.archive import Archived
from hippo_core.store.journal import Entry
from hippo_core.store.use import Use

_LONG = 600  # letters from which on only the telling lines of a message are given
_WORD = re.compile(r"[^\W_]{2,}")
GAP = "…"


@dataclass(frozen=True)
class Said:
    """One message a memory came from. lines: its telling lines. path, line: its place in the client's transcript.

    line: None where the transcript is gone or was rewritten.
    """

    message: Archived
    lines: tuple[str, ...]
    path: str | None
    line: int | None


@dataclass(frozen=True)
class Why:
    """said: oldest first. gone: how many sources the archive does not have. replaces: what it took the place of."""

    memory: Memory
    scope_label: str
    said: tuple[Said, ...]
    gone: int
    use: Use
    history: tuple[Entry, ...]
    replaces: tuple[Memory, ...]
    replaced_by: Memory | None


def why(store: Store, number: int) -> Why:
    """Everything that is known of where memory `number` comes from; NotFoundError when there is none."""
    with store.reading():
        memory = store.memories.get(number)
        messages = store.archive.by_uid(memory.sources)
        origins = store.archive.origins([message.id for message in messages])
        scopes = store.memories.scopes()
        replaces = store.memories.replaced_by(number)
        return Why(
            memory,
            scopes[memory.scope].label if memory.scope in scopes else memory.scope,
            tuple(_said(message, memory.text, *origins.get(message.id, (None, 0))) for message in messages),
            len(memory.sources) - len(messages),
            store.uses.of(number),
            tuple(store.journal.of(number)),
            tuple(replaces),
            store.memories.get(memory.superseded_by) if memory.superseded_by else None,
        )


def said_for(store: Store, memories: Sequence[Memory]) -> dict[int, list[Said]]:
    """Of each memory the messages it came from that may be shown to a model, without their place in a file."""
    with store.reading():
        return {
            memory.id: [
                _said(message, memory.text, None, 0)
                for message in store.archive.by_uid(memory.sources)
                if message.withheld is None
            ]
            for memory in memories
        }


def telling_lines(text: str, about: str) -> tuple[str, ...]:
    """The lines of `text` that speak of `about`, as they stand, GAP for what is left out; a short text whole."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(text) <= _LONG:
        return tuple(lines)
    wanted = _content(about)
    shares = [len(wanted & _content(line)) for line in lines]
    best = max(shares, default=0)
    kept: list[str] = []
    for line, share in zip(lines, shares, strict=True):
        if best and share >= max(1, best / 2):
            kept.append(_around_words(line, wanted))
        elif not kept or kept[-1] != GAP:
            kept.append(GAP)
    return tuple(kept)


def _around_words(line: str, wanted: frozenset[str]) -> str:
    """A very long line cut to the stretch that begins a little before the first of `wanted`."""
    if len(line) <= _LONG:
        return line
    first = next((found.start() for found in _WORD.finditer(line) if found[0].casefold() in wanted), 0)
    start = max(0, min(first - _LONG // 4, len(line) - _LONG))
    return f"{GAP if start else ''}{line[start : start + _LONG]}{GAP if start + _LONG < len(line) else ''}"


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in map(str.casefold, _WORD.findall(text)) if word not in STOP_WORDS)


def _said(message: Archived, about: str, path: str | None, offset: int) -> Said:
    return Said(message, telling_lines(message.text, about), path, _line_at(path, offset) if path else None)


def _line_at(path: str, offset: int) -> int | None:
    """The number, from 1, of the line that begins at byte `offset`."""
    try:
        with Path(path).open("rb") as file:
            number, before = 1, b"\n"
            while offset > 0:
                part = file.read(min(offset, 1 << 20))
                if not part:
                    return None
                number, before, offset = number + part.count(b"\n"), part[-1:], offset - len(part)
            return number if before == b"\n" and file.read(1) else None
    except OSError:
        return None
