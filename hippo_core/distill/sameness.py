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
_DENIALS = frozenset(
    "not no never without don't doesn't isn't aren't won't can't cannot shouldn't avoid stop "
    "nicht nie niemals kein keine keinen ohne jamais pas sans nunca jamás sin".split()
)
# What a rule is said with and not about; a denial is compared by itself.
_FILLING = frozenset(
    "don t ever please never always not no bitte niemals nie immer nicht jamais toujours nunca siempre".split()
)
_CONTRARIES = tuple(
    frozenset(pair.split())
    for pair in "on off|with without|before after|least most|more less|more fewer|first last|min max|minimum maximum|"
    "up down|ascending descending|enable disable|enabled disabled|allow forbid|allowed forbidden|start stop|"
    "public private|always sometimes".split("|")
)
_LISTED = r"\s*(?:|,|/|&|\+|,?\s*\b(?:and|or|und|oder|et|ou|y|o)\b)\s*(?:(?:the|a|an|our)\s+)?"
_FEWEST_SHORT = 3  # content words that say enough
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
    """Whether two sentences say the same in nearly the same words: no number and no denial may differ.

    "Redis instead of Kafka" has all the words of "Kafka" and says the contrary, as may the same words in another order.
    """
    if denies(one) != denies(other) or _numbers(one) != _numbers(other):
        return False
    alike = overlap(one, other) >= SAME or _shortened(one, other)
    return alike and not (replaces(one, other) or replaces(other, one) or _contrary(one, other) or _swapped(one, other))


def _contrary(one: str, other: str) -> bool:
    """Whether one has a word where the other has its contrary."""
    a, b = (frozenset(word.lower() for word in _WORD.findall(body(text))) for text in (one, other))
    return any(not pair.isdisjoint(a - b) and not pair.isdisjoint(b - a) for pair in _CONTRARIES)


def _swapped(one: str, other: str) -> bool:
    """Whether two of the words that both have stand in each other's place: tabs over spaces, spaces over tabs.

    Where only "and" or the like is between them, or nothing as in "Redis cache", that changes nothing.
    """
    both = content_words(one) & content_words(other)
    a, b = ([stem for word in key_words(text) if (stem := _stem(word)) in both] for text in (one, other))
    differing = [place for place, (mine, yours) in enumerate(zip(a, b, strict=False)) if mine != yours]
    if len(a) != len(b) or len(differing) != 2:
        return False
    first, second = differing
    if (a[first], a[second]) != (b[second], b[first]):
        return False
    return not any(
        re.search(rf"\b{re.escape(words[first])}\w*{_LISTED}{re.escape(words[second])}", body(text).lower())
        for words, text in ((a, one), (b, other))
    )


def _shortened(one: str, other: str) -> bool:
    """Whether the shorter says what the longer says, but for its reason: none of its words is its own."""
    short, long = sorted((content_words(one) - _FILLING, content_words(other) - _FILLING), key=len)
    return len(short) >= _FEWEST_SHORT and short <= long and len(long) <= len(short) * 2


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


