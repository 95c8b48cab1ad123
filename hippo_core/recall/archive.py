"""Search in the raw archive: what was said, word for word. Reads only. Curated memories are not its concern."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hippo_core.model.scope import Scope
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.query import read_query
from hippo_core.recall.relevance import Evidence, coverage, relevance, worth_showing
from hippo_core.store import Store
from hippo_core.store.archive import Archived

_DEPTH = 100


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
    if asked.empty:
        return []
    with store.reading():
        ranked = store.archive.keyword_hits(asked.terms, scopes=scopes, limit=_DEPTH)
        fused = reciprocal_ranks({"words": ranked}, {"words": 1.0})
        total, _, _ = store.archive.counts()
        covered = coverage(store.archive.word_matches(asked.terms, among=list(fused)), total, list(fused))
        scores = {number: relevance(Evidence(covered[number], fused[number], None)) for number in fused}
        messages = store.archive.fetch(list(worth_showing(scores)))
        shown = [message for message in messages.values() if withheld or message.withheld is None]
        shown.sort(key=lambda message: (-scores[message.id], message.id))
        labels = store.archive.projects()
        return [_hit(store, message, scores[message.id], labels, around) for message in shown[:k]]


def around_message(store: Store, number: int, count: int) -> ArchiveHit:
    """One message with its neighbours; NotFoundError when there is none."""
    with store.reading():
        return _hit(store, store.archive.get(number), 1.0, store.archive.projects(), count)


def _hit(store: Store, message: Archived, score: float, labels: Mapping[str, Scope], around: int) -> ArchiveHit:
    label = labels[message.scope].label if message.scope in labels else message.scope
    turns = store.archive.around(message.id, around) if around else [message]
    place = next(i for i, turn in enumerate(turns) if turn.id == message.id)
    return ArchiveHit(message, score, label, turns[:place], turns[place + 1 :])
