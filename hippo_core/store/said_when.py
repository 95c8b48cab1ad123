"""When archived messages were said: those of a time, and the time of those. Reads only; knows no wording of times."""

import json
from collections.abc import Container, Sequence

import apsw

from hippo_core.store.episodes import Episodes
from hippo_core.store.frequencies import Frequencies
from hippo_core.store.message_words import MessageWords
from hippo_core.store.postings import Among

Span = tuple[float | None, float | None]  # seconds, [start, end); None for open

_GONE_THROUGH = 20_000  # messages of a span, at most
_LISTED = 4_000  # of its rows that hold a word
_NOT_WITHHELD = "id NOT IN (SELECT id FROM message WHERE withheld IS NOT NULL)"


class SaidWhen:
    def __init__(self, db: apsw.Connection, words: MessageWords, episodes: Episodes, frequencies: Frequencies):
        self._db, self._words, self._episodes, self._frequencies = db, words, episodes, frequencies

    def times(self, numbers: Sequence[int]) -> dict[int, float]:
        """When these messages were said, of those where that is known."""
        marks = ",".join("?" * len(numbers))
        sql = f"SELECT id, at FROM message WHERE id IN ({marks}) AND at IS NOT NULL"
        return dict(self._db.execute(sql, tuple(numbers)))

    def began(self, sessions: Sequence[str]) -> dict[str, float]:
        """When these sessions began, of those where that is known."""
        marks = ",".join("?" * len(sessions))
        sql = f"SELECT id, started_at FROM archive_session WHERE id IN ({marks}) AND started_at IS NOT NULL"
        return dict(self._db.execute(sql, tuple(sessions)))

    def keyword_hits(
        self,
        words: Sequence[str],
        span: Span,
        *,
        scopes: Sequence[str] | None,
        limits: tuple[int, int],
        user_weight: float,
    ) -> tuple[list[tuple[int, float]], list[tuple[str, float]]]:
        """As `MessageWords.keyword_hits`, of the messages of `span`; as `Episodes.keyword_hits`, of what these are in.

        limits: of either. Nothing when the span is too wide to be gone through.
        """
        known = self._frequencies
        among = self._among(span)
        if among is None or not words:
            return [], []
        plan = known.plan_among(words, scopes, among.first, among.last, _LISTED)
        where = {"scopes": scopes, "share": plan.share}
        turns = self._words.ranked(plan.words, **where, limit=limits[0], since=plan.since, among=among)
        in_turns = [number for number, _ in turns]
        more = {"limit": limits[1], "user_weight": user_weight, "known": known.of}
        return turns, self._episodes.hits_with(plan.words, in_turns, **where, **more)

    def openings(self, span: Span, *, scopes: Sequence[str] | None, limit: int) -> list[int]:
        """What the user first said in `span` in each session that talked then; the latest session first.

        Of a wide span the newest messages alone are looked at. Without what the guard withheld.
        """
        where, values = "", ()
        if scopes is not None:
            where, values = f" AND scope IN ({','.join('?' * len(scopes))})", tuple(scopes)
        rows = self._db.execute(
            "SELECT min(id) FROM (SELECT id, session_id, agent_id, role, scope, at FROM message "
            "WHERE at >= ? AND at < ? ORDER BY at DESC LIMIT ?) "
            f"WHERE role = 'user' AND agent_id IS NULL AND {_NOT_WITHHELD}{where} "
            "GROUP BY session_id ORDER BY max(at) DESC LIMIT ?",
            (*_bounds(span), _GONE_THROUGH, *values, limit),
        )
        return [number for (number,) in rows]

    def _among(self, span: Span) -> Among | None:
        """The messages of a span; None when there are none, or too many."""
        rows, bounds = "SELECT id FROM message WHERE at >= ? AND at < ? LIMIT ?", (*_bounds(span), _GONE_THROUGH + 1)
        count, first, last = self._db.execute(f"SELECT count(*), min(id), max(id) FROM ({rows})", bounds).fetchone()
        if not 0 < count <= _GONE_THROUGH:
            return None
        numbers: Container[int] = range(first, last + 1)
        if count < len(numbers):  # messages of other times lie between them
            numbers = frozenset(json.loads(self._db.execute(f"SELECT json_group_array(id) FROM ({rows})", bounds).get))
        return Among(numbers, first, last, self._frequencies.of)


def _bounds(span: Span) -> tuple[float, float]:
    start, end = span
    return 0.0 if start is None else start, 1e12 if end is None else end
