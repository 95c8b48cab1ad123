"""What the parts of a search cost: all that is looked up by words and, in the archive, by vectors. Knows no aims."""

import statistics
from collections.abc import Callable, Sequence

import awkward
import grown
from cold_and_warm import ALL

from hippo_core.embed.base import Embedder
from hippo_core.recall.archive import DEPTH, Search, read_archive_query
from hippo_core.recall.channels import Found, Where, by_keyword
from hippo_core.recall.query import read_query
from hippo_core.recall.sessions import MEANING, REPLY
from hippo_core.store import Store

PLACES = {ALL: "", "project": "in one project", "small": "in a small one"}  # the last in a large archive alone

Clock = Callable[[], float]  # in seconds
Cell = tuple[float, float]  # milliseconds: median, worst
Parts = dict[str, dict[str, Cell]]  # where -> what


def of_memories(store: Store, clock: Clock) -> Parts:
    """All that is looked up by words in memories, for the questions of awkward.py."""

    def words(question: str) -> None:
        by_keyword(store, read_query(question), Where(None, None), Found())

    common = awkward.commonest_in_memories(store)
    asked = {"commonest": awkward.of_common_words(common), "spellings": awkward.of_spellings(common)}
    return {ALL: {name: _milliseconds(questions, clock, words) for name, questions in asked.items()}}


def of_archive(store: Store, embedder: Embedder, questions: Sequence[str], clock: Clock) -> Parts:
    """All that is looked up by words, for `questions` ("words") and those of awkward.py; and by vectors ("meaning"),
    without the questions' own."""
    asked: dict[str, Sequence[str]] = {"words": questions}
    if common := awkward.commonest(store):  # a small archive has no word that would be counted
        asked["commonest"] = awkward.of_common_words(common)
        asked["about budgets"] = awkward.of_words_about(store)
        asked["spellings"] = awkward.of_spellings(common)
        asked["times"] = awkward.of_times(common)
    vectors = {question: embedder.embed([question])[0].tobytes() for question in questions}
    parts: Parts = {}
    places: dict[str, list[str] | None] = {ALL: None, "project": [grown.projects()[0].key]}
    if grown.SMALL.key in store.archive.projects():
        places["small"] = [grown.SMALL.key]
    for where, scopes in places.items():

        def words(question: str, scopes: list[str] | None = scopes) -> None:
            Search(store, read_archive_query(question, grown.NOW), scopes).by_words()

        def meaning(question: str, scopes: list[str] | None = scopes) -> None:
            for kind in (MEANING, REPLY):
                store.message_vectors.nearest(
                    embedder.fingerprint, kind, vectors[question], scopes=scopes, limit=DEPTH[kind]
                )

        parts[where] = {name: _milliseconds(some, clock, words) for name, some in asked.items()}
        parts[where]["meaning"] = _milliseconds(questions, clock, meaning)
    return parts


def _milliseconds(questions: Sequence[str], clock: Clock, search: Callable[[str], object]) -> Cell:
    """Of each question the median of three, after one that warms up."""
    times: list[float] = []
    for question in questions:
        search(question)
        taken = []
        for _ in range(3):
            started = clock()
            search(question)
            taken.append((clock() - started) * 1000)
        times.append(statistics.median(taken))
    return statistics.median(times), max(times)
