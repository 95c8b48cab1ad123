"""Five results, not one result five times. Pure.

Phrasings of one fact are folded into the best of them; what is left is chosen by maximal marginal relevance (Carbonell
and Goldstein, SIGIR 1998). The likeness to what was chosen is taken off as a share of the score, not as a constant: so
variety can prefer one good answer to another, but never lift what hardly fits.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hippo_core.recall.aim import without_project
from hippo_core.recall.stopwords import STOP_WORDS
from hippo_core.recall.weights import WEIGHTS

if TYPE_CHECKING:
    import numpy

_WORD = re.compile(r"\w+")
_FIGURED = re.compile(r"[\w.:/-]*\d(?:[\w:/-]|[.,](?=\w))*")
_NAME = re.compile(r"\b[^\W\d_a-z]\w+")  # begins with a capital
_SPELLED = re.compile(r"`[^`\n]+`|\w*[^\W_][._/-][^\W_]\w*|\b\w+[^\W\d_a-z]\w*|--\w+")  # code, a path, an identifier
_NUMBERS = frozenset("two three four five six seven eight nine ten eleven twelve twice thrice half".split())
_SHORT_NOT = re.compile(r"n't\b|(?<=can)not\b")
_DENIALS = frozenset(
    "not no never without dont doesnt didnt isnt arent cant wont nor none nothing nobody avoid stop stopped".split()
)
_OPPOSITES = [
    frozenset(pair.split("/"))
    for pair in (
        "on/off enabled/disabled enable/disable before/after allow/deny allow/forbid allowed/denied true/false "
        "allowed/forbidden "
        "public/private always/never add/remove added/removed include/exclude included/excluded start/stop up/down "
        "first/last minimum/maximum min/max more/less more/fewer above/below required/optional sync/async read/write "
        "synchronous/asynchronous reads/writes left/right open/closed opens/closes success/failure passes/fails "
        "accept/reject accepts/rejects old/new local/remote upload/download input/output with/without inside/outside "
        "manual/automatic manually/automatically client/server encode/decode lock/unlock ascending/descending "
        "internal/external faster/slower higher/lower increase/decrease yes/no"
    ).split()
]
_MOST_SWAPPED = 3  # words

Similarity = Callable[[int, int], float]


def folded(
    scores: Mapping[int, float],
    texts: Mapping[int, str],
    scopes: Mapping[int, str],
    similarity: Similarity,
    alike: float,
) -> dict[int, list[int]]:
    """The best of each group of phrasings of one fact -> the others of its group, best first.

    alike: the similarity from which two texts may say the same; whether they do is `says_the_same`'s. To be near to one
    of a group is enough, for the first and the last of five may be less alike than each is to the others; but none of
    the group may contradict it, and what holds in one scope says nothing of another.
    """

    def one_fact(a: int, b: int) -> bool:
        return scopes[a] == scopes[b] and says_the_same(texts[a], texts[b])

    groups: list[list[int]] = []
    for item in sorted(scores, key=lambda item: (-scores[item], item)):
        joined = [item]
        for group in list(groups):
            near = any(similarity(item, other) >= alike for other in group)
            if near and all(one_fact(a, b) for a in joined for b in group):
                groups.remove(group)
                joined += group
        groups.append(sorted(joined, key=lambda item: (-scores[item], item)))
    return {best: others for best, *others in groups}


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts that are alike may be one fact: no figure, name or denial differs, and no word in its place.

    A model finds "deploys go to staging" nearer to "deploys go to production" than to many of its own phrasings.
    """
    a, b = _parts(one), _parts(other)
    if a.figures != b.figures or a.denied != b.denied:
        return False
    if not (a.names <= frozenset(b.words) and b.names <= frozenset(a.words)):
        return False
    return not _opposed(a.words, b.words) and not _swapped(a.words, b.words)


class _Parts(NamedTuple):
    """figures: numbers, versions, hosts with ports. names: spellings, proper names. denied: what each denial is of."""

    words: tuple[str, ...]
    figures: frozenset[str]
    names: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=256)
def _parts(text: str) -> _Parts:
    plain = without_project(text).replace("’", "'")
    folded_text = _SHORT_NOT.sub(" not", plain.casefold())
    words = tuple(_WORD.findall(folded_text))
    figures = {*_FIGURED.findall(folded_text), *_NUMBERS.intersection(words)}
    inside = {found[0] for found in _NAME.finditer(plain) if not _begins_sentence(plain, found.start())}
    spelled = {found[0] for found in _SPELLED.finditer(plain)}
    names = {word for name in inside | spelled for word in _WORD.findall(name.casefold())}
    return _Parts(words, frozenset(figures), frozenset(names), frozenset(_denied(words)))


def _begins_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'`(*")
    return not before or before[-1] in ".!?:;\n—–-"


def _denied(words: Sequence[str]) -> Iterator[str]:
    """What each denial is of: the content word after it, else the last before it."""
    for place, word in enumerate(words):
        if word in _DENIALS:
            after = (w for w in words[place + 1 :] if len(w) > 1 and w not in STOP_WORDS)
            before = (w for w in reversed(words[:place]) if len(w) > 1 and w not in STOP_WORDS)
            yield next(after, next(before, ""))[:5]  # five letters: its beginning, whatever its ending


def _opposed(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether one of a pair of opposites is in the one text alone, and the other in the other alone."""
    only_a, only_b = set(a) - set(b), set(b) - set(a)
    return any(not pair.isdisjoint(only_a) and not pair.isdisjoint(only_b) for pair in _OPPOSITES)


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
    scores: Mapping[int, float], similarity: Similarity, count: int, discount: float = WEIGHTS.double_loses
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
    # All at once: one by one they take longer than the search. Not by `@`, whose threads spin (store/compact.py).
    cosines = numpy.maximum(numpy.einsum("ij,kj->ik", stacked, stacked), 0).tolist()

    def similarity(a: int, b: int) -> float:
        if a in rows and b in rows:
            return cosines[rows[a]][rows[b]]
        return otherwise(a, b)

    return similarity


def word_similarity(texts: Mapping[int, str]) -> Similarity:
    """Jaccard overlap of the content words of two texts."""

    @cache
    def words(item: int) -> frozenset[str]:
        return frozenset(_WORD.findall(texts[item].casefold())) - STOP_WORDS

    def similarity(a: int, b: int) -> float:
        either = len(words(a) | words(b))
        return len(words(a) & words(b)) / either if either else 1.0

    return similarity
