"""Many patterns, of which the first that finds something is asked for; most need not be searched at all.

What each of them needs (needs.py) is looked for in the words of the text, and people use few words, so that is mostly
known beforehand. Knows nothing of what a pattern means.
"""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_

from hippo_core.distill.needs import needs_of
from hippo_core.distill.wordlist import any_of

_LOOKED_AT = 3  # needs of a pattern
_MOST_WORDS = 1 << 15  # remembered


class Wordings:
    """Patterns in their order, whatever the case; each is compiled when it is first searched.

    Needs are bits: one for the rarest need of each pattern, then one for the second of each, then one for the third.
    """

    def __init__(self, patterns: Sequence[str]):
        self._patterns = list(patterns)
        self._compiled: list[re.Pattern[str] | None] = [None] * len(self._patterns)
        needs = {
            rank * len(self._patterns) + place: need
            for place, pattern in enumerate(self._patterns)
            for rank, need in enumerate(needs_of(pattern)[:_LOOKED_AT])
        }
        self._always = sum(1 << bit for bit in range(_LOOKED_AT * len(self._patterns)) if bit not in needs)
        self._words = _Words(_met_by(needs))

    def first(self, text: str, among: int = -1) -> int | None:
        """The place of the first pattern that finds something in `text`. among: only those whose bit is set."""
        met = self._always
        for bits in set(map(self._words.__getitem__, text.lower().split())):
            met |= bits
        possible = met & among & ((1 << len(self._patterns)) - 1)
        for rank in range(1, _LOOKED_AT):
            possible &= met >> rank * len(self._patterns)
        while possible:
            lowest = possible & -possible
            place = lowest.bit_length() - 1
            if self.pattern(place).search(text):
                return place
            possible ^= lowest
        return None

    def pattern(self, place: int) -> re.Pattern[str]:
        compiled = self._compiled[place]
        if compiled is None:
            compiled = self._compiled[place] = re.compile(self._patterns[place], re.IGNORECASE)
        return compiled


class _Words(dict[str, int]):
    """The needs that a word meets, worked out when it is first asked for."""

    def __init__(self, met_by: dict[str, int]):
        super().__init__()
        self._met_by = met_by
        self._longest = re.compile(f"(?=({any_of(met_by)}))")

    def __missing__(self, word: str) -> int:
        met = reduce(or_, (self._met_by[literal] for literal in self._longest.findall(word)), 0)
        if len(self) < _MOST_WORDS:
            self[word] = met
        return met


def _met_by(needs: dict[int, frozenset[str]]) -> dict[str, int]:
    """The bits of all needs that a literal meets, by itself or by how it begins."""
    met: dict[str, int] = {}
    for bit, need in needs.items():
        for literal in need:
            met[literal] = met.get(literal, 0) | 1 << bit
    return {literal: reduce(or_, (met.get(literal[:end], 0) for end in range(1, len(literal) + 1))) for literal in met}
