"""What a memory is about, told from what it merely mentions: "Auth depends on Redis" is about auth. Pure.

A memory has names: the words it opens with, up to the first function word or mark, and what it says is another name of
its subject ("GitHub Actions (GHA)", "also called", "Aliases: .."). A question that says a name in full asks for that
memory. Others that hold the same words in passing, or but a part of that name, are then beside the point.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hippo_core.recall.relevance import worth_showing
from hippo_core.recall.stopwords import STOP_WORDS
from hippo_core.recall.weights import WEIGHTS, Weights

_LONGEST_NAME = 4  # words
_LONGEST_NOTE = 300  # letters; a longer text speaks of more than what it opens with
_TOKEN = re.compile(r"[^\W_]+(?:['’.+#/-]*[^\W_]+)*[+#]*|[^\w\s]|\n")
# Few questions need the following: each is compiled when it is first used, by `re` itself.
_OTHER_NAMES = r"(?i)\b(?:aka|a\.k\.a\.|alias(?:es)?:?|also (?:called|known as|named)|short for)\s+([^.;()\n]{2,200})"
_SIGNS_OF_OTHER_NAMES = ("(", "aka", "a.k.a.", "alias", "also ", "short for")  # no text without has such a name
_IN_BRACKETS = r"((?:[^\s(]+ ){1,4})\(([^\W\d_][^\s()]{1,19})\)"
_DEPENDS = r"(?i)\b(depend|rely|reli|requir|need)\w* (?:(?:up)?on )?((?:[^\s.;:,()]+ ?){1,4})"
_PROJECT = r"\AIn [^:\n]{1,60}: "  # how a learned memory names its project
_JOINING = frozenset("of for in on with over and or to from by at".split())
_VERBS = frozenset(
    "is are was were be been isn't aren't wasn't has have had hasn't haven't must should can cannot can't will won't "
    "would could may might shall do does did don't doesn't didn't depends requires lives needs sends holds "
    "handles takes contains returns serves carries costs listens supports replaced reads writes runs".split()
)
_LISTED = r",| or | and "
_ENDING = re.compile(r"['’]s$|(?<=[^\Ws]{3})s$")

Name = tuple[str, ...]


class Aim(NamedTuple):
    """named: memories that the question asks for by a name. beside: those that are beside the point for it.

    needed: what those named say that their subject depends on, where that is asked.
    """

    named: frozenset[int]
    beside: frozenset[int]
    needed: frozenset[int] = frozenset()


def aim(
    question: str,
    words: Mapping[str, frozenset[int]],
    texts: Mapping[int, str],
    relevances: Mapping[int, float],
    weights: Weights = WEIGHTS,
) -> Aim:
    """What the question names of the candidates, and what is beside its point. words: its words -> who holds each."""
    asked = plain(question)
    said = {number: found for number, text in texts.items() if (found := names_said(asked, text))}
    held: dict[int, set[str]] = {number: set() for number in texts}
    for word, holders in words.items():
        for number in holders & texts.keys():
            held[number].add(word)
    beside = _beside_the_complete(held, len(words), relevances, weights)
    beside |= _beside_the_wanted(question, held, texts, relevances, weights)
    if said:
        beside |= _beside_the_named(said, words, texts, held, relevances, weights)
    needed = _needed(asked, said, texts)
    return Aim(frozenset(said), frozenset(beside - said.keys() - needed), needed)


def _beside_the_complete(
    held: Mapping[int, set[str]], asked: int, relevances: Mapping[int, float], weights: Weights
) -> set[int]:
    """What lacks some of the question's words where the best, or nearly the best, holds them all."""
    best = max(relevances.values(), default=0.0)
    nearly = weights.nearly_best * best
    if not any(len(held[number]) == asked and value >= nearly for number, value in relevances.items()):
        return set()
    return {n for n, value in relevances.items() if len(held[n]) < asked and value < weights.beside_complete * best}


def _beside_the_wanted(
    question: str,
    held: Mapping[int, set[str]],
    texts: Mapping[int, str],
    relevances: Mapping[int, float],
    weights: Weights,
) -> set[int]:
    """Where a question ends in two words together: what holds its words in other forms alone, and not the last.

    For that one says what is wanted: "writing preferences" are preferences, and "writes TypeScript" is none. If nothing
    that is shown holds it, it tells nothing: "testing strategy" may be answered by what says "test".
    """
    ending = [token for token in _TOKEN.findall(question) if token[0].isalnum()][-2:]
    if len(ending) < 2 or any(map(_is_function, ending)):
        return set()
    wanted = {number for number, words in held.items() if ending[1].casefold() in map(str.casefold, words)}
    if not wanted & worth_showing(relevances, weights):
        return set()

    def is_beside(number: int) -> bool:
        own, text = held[number], texts[number]
        if not own or number in wanted or relevances[number] >= weights.sure or len(text) > _LONGEST_NOTE:
            return False
        said = frozenset(plain(text))
        return not any(said.issuperset(plain(word)) for word in own)

    return {number for number in held if is_beside(number)}


