"""When two memories say the same thing, and when one replaces the other. Pure functions on text.

Used inside a session by the distiller and across sessions by the reconcile step.
"""

import re
from functools import lru_cache

SAME = 0.7  # overlap of content words from which two sentences are one

_WORD = re.compile(r"[^\W_]+(?:[-_./:+][^\W_]+)*")
_PROJECT = re.compile(r"^In [^:]{1,60}: ")
_STOP = frozenset(
    "a an the this that these those it its is are was were be been being has have had do does did will would can could "
    "should may might must to of in on at by for from with as into and or but so if then than because since when while "
    "i you we they he she our your their my me us them there here now also just very really already still all any some "
    "user wants use uses used using".split()
)
_DENIALS = frozenset("not no never without don't doesn't isn't aren't won't can't cannot shouldn't avoid stop".split())
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")


def key_words(text: str) -> list[str]:
    """The words that carry meaning, as written but in lower case, each once."""
    words = (word.lower() for word in _WORD.findall(body(text)))
    return list(dict.fromkeys(word for word in words if word not in _STOP))


def body(text: str) -> str:
    """`text` without the project that the distiller put in front."""
    return _PROJECT.sub("", text)


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, in lower case, with plural and tense cut off roughly."""
    return frozenset(_stem(word) for word in key_words(text))


def overlap(one: str, other: str) -> float:
    """Share of the content words that both have, of all they have together: 0 nothing, 1 the same (Jaccard)."""
    a, b = content_words(one), content_words(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def contained(one: str, other: str) -> float:
    """Share of the shorter sentence's content words that the other has, too."""
    a, b = content_words(one), content_words(other)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def same(one: str, other: str) -> bool:
    """Whether two sentences say the same in nearly the same words: no number and no denial may differ."""
    if denies(one) != denies(other) or _numbers(one) != _numbers(other):
        return False
    return overlap(one, other) >= SAME


@lru_cache(maxsize=4096)
def denies(text: str) -> bool:
    return not _DENIALS.isdisjoint(text.lower().replace("\u2019", "'").split())


def changed_value(old: str, new: str) -> bool:
    """Whether both say the same of the same subject but with another value: a port, a version, a count.

    Everything but numbers must agree, and each side must bring one of the same kind that the other lacks.
    """
    if denies(old) != denies(new):
        return False
    a, b = content_words(old), content_words(new)
    only_a, only_b = a - b, b - a
    if not only_a or len(only_a) != len(only_b) or len(a & b) < 2:
        return False
    kinds = [sorted(_NUMBER.sub("#", word) for word in side) for side in (only_a, only_b)]
    return kinds[0] == kinds[1] and all("#" in kind for kind in kinds[0])


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


_THING, _STOPS = r".{2,40}?", r"(?=[.,;]|$| (?:because|since|for|in|on|as|when|so)\b)"
_REPLACES = re.compile(
    rf"\b(?:switch|migrat|mov|chang|convert)\w* (?:\S+ ){{0,5}}?from (?P<a>{_THING}) to (?P<new_a>{_THING}){_STOPS}"
    rf"|\breplac\w* (?P<b>{_THING}) (?:with|by) (?P<new_b>{_THING}){_STOPS}"
    rf"|\bus(?:e|ing) (?P<new_c>{_THING}) (?:instead of|rather than|not) (?P<c>{_THING}){_STOPS}"
    rf"|\bno longer (?:us\w+ )?(?P<d>{_THING}){_STOPS}",
    re.I,
)


@lru_cache(maxsize=4096)
def replaced_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(what is given up, what takes its place) in "switched from A to B" and the like; both empty otherwise."""
    found = _REPLACES.search(text)
    if not found:
        return frozenset(), frozenset()
    groups = found.groupdict()
    old = next(groups[name] for name in "abcd" if groups[name])
    new = next((groups[name] for name in ("new_a", "new_b", "new_c") if groups[name]), "")
    return content_words(old), content_words(new)


def replaces(new: str, old: str) -> bool:
    """Whether `new`, said later in the same scope, makes `old` untrue by its wording or by a changed value."""
    if changed_value(old, new):
        return True
    given_up, instead = replaced_names(new)
    words = content_words(old)
    if not given_up or not given_up <= words or instead & words:
        return False
    rest = words - given_up
    return len(rest) <= 2 or not rest.isdisjoint(content_words(new))


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word
