"""Search in the raw archive: what was said, word for word. Reads only. Curated memories are not its concern."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hippo_core.recall.query import read_query
from hippo_core.recall.relevance import KEYWORDS_ONLY, coverage
from hippo_core.store import Store
from hippo_core.store.archive import Archived

_DEPTH = 100
_FLOOR = 0.15


@dataclass(frozen=True)
class ArchiveHit:
    """message: the hit. score: 0..1. before, after: neighbours of the same session, when asked for."""

    message: Archived
    score: float
    scope_label: str
    before: list[Archived] = field(default_factory=list)
    after: list[Archived] = field(default_factory=list)


def search_archive(
    store: Store, query: str, *, scopes: Sequence[str] | None, k: int = 5, around: int = 0, withheld: bool = False
) -> list[ArchiveHit]:
    """The messages that best hold the words of `query`, at most k, each with `around` turns before and after it.

    withheld: also those that the guard keeps from the model. UsageError for an empty query.
    """
    asked = read_query(query)
    words = (*asked.words, *asked.literals)
    if not words:
        return []
    with store.reading():
        ranked = store.archive.keyword_hits(words, scopes=scopes, limit=_DEPTH)
        numbers = [number for number, _ in ranked]
        total, _, _ = store.archive.counts()
        covered = coverage(store.archive.word_matches(words, among=numbers), total, numbers)
        best = ranked[0][1] if ranked else 1.0
        scores = {number: KEYWORDS_ONLY(covered[number], 0.0) * (0.8 + 0.2 * bm25 / best) for number, bm25 in ranked}
        messages = store.archive.fetch([number for number in numbers if scores[number] >= _FLOOR])
        shown = [m for m in messages.values() if withheld or m.withheld is None]
        shown.sort(key=lambda message: (-scores[message.id], message.id))
        return [_hit(store, message, scores[message.id], around) for message in shown[:k]]


def around_message(store: Store, number: int, count: int) -> ArchiveHit:
    """One message with its neighbours; NotFoundError when there is none."""
    with store.reading():
        return _hit(store, store.archive.get(number), 1.0, count)


def _hit(store: Store, message: Archived, score: float, around: int) -> ArchiveHit:
    labels = store.archive.projects()
    label = labels[message.scope].label if message.scope in labels else message.scope
    turns = store.archive.around(message.id, around) if around else [message]
    place = next(i for i, turn in enumerate(turns) if turn.id == message.id)
    return ArchiveHit(message, score, label, turns[:place], turns[place + 1 :])
