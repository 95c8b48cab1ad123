"""How likely a memory answers the question, in 0..1, from what the channels saw of it. Pure: numbers in, numbers out.

Ranks alone cannot say that nothing fits, for some memory is always first. So two absolute measures are weighed together
with the fused rank, by a logistic function: the cosine, and coverage, the share of the question's words that the memory
holds, each word counting by its rarity (inverse document frequency). benchmarks/calibrate.py fits the coefficients;
docs/recall.md has the figures.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

# When to stay silent: nothing is shown unless the best reaches BEST_AT_LEAST; then all that reach FLOOR are, except
# what is far below the best. docs/recall.md has what other values give.
BEST_AT_LEAST = 0.06
FLOOR = 0.03
SHARE_OF_BEST = 0.1
# What the question calls by name is shown though little else speaks for it, from these relevances on.
NAMED_AT_LEAST, NAMED_ALONE_AT_LEAST = 0.01, 0.045
SMALL_STORE = 1_000  # fewer items tell too little of how common a word is: in a store of three, one makes a third


class Evidence(NamedTuple):
    """What speaks for one memory, each in 0..1. cosine: None where it has no vector, or none was asked for."""

    coverage: float
    fused: float
    cosine: float | None


class Logistic(NamedTuple):
    bias: float
    coverage: float
    fused: float
    cosine: float = 0.0

    def __call__(self, evidence: Evidence) -> float:
        weighed = self.coverage * evidence.coverage + self.fused * evidence.fused + self.cosine * (evidence.cosine or 0)
        return 1 / (1 + math.exp(-(self.bias + weighed)))


WITH_VECTORS = Logistic(bias=-6.27, coverage=2.32, fused=1.5, cosine=6.98)
KEYWORDS_ONLY = Logistic(bias=-4.72, coverage=4.04, fused=1.5)


def relevance(evidence: Evidence) -> float:
    return (KEYWORDS_ONLY if evidence.cosine is None else WITH_VECTORS)(evidence)


def coverage(matches: Sequence[tuple[int, frozenset[int]]], total: int, numbers: Sequence[int]) -> dict[int, float]:
    """Share of the question, by rarity of its words, that each of `numbers` holds.

    matches: for each word, in how many of the `total` items it is, and in which of `numbers`.
    """
    total = max(total, SMALL_STORE)
    rarity = [math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) for frequency, _ in matches]
    whole = sum(rarity) or 1.0
    return {
        number: sum(weight for weight, (_, items) in zip(rarity, matches, strict=True) if number in items) / whole
        for number in numbers
    }


def at_least_shown(
    relevances: Mapping[int, float], named: Collection[int], needed: Collection[int] = (), by_meaning: bool = True
) -> dict[int, float]:
    """The relevances, those of `named` raised to what is shown: beside the best, or, a little surer, alone.

    needed: what belongs to the best, however little it fits itself. by_meaning: the relevances know of the meaning;
    else a name alone is not enough, for many a common word begins a text.
    """
    best = max(relevances.values(), default=0.0)
    if best < BEST_AT_LEAST:
        alone = {n: BEST_AT_LEAST for n, v in relevances.items() if n in named and v >= NAMED_ALONE_AT_LEAST}
        return alone if alone and by_meaning else dict(relevances)
    least = max(FLOOR, SHARE_OF_BEST * best)
    lifted = {n for n, v in relevances.items() if n in needed or (n in named and v >= NAMED_AT_LEAST)}
    return {n: max(v, least) if n in lifted else v for n, v in relevances.items()}


def worth_showing(relevances: Mapping[int, float]) -> set[int]:
    """Which items may be shown at all; none when even the best hardly fits."""
    best = max(relevances.values(), default=0.0)
    if best < BEST_AT_LEAST:
        return set()
    return {number for number, value in relevances.items() if value >= max(FLOOR, SHARE_OF_BEST * best)}
