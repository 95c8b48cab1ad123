"""How likely a memory answers the question, in 0..1, from what the channels saw. Pure: numbers in, numbers out.

Ranks alone cannot say that nothing fits, for some memory is always first. So two absolute measures are weighed by a
logistic function: the cosine, and coverage, the share of the question's words that the memory holds, each word counting
by its rarity (inverse document frequency). The coefficients were fitted by benchmarks/retrieval.py; docs/recall.md has
the figures.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Logistic:
    bias: float
    coverage: float
    cosine: float

    def __call__(self, coverage: float, cosine: float) -> float:
        return 1 / (1 + math.exp(-(self.bias + self.coverage * coverage + self.cosine * cosine)))


BOTH = Logistic(bias=-5.0, coverage=3.5, cosine=6.5)
KEYWORDS_ONLY = Logistic(bias=-3.0, coverage=6.0, cosine=0.0)
FLOOR = 0.15  # below it a memory is not shown


def coverage(matches: Sequence[tuple[int, frozenset[int]]], total: int, numbers: Sequence[int]) -> dict[int, float]:
    """Share of the question, by rarity of its words, that each item holds. `matches`: one (frequency, items) a word."""
    rarity = [math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) for frequency, _ in matches]
    whole = sum(rarity)
    if not whole:
        return dict.fromkeys(numbers, 0.0)
    return {
        number: sum(weight for weight, (_, items) in zip(rarity, matches, strict=True) if number in items) / whole
        for number in numbers
    }


def relevance(covered: Mapping[int, float], cosines: Mapping[int, float] | None) -> dict[int, float]:
    """Each item's relevance. cosines: None where no vectors were searched."""
    if cosines is None:
        return {number: KEYWORDS_ONLY(share, 0.0) for number, share in covered.items()}
    return {number: BOTH(share, cosines.get(number, 0.0)) for number, share in covered.items()}
