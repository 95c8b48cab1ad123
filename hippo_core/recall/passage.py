"""Which part of a long message is shown: where the most of the question's words stand together. Pure.

A message may be a pasted log of 200,000 letters, and what was asked for may stand at its end.
"""

import re
from collections import Counter
from collections.abc import Iterable

# Letters before the first word found, in which the sentence or line is looked for that holds it; of few, a quarter.
_LEAD = 120
_BEGINS = re.compile(r"\n\s*|[.!?]\s+|[。！？]\s*")
_STEM, _MOST_CUT = 4, 3  # a word is found in its other forms: at least four letters of it, at most three cut off


def passage(text: str, words: Iterable[str], length: int) -> str:
    """`text`, or of a longer one some `length` letters, " …" marking each end that is not the text's own."""
    if len(text) <= length:
        return text
    start = _start(text, words, length)
    end = start + length
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


def _start(text: str, words: Iterable[str], length: int) -> int:
    """Where the part with the most of the words begins: the first such part, and the text's own beginning if that is
    no worse."""
    places, lead = _places(text, words), min(_LEAD, length // 4)
    first = len({word for at, word in places if at < length})
    most, best, held, after = first, None, Counter(), 0
    for at, word in places:
        while after < len(places) and places[after][0] < at + length - lead:
            held[places[after][1]] += 1
            after += 1
        if len(held) > most:
            most, best = len(held), at
        held[word] -= 1
        if not held[word]:
            del held[word]
    if best is None:
        return 0
    earliest = max(0, best - lead)
    borders = [found.end() for found in _BEGINS.finditer(text, earliest, best)]
    start = borders[-1] if borders else text.rfind(" ", earliest, best) + 1 or best
    return min(start, len(text) - length)


def _places(text: str, words: Iterable[str]) -> list[tuple[int, str]]:
    """(place, word) of every word of the question, in any of its forms, in order."""
    folded = text.lower()
    if len(folded) != len(text):  # a place is to be the same in both
        folded = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    places: dict[int, str] = {}
    for stem in sorted({_stem(word.casefold()) for word in words if word}, key=len):  # of two at a place the longer
        begins_words, at = stem.isascii(), folded.find(stem)
        while at >= 0:
            if not (begins_words and at and folded[at - 1].isalnum()):
                places[at] = stem
            at = folded.find(stem, at + 1)
    return sorted(places.items())


def _stem(word: str) -> str:
    return word[: max(_STEM, len(word) - _MOST_CUT)] if word.isalpha() else word
