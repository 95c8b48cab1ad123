"""Five results, not one result five times: maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998). Pure.

The likeness to what was chosen is taken off as a share of the score, not as a constant: so variety can prefer one
good answer to another, but never lift what hardly fits.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

DISCOUNT = 1 / 3  # what a perfect double of something chosen loses of its score
_WORD = re.compile(r"\w+")

Similarity = Callable[[int, int], float]


def most_varied(
    scores: Mapping[int, float], similarity: Similarity, count: int, discount: float = DISCOUNT
) -> list[int]:
    """The `count` items that are good and unlike each other, in the order chosen. The best is always first."""
    left = sorted(scores, key=lambda item: (-scores[item], item))
    closest = dict.fromkeys(left, 0.0)  # to anything chosen so far
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda item: scores[item] * (1 - discount * closest[item]))
        left.remove(best)
        chosen.append(best)
        for item in left:
            closest[item] = max(closest[item], similarity(item, best))
    return chosen


def vector_similarity(vectors: "Mapping[int, numpy.ndarray]", otherwise: Similarity) -> Similarity:
    """Cosine of unit vectors; `otherwise` for a pair that lacks one."""

    def similarity(a: int, b: int) -> float:
        if a in vectors and b in vectors:
            return max(0.0, float(vectors[a] @ vectors[b]))
        return otherwise(a, b)

    return similarity


def word_similarity(texts: Mapping[int, str]) -> Similarity:
    """Jaccard overlap of the words of two texts."""
    words = {item: frozenset(_WORD.findall(text.casefold())) for item, text in texts.items()}

    def similarity(a: int, b: int) -> float:
        either = len(words[a] | words[b])
        return len(words[a] & words[b]) / either if either else 1.0

    return similarity
