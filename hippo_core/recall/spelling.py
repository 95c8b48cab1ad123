"""Whether a text holds a name as it is spelled: brain.py but not brainpy, --force but not --force-with-lease. Pure.

The indexes split text at most signs, so they find what may be the name; this decides.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from hippo_core.embed.borders import composed
from hippo_core.store.words import begins_hash, is_version


def spelled(literals: Iterable[str], text: str) -> int:
    """How many of `literals` the text holds as they stand, case and spacing ignored; also inside a longer path."""
    folded = composed(text).casefold()
    names = [(name, name == longest) for name, longest in _folded(tuple(literals)) if longest in folded]
    plain = folded if all(single for _, single in names) else " ".join(folded.split())
    return sum((single or name in plain) and _pattern(name).search(plain) is not None for name, single in names)


def by_spelling(
    literals: Sequence[str], texts: Mapping[int, str], ranked: Iterable[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Those of `ranked` whose text holds a literal, most literals first, otherwise in their order; none twice."""
    counts = {number: spelled(literals, texts[number]) for number, _ in ranked if number in texts}
    found = [(number, float(count)) for number, count in counts.items() if count]
    return sorted(found, key=lambda pair: -pair[1])


@lru_cache(maxsize=64)
def _folded(literals: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each as it is looked for in a text without regard to case and spacing; and its longest word."""
    words = [composed(literal).casefold().split() for literal in literals]
    return [(" ".join(some), max(some, key=len)) for some in words]


@lru_cache(maxsize=256)
def _pattern(name: str) -> re.Pattern[str]:
    """The name first and then what may not stand before it: so `re` looks for its letters, thirty times faster."""
    # ASCII neighbours only: in text without spaces between words every neighbour is a letter.
    before = "[a-z0-9_]" if _is_word(name[0]) else "[a-z0-9_-]" if name[0] == "-" else None
    after = r"(?![a-z0-9_])(?!-[a-z0-9])(?!\.\d)" if _is_word(name[-1]) else ""
    if begins_hash(name):
        after = r"(?![g-z_])"
    escaped = re.escape(name)
    alone = f"(?<!{before}{escaped})" if before else ""
    if name[0].isdigit():
        alone += rf"(?<!\d\.{escaped})"  # it would be the end of a longer one
    if is_version(name):
        alone = f"(?:{alone}|(?<=v{escaped})(?<!{before}v{escaped}))"
    return re.compile(escaped + alone + after)


def _is_word(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())
