"""Whether a text holds a name as it is spelled: brain.py but not brainpy, --force but not --force-with-lease. Pure.

The indexes split text at most signs, so they find what may be the name; this decides.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from hippo_core.store.words import begins_hash, is_version


def spelled(literals: Iterable[str], text: str) -> int:
    """How many of `literals` the text holds as they stand, case ignored; also inside a longer path."""
    folded = text.casefold()  # to look for a part of it there is twenty times faster than the pattern
    return sum(
        max(literal.casefold().split(), key=len) in folded and _pattern(literal).search(text) is not None
        for literal in literals
    )


def by_spelling(
    literals: Sequence[str], texts: Mapping[int, str], ranked: Iterable[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Those of `ranked` whose text holds a literal, most literals first, otherwise in their order; none twice."""
    counts = {number: spelled(literals, texts[number]) for number, _ in ranked if number in texts}
    found = [(number, float(count)) for number, count in counts.items() if count]
    return sorted(found, key=lambda pair: -pair[1])


@lru_cache(maxsize=256)
def _pattern(literal: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, literal.split()))
    # ASCII neighbours only: in text without spaces between words every neighbour is a letter.
    before = r"(?<![A-Za-z0-9_])" if _is_word(literal[0]) else r"(?<![A-Za-z0-9_-])" if literal[0] == "-" else ""
    after = r"(?![A-Za-z0-9_])(?!-[A-Za-z0-9])(?!\.\d)" if _is_word(literal[-1]) else ""
    if literal[0].isdigit():
        before += r"(?<!\d\.)"  # it would be the end of a longer one
    if is_version(literal):
        before += "v?"
    if begins_hash(literal):
        after = r"(?![g-zG-Z_])"
    return re.compile(before + words + after, re.IGNORECASE)


def _is_word(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())
