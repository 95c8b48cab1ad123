"""Five results, not one result five times. Pure.

Phrasings of one fact are folded into the best of them; what is left is chosen by maximal marginal relevance (Carbonell
and Goldstein, SIGIR 1998). The likeness to what was chosen is taken off as a share of the score, not as a constant: so
variety can prefer one good answer to another, but never lift what hardly fits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from hippo_core.recall.stopwords import STOP_WORDS

if TYPE_CHECKING:
    import numpy

# From which likeness on two texts are compared word by word: the cosine of unit vectors, or the overlap of words.
ALIKE_IN_MEANING, ALIKE_IN_WORDS = 0.84, 0.6
DISCOUNT = 1 / 3  # what a perfect double of something chosen loses of its score
_WORD = re.compile(r"\w+")
_FIGURE = re.compile(r"\d+(?:[.:,]\d+)*")
_DENIALS = frozenset("not no never without cannot don doesn isn aren won can't shouldn avoid stop".split())
_MOST_SWAPPED = 3  # words

Similarity = Callable[[int, int], float]


def folded(
    scores: Mapping[int, float], texts: Mapping[int, str], similarity: Similarity, alike: float
) -> dict[int, list[int]]:
    """The best of each group of phrasings of one fact -> the others of its group, best first.

    alike: the similarity from which two texts may say the same; whether they do is `says_the_same`'s. One phrasing of a
    group is enough, for the first and the last of five may be less alike than each is to the others.
    """
    groups: list[list[int]] = []
    for item in sorted(scores, key=lambda item: (-scores[item], item)):
        near = [
            group
            for group in groups
            if any(similarity(item, other) >= alike and says_the_same(texts[item], texts[other]) for other in group)
        ]
        joined = [item]
        for group in near:
            groups.remove(group)
            joined += group
        groups.append(sorted(joined, key=lambda item: (-scores[item], item)))
    return {best: others for best, *others in groups}


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts that are alike may be one fact: no figure, no denial, no word in the same place differs.

    A model finds "deploys go to staging" nearer to "deploys go to production" than to many of its own phrasings.
    """
    figures_a, denied_a, words_a = _parts(one)
    figures_b, denied_b, words_b = _parts(other)
    return figures_a == figures_b and denied_a == denied_b and not _swapped(words_a, words_b)


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[frozenset[str], bool, tuple[str, ...]]:
    """A text's figures, whether it denies something, its words."""
    words = tuple(_WORD.findall(text.casefold()))
    return frozenset(_FIGURE.findall(text)), not _DENIALS.isdisjoint(words), words


def _swapped(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether the two are one sentence but for a few content words: each in its place, or some in one place."""
    if len(a) == len(b):
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if 0 < len(pairs) <= min(_MOST_SWAPPED, len(a) // 2):
            return any(x not in STOP_WORDS and y not in STOP_WORDS for x, y in pairs)
    start, shorter = 0, min(len(a), len(b))
    while start < shorter and a[start] == b[start]:
        start += 1
    end = 0
    while end < shorter - start and a[-1 - end] == b[-1 - end]:
        end += 1
    only_a, only_b = a[start : len(a) - end], b[start : len(b) - end]
    if max(len(only_a), len(only_b)) > min(_MOST_SWAPPED, start + end):
        return False
    return not STOP_WORDS.issuperset(only_a) and not STOP_WORDS.issuperset(only_b)


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
    import numpy

    rows = {item: row for row, item in enumerate(vectors)}
    stacked = numpy.stack(list(vectors.values()))
    cosines = numpy.maximum(stacked @ stacked.T, 0).tolist()  # all at once: one by one they take longer than the search

    def similarity(a: int, b: int) -> float:
        if a in rows and b in rows:
            return cosines[rows[a]][rows[b]]
        return otherwise(a, b)

    return similarity


def word_similarity(texts: Mapping[int, str]) -> Similarity:
    """Jaccard overlap of the content words of two texts."""
    words = {item: frozenset(_WORD.findall(text.casefold())) - STOP_WORDS for item, text in texts.items()}

    def similarity(a: int, b: int) -> float:
        either = len(words[a] | words[b])
        return len(words[a] & words[b]) / either if either else 1.0

    return similarity
