"""What the parts of a search in the archive cost: its lists of words, and its lists of vectors. Knows no aims."""

import statistics
from collections.abc import Callable, Sequence

import grown

from hippo_core.embed.base import Embedder
from hippo_core.recall.archive import DEPTH, Search
from hippo_core.recall.query import read_query
from hippo_core.recall.sessions import MEANING, REPLY
from hippo_core.store import Store

COMMONEST = 60  # words, of which the hardest questions are made

Cell = tuple[float, float]  # median, worst


def measure(store: Store, embedder: Embedder, questions: Sequence[str], clock: Callable[[], float]) -> dict[str, Cell]:
    """Milliseconds by part and place. "commonest": the lists of words, for questions of the commonest words."""
    vectors = {question: embedder.embed([question])[0].tobytes() for question in questions}
    cells: dict[str, Cell] = {}
    for where, scopes in (("all", None), ("project", [grown.projects()[0].key])):

        def words(question: str, scopes: list[str] | None = scopes) -> None:
            Search(store, read_query(question), scopes).by_words()

        def meaning(question: str, scopes: list[str] | None = scopes) -> None:
            for kind in (MEANING, REPLY):
                store.message_vectors.nearest(
                    embedder.fingerprint, kind, vectors[question], scopes=scopes, limit=DEPTH[kind]
                )

        cells[f"words, {where}"] = _milliseconds(questions, clock, words)
        cells[f"commonest, {where}"] = _milliseconds(hardest(store) or questions, clock, words)
        cells[f"meaning, {where}"] = _milliseconds(questions, clock, meaning)
    return cells


def hardest(store: Store) -> list[str]:
    """Questions of the commonest words that a question may hold, from one of them to twelve."""
    rows = store._db.execute("SELECT word FROM archive_word ORDER BY messages DESC").fetchall()
    common = [word for (word,) in rows if word.isalpha() and not read_query(word).empty][:COMMONEST]
    if not common:
        return []
    return [" ".join(common[start : start + size]) for size in (1, 2, 4, 8, 12) for start in (0, 12, 24)]


def _milliseconds(questions: Sequence[str], clock: Callable[[], float], search: Callable[[str], object]) -> Cell:
    times: list[float] = []
    for _ in range(2):  # the first round warms up
        times = []
        for question in questions:
            started = clock()
            search(question)
            times.append((clock() - started) * 1000)
    return statistics.median(times), max(times)
