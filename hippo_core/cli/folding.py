"""Text for people, folded to the width of their terminal; what goes into a file or a pipe keeps its lines.

Knows nothing of what the text says. Costs next to nothing without a terminal: it is on the way of every search.
"""

import os
import re
import sys
from collections.abc import Iterator

_LEAST = 30  # columns; in fewer nothing is gained
_COLOUR = r"\x1b\[[\d;]*m"
_LETTER, _WORD = f"{_COLOUR}|.", r"\s*\S+"
# A result's number, the first column of a list or a table, a mark or mere indentation; what follows is written
# below itself. A check of the doctor's has two such columns.
_BEGIN = r"\d+  |(?:(?:ok|wrong) +| *)\w[\w:-]*(?: [\w:-]+)? {2,}|[ >!]*"
_COPIED = r" *(?:[~/]|\w:\\)\S*| +(?:claude|hippo|python3?|py) .*"  # a path or a command alone in its line stays whole


def folded(text: str) -> str:
    """`text`; where it goes to a terminal, its long lines broken between words and hanging under their beginning."""
    width = _columns()
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _parts(line, width))


def _columns() -> int | None:
    if not sys.stdout.isatty():
        return None
    chosen = os.environ.get("COLUMNS", "")
    try:
        columns = int(chosen) if chosen.isdecimal() else os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return None
    return columns if columns >= _LEAST else None


def _parts(line: str, width: int) -> Iterator[str]:
    plain = re.sub(_COLOUR, "", line)
    if _cells(plain) <= width or re.fullmatch(_COPIED, plain):
        yield line
        return
    hanging = _cells(re.match(_BEGIN, plain)[0])
    hanging = hanging if hanging <= width // 2 else 0
    part, used = "", 0
    for word in re.findall(_WORD, line.rstrip()):  # blanks at its end would be gone through once for each of them
        if part and used + _cells(word) > width and _cells(word.lstrip()) <= width - hanging:
            yield part
            word, part, used = word.lstrip(), " " * hanging, hanging
        for letter in re.findall(_LETTER, word):  # one by one: a word may be longer than a line
            cells = _cells(letter)
            if used + cells > width:
                yield part
                part, used = " " * hanging, hanging
            part, used = part + letter, used + cells
    yield part


def _cells(text: str) -> int:
    """How many columns `text` takes at most; a colour takes none."""
    text = re.sub(_COLOUR, "", text).expandtabs()
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
