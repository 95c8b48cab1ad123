"""Where a text may be cut: at a paragraph, else a line, a sentence, a word; and what signs it is made of.

Knows nothing of models or tokens.
"""

import re

_BORDERS = (r"\n\s*\n", r"\n", r"[.!?…]['\")\]]*\s|[。！？]", r"\s")  # compiled when a text is first cut
_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` without what UTF-8 cannot say: a lone surrogate becomes the replacement character."""
    return _SURROGATE.sub("\ufffd", text)


def composed(text: str) -> str:
    """With a letter and its accents as one sign where there is one; the file names of macOS have them apart."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)


def best_cut(text: str, low: int, high: int) -> int:
    """The position in low < position <= high that ends the largest whole part of `text`; `high` where none ends."""
    for border in _BORDERS:
        ends = [match.end() for match in re.compile(border).finditer(text, low, high)]
        if ends and ends[-1] > low:
            return ends[-1]
    return high
