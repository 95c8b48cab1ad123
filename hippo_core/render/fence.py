"""Stored text made safe to stand inside a fenced block: on one line, and unable to open or close a fence.

Knows nothing of what the text says; that it is a note and no instruction is said by the block around it.
"""

import re
import unicodedata

# A tag whose name has two parts, as every fence of ours and of the client's has: <hippo-memory>, </system-reminder>,
# <function_calls>. Generic code such as List<int> or <div> stays as it is.
_MARKS = "\u034f\ufe00-\ufe0f"  # they have no width either, but count as printable: an emoji is followed by one
_FENCE = re.compile(rf"<(?=[\s/\\!?{_MARKS}]*[A-Za-z][A-Za-z0-9{_MARKS}]*[-_:])")


def one_line(text: str, longest: int | None = None) -> str:
    """`text` on one line, without control characters, its fences broken; cut at a word after `longest` letters."""
    line = _FENCE.sub("‹", visible(text))
    if longest is None or len(line) <= longest:
        return line
    return line[:longest].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def visible(text: str) -> str:
    """`text` on one line: white space and control characters are single spaces, what has no width is left out."""
    if text.isprintable():
        return " ".join(text.split())
    return " ".join("".join(c if c.isprintable() else _unprintable(c) for c in text).split())


def _unprintable(character: str) -> str:
    return "" if unicodedata.category(character) == "Cf" else " "


def attribute(text: str) -> str:
    """`text` as the value of a fence's attribute."""
    return "".join("'" if c == '"' else c for c in one_line(text, 60) if c not in "<>")