def _beside_the_named(
    said: Mapping[int, set[Name]],
    words: Mapping[str, frozenset[int]],
    texts: Mapping[int, str],
    held: Mapping[int, set[str]],
    relevances: Mapping[int, float],
    weights: Weights,
) -> set[int]:
    names = {name for found in said.values() for name in found}
    parts = {part for name in names for part in name}
    parts_of = {word: plain(word) for word in words}
    of_a_name = {word for word, its in parts_of.items() if parts.issuperset(its)}
    theirs = set().union(*(held[number] for number in said))
    best = max(relevances[number] for number in said)

    def is_beside(number: int) -> bool:
        value, own = relevances[number], held[number]
        if value < best * (weights.beside_without if own <= theirs else weights.beside_with_own_words):
            return True
        if any(_within(name, _subject(texts[number])) for name in names):
            return False
        if any(own <= held[other] and value < weights.beside_same_words * relevances[other] for other in said):
            return True
        holds = {part for word in own for part in parts_of[word]}
        return bool(own) and own <= of_a_name and value < weights.sure and not any(map(holds.issuperset, names))

    return {number for number in held if is_beside(number)}


def names_said(question: Sequence[str], text: str) -> set[Name]:
    """Those names of a memory that the question says in full, in one piece."""
    if not _may_have_other_names(text) and not _may_open_with(question, text):
        return set()  # most texts: next to nothing is read of them
    return {name for name in names_of(text) if _within(name, question)}


def _may_have_other_names(text: str) -> bool:
    folded = text.casefold()
    return any(sign in folded for sign in _SIGNS_OF_OTHER_NAMES)


def _may_open_with(question: Collection[str], text: str) -> bool:
    """Whether the first content word of a text is among the question's: any name that it opens with begins so."""
    return next((_folded(token) in question for token in _first_sentence(text) if not _is_function(token)), False)


@lru_cache(maxsize=512)
def names_of(text: str) -> frozenset[Name]:
    """All names of what the text is about; none of a text too long to be about one thing."""
    if len(text) > _LONGEST_NOTE:
        return frozenset()
    names = [_opening(text)]
    if _may_have_other_names(text):
        names += [plain(name) for listed in re.findall(_OTHER_NAMES, text) for name in re.split(_LISTED, listed)]
        names += [plain(name) for before, name in re.findall(_IN_BRACKETS, text) if _abbreviates(name, before)]
    return frozenset(name for name in names if 0 < len(name) <= _LONGEST_NAME)


def plain(text: str) -> Name:
    """The words of a question or a name as they are compared: no function words, no case, no plural."""
    return tuple(_folded(token) for token in _TOKEN.findall(text) if token[0].isalnum() and not _is_function(token))


def without_project(text: str) -> str:
    """The text without the project that a learned memory begins with: it is the scope's name, not the subject's."""
    return re.sub(_PROJECT, "", text, count=1) if text.startswith("In ") else text


def _opening(text: str) -> Name:
    """The content words a text opens with: all of a heading, else what stands before the first function word."""
    sentence = list(_first_sentence(text))
    functions = [token.casefold() for token in sentence if _is_function(token) or token.casefold() in _VERBS]
    return plain(" ".join(sentence)) if _JOINING.issuperset(functions) else _before_function(sentence)


def _before_function(sentence: Sequence[str]) -> Name:
    def goes_on(token: str) -> bool:
        return not _is_function(token) and token.casefold() not in _VERBS

    return tuple(map(_folded, itertools.takewhile(goes_on, itertools.dropwhile(_is_function, sentence))))


@lru_cache(maxsize=512)
def _subject(text: str) -> Name:
    """What stands before the verb, as far as that can be told: "Webhooks from Adyen are verified" speaks of Adyen."""
    sentence = list(_first_sentence(text))
    verb = next((place for place, token in enumerate(sentence) if place and token.casefold() in _VERBS), None)
    return plain(" ".join(sentence[:verb])) if verb else _before_function(sentence)


def _first_sentence(text: str) -> Iterator[str]:
    """The words before the first mark that has words before it."""
    begun = False
    for found in _TOKEN.finditer(without_project(text)[:_LONGEST_NOTE]):
        token = found[0]
        if token[0].isalnum():
            begun = True
            yield token
        elif begun:
            return


def _abbreviates(name: str, before: str) -> bool:
    """GHA after GitHub Actions, OTA after over-the-air: the capitals of what is before, or its first letters."""
    capitals = "".join(filter(str.isupper, before))
    firsts = "".join(part[0] for part in re.findall(r"[^\W_]+", before))
    return len(name) > 1 and any(letters.casefold().endswith(name.casefold()) for letters in (capitals, firsts))


def _needed(asked: Sequence[str], said: Iterable[int], texts: Mapping[int, str]) -> frozenset[int]:
    """Among the candidates those that are about what a named one says that it depends on."""
    things = [
        plain(thing)
        for number in said
        for relation, thing in re.findall(_DEPENDS, texts[number])
        if any(word.startswith(relation.casefold()) for word in asked)
    ]
    return frozenset(number for number, text in texts.items() if any(names_said(thing, text) for thing in things))


def _within(name: Name, words: Sequence[str]) -> bool:
    return any(tuple(words[start : start + len(name)]) == name for start in range(len(words) - len(name) + 1))


@lru_cache(maxsize=2_048)
def _is_function(token: str) -> bool:
    return token.casefold().replace("’", "'") in STOP_WORDS


def _folded(token: str) -> str:
    return _ENDING.sub("", token.casefold())
