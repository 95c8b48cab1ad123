"""When archived messages were said: those of a time, and the time of those. Reads only; knows no wording of times."""

from collections.abc import Iterable, Sequence

import apsw

from hippo_core.store.words import match_expression

Span = tuple[float | None, float | None]  # seconds, [start, end); None for open

_GONE_THROUGH = 20_000  # messages of a span, at most; 10 ms
_NOT_WITHHELD = "id NOT IN (SELECT id FROM message WHERE withheld IS NOT NULL)"


class SaidWhen:
    def __init__(self, db: apsw.Connection):
        self._db = db

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
        self, words: Iterable[str], span: Span, *, scopes: Sequence[str] | None, limit: int, since: int = 0
    ) -> list[tuple[int, float]]:
        """As `Archive.keyword_hits`, of the messages of `span` alone; none when it is too wide to be gone through."""
        query = match_expression(words, scopes)
        if query is None or not self._narrow(span):
            return []
        return self._db.execute(  # the plus leaves the lead to the index of words; the span is a set to look into
            "SELECT rowid, -rank FROM message_plain WHERE message_plain MATCH ? AND rowid > ? "
            "AND +rowid IN (SELECT id FROM message WHERE at >= ? AND at < ?) ORDER BY rank LIMIT ?",
            (query, since, *_bounds(span), limit),
        ).fetchall()

    def episode_hits(
        self, words: Iterable[str], span: Span, *, scopes: Sequence[str] | None, limit: int, user_weight: float
    ) -> list[tuple[str, float]]:
        """As `Episodes.keyword_hits`, of the sessions that talked in `span` alone; none when it is too wide."""
        query = match_expression(words, scopes, columns="user other")
        if query is None or not self._narrow(span):
            return []
        return self._db.execute(
            "SELECT e.session_id, -bm25(episode_plain, ?, 1.0, 0.0) AS score FROM episode_plain "
            "JOIN episode e ON e.id = episode_plain.rowid WHERE episode_plain MATCH ? "
            "AND e.session_id IN (SELECT session_id FROM message WHERE at >= ? AND at < ?) ORDER BY score DESC LIMIT ?",
            (user_weight, query, *_bounds(span), limit),
        ).fetchall()

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

    def _narrow(self, span: Span) -> bool:
        rows = "SELECT 1 FROM message WHERE at >= ? AND at < ? LIMIT ?"
        (count,) = self._db.execute(f"SELECT count(*) FROM ({rows})", (*_bounds(span), _GONE_THROUGH + 1)).fetchone()
        return count <= _GONE_THROUGH


def _bounds(span: Span) -> tuple[float, float]:
    start, end = span
    return 0.0 if start is None else start, 1e12 if end is None else end
