"""What the user keeps out of the memory: `<private>..</private>`, and whole messages that begin with #skip."""

import re

_TAG = re.compile(r"<(/?)\s{0,20}private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_SKIP = re.compile(r"#skip(?![\w-])", re.IGNORECASE)


def without_private(text: str) -> str:
    """`text` without its private parts. They may nest and span lines; one that is never closed goes to the end."""
    if "<" not in text:
        return text
    kept: list[str] = []
    position = depth = 0
    for tag in _TAG.finditer(text):
        if not depth:
            kept.append(text[position : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        position = tag.end()
    if not depth:
        kept.append(text[position:])
    return "".join(kept)


def is_skipped(text: str) -> bool:
    """Whether the user asked that this message be left out."""
    return _SKIP.match(text.lstrip()) is not None
