"""The ways a memory can be found: its exact spelling, its words, its meaning. Each gives a list, best first.

Knows the store's indexes; knows nothing of how lists are combined. A channel that cannot serve gives no list.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hippo_core.embed.base import Embedder, foresees
from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.recall.query import Query, is_unmistakable
from hippo_core.recall.spelling import by_spelling, spelled
from hippo_core.recall.typos import likely_meant, may_be_slip
from hippo_core.store import Store
from hippo_core.store.memories import EXACT, PLAIN

if TYPE_CHECKING:
    import numpy

EXACT_CHANNEL, PLAIN_CHANNEL, VECTOR_CHANNEL, TIME_CHANNEL = "exact", "words", "meaning", "time"
DEPTH = 50  # how far down each list is read
MOST_SETTLED = 10  # more memories than that with a name in them leave something to be ranked by meaning
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/'’][^\W\d_]+)+")  # rate-limiting, client/server: written without as well
ASKED_BEFORE = "asked before: the model was not asked again"
SETTLED = "the spelling answers: the model was not asked"


class Where(NamedTuple):
    """What may be searched; None means everything."""

    scopes: Sequence[str] | None
    types: Sequence[MemoryType] | None


class Found:
    """lists: channel -> [(memory number, the channel's own score)], best first. notes: what could not be asked.
    remarks: what was done otherwise than usual, for who wants an explanation.

    question: the question's unit vector, and whose it is; None when no vectors were searched.
    """

    def __init__(self) -> None:
        self.lists: dict[str, list[tuple[int, float]]] = {}
        self.notes: list[str] = []
        self.remarks: list[str] = []
        self.question: tuple[str, numpy.ndarray] | None = None


def search(store: Store, query: Query, where: Where, embedder: Embedder | None) -> Found:
    """Ask every channel that is there."""
    found = Found()
    by_keyword(store, query, where, found)
    by_time(store, query, where, found)
    if query.time_alone:
        return found
    if settles(query, found):
        found.remarks.append(SETTLED)
        return found
    by_meaning(store, query, where, embedder, found)
    return found


def begin(store: Store, query: Query, embedder: Embedder | None) -> None:
    """Let a model that is at hand begin on the question, while its words are looked up."""
    if query.empty or query.time_alone or query.names_only or not foresees(embedder):
        return
    if store.vectors.available and store.vectors.has(embedder.fingerprint):
        embedder.expect(query.text)


def mended(store: Store, query: Query) -> tuple[Query, list[str]]:
    """The question with its slips of the fingers mended, and what was read as what. What anybody wrote is no slip."""
    meant: dict[str, str] = {}
    for word in query.words:
        if word in query.literals or not may_be_slip(word) or store.memories.knows(word):
            continue
        near = store.memories.known_words(word[0].casefold(), range(len(word) - 1, len(word) + 2))
        if better := likely_meant(word, near):
            meant[word.casefold()] = better
    if not meant:
        return query, []
    return query.with_words(meant), [f"{word} read as {better}" for word, better in meant.items()]


def by_keyword(store: Store, query: Query, where: Where, found: Found) -> None:
    def hits(index: str, words: Sequence[str]) -> list[tuple[int, float]]:
        return store.memories.keyword_hits(words, index=index, scopes=where.scopes, types=where.types, limit=DEPTH)

    plain = hits(PLAIN, query.terms) if query.terms else []
    if query.literals:
        inside = plain if query.terms == query.literals else hits(PLAIN, query.literals)
        found.lists[EXACT_CHANNEL] = _as_spelled(store, query, hits(EXACT, query.literals), inside)
    if query.terms:
        found.lists[PLAIN_CHANNEL] = plain


def _as_spelled(
    store: Store, query: Query, whole: list[tuple[int, float]], inside: list[tuple[int, float]]
) -> list[tuple[int, float]]:
    """What holds the literals as they are spelled, as words of their own or inside others, a path for example.

    Where nothing does, what the exact index found: it takes letters with and without accents for the same.
    """
    ranked = list(dict([*inside, *whole]).items())
    return by_spelling(query.literals, store.memories.texts([number for number, _ in ranked]), ranked) or whole


def holding(store: Store, query: Query, texts: Mapping[int, str]) -> list[tuple[int, frozenset[int]]]:
    """For each of the question's terms: in how many memories it is, and in which of these.

    Where one of these holds a name as it is spelled, what holds but its words ("force" for --force) does not hold it.
    """
    matches = store.memories.word_matches(query.terms, index=PLAIN, among=list(texts))
    for place, term in enumerate(query.terms):
        frequency, holders = matches[place]
        if term in query.literals and is_unmistakable(term) and not _COMPOUND.fullmatch(term):
            as_spelled = frozenset(number for number in holders if spelled([term], texts[number]))
            matches[place] = frequency, as_spelled or holders
    return matches


def settles(query: Query, found: Found) -> bool:
    """Whether spelling alone has answered: it asks for names only, and a few memories hold all of them."""
    if not query.names_only:
        return False
    complete = [number for number, count in found.lists[EXACT_CHANNEL] if count == len(query.literals)]
    return 0 < len(complete) <= MOST_SETTLED


def by_time(store: Store, query: Query, where: Where, found: Found) -> None:
    """What is of the time that is asked for, newest first."""
    when = query.when
    if when is not None and when.dated:
        numbers = store.memories.of_time(when.start, when.end, scopes=where.scopes, types=where.types, limit=DEPTH)
        found.lists[TIME_CHANNEL] = [(number, 0.0) for number in numbers]


def by_meaning(store: Store, query: Query, where: Where, embedder: Embedder | None, found: Found) -> None:
    if embedder is None:
        found.notes.append("no embedding model: keywords only")
        return
    if not store.vectors.available:
        found.notes.append("no vector index here: keywords only")
        return
    if not store.vectors.has(embedder.fingerprint):
        found.notes.append("nothing is embedded by this model yet: keywords only")
        return
    try:
        vector = embedder.embed([query.text])[0]
    except VectorsUnavailableError as error:
        found.notes.append(f"keywords only: {error}")
        return
    from hippo_core.embed.cache import CachedQueries  # whoever has a model has it

    if isinstance(embedder, CachedQueries) and embedder.skipped:
        found.remarks.append(ASKED_BEFORE)
    found.question = (embedder.fingerprint, vector)
    found.lists[VECTOR_CHANNEL] = store.vectors.nearest(
        embedder.fingerprint, vector.tobytes(), scopes=where.scopes, types=where.types, limit=DEPTH
    )