_THING, _STOPS = r".{2,40}?", r"(?=[.,;]|$| (?:because|since|for|in|on|as|when|so|with|after)\b)"
_ABROAD = r"(?=[.,;]|$| (?:weil|da|für|seit|parce|car|pour|porque|para|desde|en)\b)"
_REPLACES = re.compile(
    rf"\b(?:switch|migrat|mov|chang|convert)\w* (?:\S+ ){{0,5}}?from (?P<a>{_THING}) to (?P<new_a>{_THING}){_STOPS}"
    rf"|\breplac\w* (?P<b>{_THING}) (?:with|by) (?P<new_b>{_THING}){_STOPS}"
    rf"|\bus(?:e|ing) (?P<new_c>{_THING}) (?:instead of|rather than|not) (?P<c>{_THING}){_STOPS}"
    rf"|\b(?:no longer (?:us\w+ |support\w* )?|(?:we|i|team) (?:have )?(?:dropped|abandoned|retired|removed) "
    rf"(?:support for )?)"
    rf"(?P<d>{_THING}){_STOPS}"
    rf"|\bvon (?P<e>{_THING}) (?:auf|zu) (?P<new_e>{_THING}) (?:um\w+|gewechselt|migriert)\b"
    rf"|\b(?:nutz|verwend|benutz|nehm|setz)\w* (?:jetzt |nun |künftig )?(?P<new_f>{_THING}) (?:statt|anstelle von) "
    rf"(?P<f>{_THING}){_ABROAD}"
    rf"|\b(?:passé\w*|pass\w+|migré\w*) de (?P<g>{_THING}) à (?P<new_g>{_THING}){_ABROAD}"
    rf"|\b(?:cambi|pas|migr)\w+ de (?P<h>{_THING}) a (?P<new_h>{_THING}){_ABROAD}"
    rf"|\b(?:ersetz\w*|remplac\w+|reemplaz\w+) (?P<i>{_THING}) (?:durch|par|por|con) (?P<new_i>{_THING}){_ABROAD}",
    re.I,
)
_PURPOSE = re.compile(
    r"\b(?:for|für|pour|para) (?P<what>.{2,40}?)(?=[.,;:]|$| (?:because|since|so|and|as|in|weil|und|parce|porque|"
    r"with|after)\b)",
    re.I,
)
# What an earlier decision chose: the thing itself, and not what is said of it.
_CHOSE = re.compile(
    rf"\b(?:decided (?:on|for)|chose|settled on|opted for|went with|going with|stick with|stay (?:on|with)|switched "
    rf"to|moved to|"
    rf"the user chose:|agreed with the user:|keep supporting|we (?:still )?support|für|bleiben bei|choisi|decidimos "
    rf"usar|"
    rf"elegimos|usamos|(?:nutz|verwend|benutz|nehm)\w*|(?:use|uses|using)) (?:the |a |auf )?(?P<what>{_THING})"
    rf"(?=[.,;:]|$| (?:because|since|for|in|on|as|when|so|over|instead|rather|until|then|entschieden|statt|weil|und|"
    rf"parce|car|"
    rf"porque|en|y|et|it)\b)",
    re.I,
)


@lru_cache(maxsize=4096)
def replaced_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(what is given up, what takes its place) in "switched from A to B" and the like; both empty otherwise."""
    found = _REPLACES.search(text)
    if not found:
        return frozenset(), frozenset()
    groups = found.groupdict()
    name = next(name for name in "abcdefghi" if groups[name])
    return content_words(groups[name]), content_words(groups.get(f"new_{name}") or "")


@lru_cache(maxsize=4096)
def chosen_name(text: str) -> frozenset[str]:
    """What a decision took, in "we decided on A, because .." and the like; empty otherwise."""
    found = _CHOSE.search(text)
    return content_words(found["what"]) if found else frozenset()


def _purposes_differ(one: str, other: str) -> bool:
    """Whether both say what for, and not for the same: Redis for sessions, Redis for the queue."""
    purposes = [_PURPOSE.search(body(text)) for text in (one, other)]
    if not all(purposes):
        return False
    first, second = (content_words(purpose["what"]) for purpose in purposes)
    return bool(first and second) and first.isdisjoint(second)


def replaces(new: str, old: str) -> bool:
    """Whether `new`, said later in the same scope, makes `old` untrue by its wording or by a changed value."""
    if changed_value(old, new):
        return True
    given_up, instead = replaced_names(new)
    words = content_words(old)
    if not given_up or not given_up <= words or _purposes_differ(old, new):
        return False
    if chosen_name(old) == given_up or replaced_names(old) == (instead, given_up):
        return True
    if instead & words:
        return False
    rest = words - given_up
    return len(rest) <= 2 or not rest.isdisjoint(content_words(new))


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word
