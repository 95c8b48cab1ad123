"""Episodes: stretches of a session, each one row of a keyword index, so that several turns speak for their session.

An episode is up to SIZE consecutive messages of one session, one speaker's file and one project; what the user said and
what others said are two columns, because they weigh differently. Everything here is derived from `message`: triggers
keep the index equal to the messages, and `Store.transaction` groups what was appended before it commits.
"""

import json
from collections.abc import Callable, Iterable, Sequence

import apsw

from hippo_core.store.postings import Among, ranked
from hippo_core.store.rows import insert_rows
from hippo_core.store.words import match_expression, totals

SIZE = 12
_INSERTED = "session_id, agent_id, scope, first_id, last_id, size"
_FIRST = 3  # of these, first_id


class Episodes:
    def __init__(self, db: apsw.Connection):
        self._db = db

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def group_appended(self, before: int) -> None:
        """Put as many messages into episodes as this transaction appended. before: `newest()` when it began.

        These are the same ones, unless an older version's archive still waits for its turn (`behind`).
        """
        appended = self.newest() - before
        if appended > 0:
            self.group(appended)

    def group(self, limit: int) -> int:
        """Put the next messages, at most `limit`, into episodes; returns how many."""
        rows = self._db.execute(
            "SELECT id, session_id, agent_id, scope FROM message WHERE id > ? ORDER BY id LIMIT ?",
            (self._grouped_to(), limit),
        ).fetchall()
        groups: dict[tuple, list[int]] = {}
        for number, *place in rows:
            groups.setdefault(tuple(place), []).append(number)
        new = [row for place, numbers in groups.items() for row in self._extend(place, numbers)]
        # In the order of their first messages, however many are grouped at once.
        new.sort(key=lambda row: row[_FIRST])
        insert_rows(self._db, f"INSERT INTO episode({_INSERTED})", new)
        return len(rows)

    def drop_empty(self) -> None:
        """Take away episodes whose messages are all gone."""
        self._db.execute(
            "DELETE FROM episode WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.session_id = episode.session_id "
            "AND m.id BETWEEN first_id AND last_id AND m.agent_id IS episode.agent_id AND m.scope = episode.scope)"
        )

    # -- reading -----------------------------------------------------------------------------------------------------

    def behind(self) -> bool:
        """Whether there are messages that no episode holds yet."""
        return self.newest() > self._grouped_to()

    def newest(self) -> int:
        """The highest number of a message."""
        return self._db.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()[0]

    def keyword_hits(
        self,
        words: Iterable[str],
        *,
        scopes: Sequence[str] | None,
        limit: int,
        user_weight: float,
        since: int = 0,
        share: float | None = None,
    ) -> list[tuple[str, float]]:
        """(session, BM25) of the episodes that hold any of `words`, best first; a user's word counts `user_weight`.

        since: only those that end after this message. share: as in Plan.
        """
        before = self._before(since)
        if share is None:
            query = match_expression(words, scopes, columns="user other")
            if query is None:
                return []
            hits = self._db.execute(
                "SELECT rowid, -bm25(episode_plain, ?, 1.0, 0.0) AS score FROM episode_plain "
                "WHERE episode_plain MATCH ? AND rowid > ? ORDER BY score DESC LIMIT ?",
                (user_weight, query, before, limit),
            ).fetchall()
        else:
            hits = self._ranked(words, scopes, limit, share, user_weight, since=before)
        return self._of_sessions(hits)

    def hits_with(
        self,
        words: Sequence[str],
        messages: Sequence[int],
        *,
        scopes: Sequence[str] | None,
        limit: int,
        share: float,
        user_weight: float,
        known: Callable[[str], int | None],
    ) -> list[tuple[str, float]]:
        """As `keyword_hits`, of the episodes that these messages are in. known: how many messages hold a word."""
        rows = self._holding(messages)
        if not rows:
            return []
        total, newest = totals(self._db, "episode_plain")[0], max(1, self.newest())

        def frequency(word: str) -> float | None:
            count = known(word)
            return None if count is None else total * (1 - (1 - min(1.0, count / newest)) ** SIZE)

        among = Among(rows, min(rows), max(rows), frequency)
        return self._of_sessions(self._ranked(words, scopes, limit, share, user_weight, among=among))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _ranked(
        self,
        words: Sequence[str],
        scopes: Sequence[str] | None,
        limit: int,
        share: float,
        user_weight: float,
        since: int = 0,
        among: Among | None = None,
    ) -> list[tuple[int, float]]:
        columns, more = {"user": user_weight, "other": 1.0}, {"share": share, "since": since, "among": among}
        return ranked(self._db, "episode_plain", words, columns, scopes=scopes, limit=limit, **more)

    def _of_sessions(self, hits: Sequence[tuple[int, float]]) -> list[tuple[str, float]]:
        marks = ",".join("?" * len(hits))
        sql = f"SELECT id, session_id FROM episode WHERE id IN ({marks})"
        sessions = dict(self._db.execute(sql, tuple(number for number, _ in hits)))
        return [(sessions[number], score) for number, score in hits]

    def _holding(self, messages: Sequence[int]) -> frozenset[int]:
        """The episodes that these messages are in."""
        rows = self._db.execute(
            "SELECT (SELECT e.id FROM episode e WHERE e.session_id = m.session_id AND e.first_id <= m.id "
            "AND e.agent_id IS m.agent_id AND e.scope = m.scope ORDER BY e.first_id DESC LIMIT 1) "
            "FROM message m WHERE m.id IN (SELECT value FROM json_each(?))",
            (json.dumps(messages),),
        )
        return frozenset(number for (number,) in rows if number is not None)

    def _before(self, since: int) -> int:
        """The last episode that ends at message `since` or earlier, as episodes are made in the order of messages."""
        if not since:
            return 0
        row = self._db.execute("SELECT id FROM episode WHERE last_id <= ? ORDER BY last_id DESC LIMIT 1", (since,))
        return (row.fetchone() or (0,))[0]

    def _grouped_to(self) -> int:
        """Messages are grouped in the order of their numbers, so the last one says how far that is."""
        return self._db.execute("SELECT coalesce(max(last_id), 0) FROM episode").fetchone()[0]

    def _extend(self, place: tuple, numbers: Sequence[int]) -> list[tuple]:
        """Put what fits of these messages into the place's last episode; rows of new ones for the others."""
        last = self._db.execute(
            "SELECT id, size FROM episode WHERE session_id = ? AND agent_id IS ? AND scope = ? "
            "ORDER BY first_id DESC LIMIT 1",
            place,
        ).fetchone()
        if last and last[1] < SIZE:
            numbers, joining = numbers[SIZE - last[1] :], numbers[: SIZE - last[1]]
            self._db.execute(
                "UPDATE episode SET last_id = ?, size = size + ? WHERE id = ?", (joining[-1], len(joining), last[0])
            )
        groups = [numbers[start : start + SIZE] for start in range(0, len(numbers), SIZE)]
        return [(*place, some[0], some[-1], len(some)) for some in groups]
