"""What the parts of a search in the archive cost: all that is looked up by words, and by vectors. Knows no aims."""

import statistics
from collections.abc import Callable, Sequence

import awkward
import grown

from hippo_core.embed.base import Embedder
from hippo_core.recall.archive import DEPTH, Search, read_archive_query
from hippo_core.recall.sessions import MEANING, REPLY
from hippo_core.store import Store

Cell = tuple[float, float]  # median, worst
BY_WORDS = ("words", "commonest", "about budgets", "spellings", "times")


def measure(store: Store, embedder: Embedder, questions: Sequence[str], clock: Callable[[], float]) -> dict[str, Cell]:
    """Milliseconds by part and place. "words": of `questions`; "meaning": of these, without the questions' vectors.

    The others: all that is looked up by words for the questions of awkward.py.
    """
    common = awkward.commonest(store)
    asked: dict[str, Sequence[str]] = {"words": questions}
    if common:  # a small archive has no word that would be counted
        asked["commonest"] = awkward.of_common_words(common)
        asked["about budgets"] = awkward.of_words_about(store)
        asked["spellings"] = awkward.of_spellings(common)
        asked["times"] = awkward.of_times(common)
    vectors = {question: embedder.embed([question])[0].tobytes() for question in questions}
    cells: dict[str, Cell] = {}
    for where, scopes in (("all", None), ("project", [grown.projects()[0].key])):

        def words(question: str, scopes: list[str] | None = scopes) -> None:
            Search(store, read_archive_query(question, grown.NOW), scopes).by_words()

        def meaning(question: str, scopes: list[str] | None = scopes) -> None:
            for kind in (MEANING, REPLY):
                store.message_vectors.nearest(
                    embedder.fingerprint, kind, vectors[question], scopes=scopes, limit=DEPTH[kind]
                )

        for name in BY_WORDS:
            cells[f"{name}, {where}"] = _milliseconds(asked.get(name, questions), clock, words)
        cells[f"meaning, {where}"] = _milliseconds(questions, clock, meaning)
    return cells


def _milliseconds(questions: Sequence[str], clock: Callable[[], float], search: Callable[[str], object]) -> Cell:
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
