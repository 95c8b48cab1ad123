"""How likely a memory answers the question, in 0..1, from what the channels saw of it. Pure: numbers in, numbers out.

Ranks alone cannot say that nothing fits, for some memory is always first. So two absolute measures are weighed together
with the fused rank, by a logistic function: the cosine, and coverage, the share of the question's words that the memory
holds, each word counting by its rarity (inverse document frequency). benchmarks/calibrate.py fits the coefficients;
docs/recall.md has the figures.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from hippo_core.recall.weights import WEIGHTS, Weights


class Evidence(NamedTuple):
    """What speaks for one memory, each in 0..1. cosine: None where it has no vector, or none was asked for."""

    coverage: float
    fused: float
    cosine: float | None


def relevance(seen: Evidence, weights: Weights = WEIGHTS) -> float:
    by = weights.keywords_only if seen.cosine is None else weights.with_vectors
    weighed = by.coverage * seen.coverage + by.fused * seen.fused + by.cosine * (seen.cosine or 0)
    return 1 / (1 + math.exp(-(by.bias + weighed)))


def coverage(
    matches: Sequence[tuple[int, frozenset[int]]],
    total: int,
    numbers: Sequence[int],
    small_store: int = WEIGHTS.small_store,
) -> dict[int, float]:
    """Share of the question, by rarity of its words, that each of `numbers` holds.

    matches: for each word, in how many of the `total` items it is, and in which of `numbers`.
    """
    total = max(total, small_store)
    rarity = [math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) for frequency, _ in matches]
    whole = sum(rarity) or 1.0
    return {
        number: sum(weight for weight, (_, items) in zip(rarity, matches, strict=True) if number in items) / whole
        for number in numbers
    }


def at_least_shown(
    relevances: Mapping[int, float],
    named: Collection[int],
    needed: Collection[int] = (),
    by_meaning: bool = True,
    weights: Weights = WEIGHTS,
) -> dict[int, float]:
    """The relevances, those of `named` raised to what is shown: beside the best, or, a little surer, alone.

    needed: what belongs to the best, however little it fits itself. by_meaning: the relevances know of the meaning;
    else a name alone is not enough, for many a common word begins a text.
    """
    best = max(relevances.values(), default=0.0)
    if best < weights.best_at_least:
        alone = {
            n: weights.best_at_least for n, v in relevances.items() if n in named and v >= weights.named_alone_at_least
        }
        return alone if alone and by_meaning else dict(relevances)
    least = least_shown(best, weights)
    lifted = {n for n, v in relevances.items() if n in needed or (n in named and v >= weights.named_at_least)}
    return {n: max(v, least) if n in lifted else v for n, v in relevances.items()}


def worth_showing(relevances: Mapping[int, float], weights: Weights = WEIGHTS) -> set[int]:
    """Which items may be shown at all; none when even the best hardly fits."""
    best = max(relevances.values(), default=0.0)
    if best < weights.best_at_least:
        return set()
    least = least_shown(best, weights)
    return {number for number, value in relevances.items() if value >= least}


def least_shown(best: float, weights: Weights = WEIGHTS) -> float:
    """The relevance from which on others are shown beside the best, where that may be shown."""
    return max(weights.floor, weights.share_of_best * best)
