"""Reads a question: plain words for the stemmed index, literals for the exact one. Pure; knows no store, no model."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hippo_core.embed.borders import best_cut, composed, well_formed
from hippo_core.errors import UsageError
from hippo_core.recall.quotes import quotations
from hippo_core.recall.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from hippo_core.recall.when import When

MOST_LETTERS = 2_000  # a pasted log is no question; its beginning is
MOST_WORDS = 24
MOST_LITERALS = 8

_OPENING, _CLOSING = "\"'`([{<«“‘*,;:", "\"'`)]}>»”’*,;:!?."
_WORD_PART = re.compile(r"[^\W_]+")
_TO_DO = (  # compiled by `re` when it is first used
    r"(?i)\b(to-?dos?|tasks|task list|what(?:'s| is) (?:left|next|open|pending)|next steps?|open (?:items?|points?)|"
    r"(?:still|left|remains?|remaining|need|have) to (?:do|finish|fix)|unfinished|pending|backlog|work on next)\b"
)
# A glance at whether a time may be named: the patterns of times take 10 ms to build, and few questions need them.
_TIMELY = frozenset(
    "last past previous week weekend month quarter year morning today yesterday ago recent recently lately these since "
    "before after until till between latest newest current currently nowadays now moment date up-to-date january "
    "february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_ANYTHING = frozenset(
    "happen happened happening decide decided decision decisions change changed changes learn learned learnt work "
    "worked new news discuss discussed talk talked find found do did done note notes memories remember".split()
)


class Query(NamedTuple):
    """text: what is embedded. words: content words, each once. literals: spellings to be found as they stand.

    when: the time it asks about.
    """

    text: str
    words: tuple[str, ...]
    literals: tuple[str, ...]
    when: "When | None" = None

    def with_words(self, meant: Mapping[str, str]) -> "Query":
        """The same question with other words in place of some."""
        text = re.sub(r"[^\W_]+", lambda found: meant.get(found[0].casefold(), found[0]), self.text)
        words = _distinct([meant.get(word.casefold(), word) for word in self.words])
        return self._replace(text=text, words=words)

    @property
    def to_do(self) -> bool:
        """Whether it asks for work that is left."""
        return re.search(_TO_DO, self.text) is not None

    @property
    def terms(self) -> tuple[str, ...]:
        """What the index of plain words is asked for: the words, and quoted phrases as phrases."""
        return _distinct([*self.words, *self.literals])

    @property
    def empty(self) -> bool:
        """Nothing in it can be looked for: "ok", "thanks", "?!"."""
        return not self.words and not self.literals and not self.time_alone

    @property
    def time_alone(self) -> bool:
        """It asks for whatever is of a time: "what happened yesterday"."""
        dated = self.when is not None and self.when.dated
        return dated and not self.literals and all(word.casefold() in _ANYTHING for word in self.words)

    @property
    def names_only(self) -> bool:
        """It asks for nothing but spellings that mean one thing: a path, a flag, a code, a quoted phrase.

        A product's name is a spelling as well, but what is known of the product may be written without it.
        """
        spellings = " ".join(self.literals).casefold()
        asked = all(word.casefold() in spellings for word in self.words)
        return bool(self.literals) and asked and self.unmistakable == self.literals

    @property
    def unmistakable(self) -> tuple[str, ...]:
        """Spellings that mean one thing."""
        return tuple(filter(is_unmistakable, self.literals))


def read_query(raw: str, now: float | None = None) -> Query:
    """The question as the channels need it; UsageError when there is none.

    now: seconds; a time that the question names is taken out of it. None: times are words like others.
    """
    text = composed(well_formed(raw)).replace("\0", " ").strip()
    if not text:
        raise UsageError('There is nothing to look for. Ask in a few words, for example: "flaky tests"')
    if len(text) > MOST_LETTERS:
        text = text[: best_cut(text, MOST_LETTERS // 2, MOST_LETTERS)].strip()
    when = None
    if now is not None and _may_name_time(text):
        from hippo_core.recall.when import read_when

        when, text = read_when(text, now)
    literals = quotations(text)
    words: list[str] = []
    for token in text.split():
        token = token.lstrip(_OPENING).rstrip(_CLOSING)
        if _is_literal(token):
            literals.append(token)
        if _is_content(token):
            words.append(token)
    return Query(
        text,
        _distinct(words)[:MOST_WORDS],
        tuple(text for text in _distinct(literals) if any(map(str.isalnum, text)))[:MOST_LITERALS],
        when,
    )


def _is_content(token: str) -> bool:
    folded = token.casefold().replace("’", "'")
    return folded not in STOP_WORDS and any(map(str.isalnum, token))


def _is_literal(token: str) -> bool:
    """A name rather than a word: brain.py, --force, MAX_RETRIES, v1.0.21, E4012, getUserName, HTTP."""
    parts = _WORD_PART.findall(token)
    if not parts or token.casefold().replace("’", "'") in STOP_WORDS:
        return False
    inside = token.strip("'’")
    marked = any(not c.isalnum() and c not in "'’" for c in inside)
    numbered = any(map(str.isdigit, token)) and len(token) > 1
    cased = len(token) > 2 and any(map(str.isupper, token[1:]))
    return marked or numbered or cased


def _may_name_time(text: str) -> bool:
    tokens = (token.strip(_OPENING + _CLOSING) for token in text.casefold().replace("’", "'").split())
    return any(token.removesuffix("'s") in _TIMELY or token[:2] == "20" for token in tokens)


def is_unmistakable(literal: str) -> bool:
    """Whether a spelling means one thing, however it is written elsewhere."""
    return any(not c.isalnum() for c in literal) or sum(map(str.isdigit, literal)) >= 3


def _distinct(items: Sequence[str]) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(item.casefold(), item)
    return tuple(first.values())
