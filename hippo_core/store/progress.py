"""Where ingestion stands: the watermark of each transcript file and of each session's distilling.

Written in the same transaction as the rows a watermark stands for. Knows nothing of what was ingested.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw

from hippo_core import clock
from hippo_core.store.rows import insert_rows

_LARGEST = 2**63 - 1  # as nanoseconds the year 2262; a clock may be further ahead than that
MOST_ATTEMPTS = 3  # then a file that fails is set aside


class Source(NamedTuple):
    """A transcript file as last processed: everything before byte `offset` is in the archive.

    digest: of the bytes before `offset`, so that a rewritten file is told from an appended one; None when unknown.
    identity: what else the system said of the file, None in a store of an older version.
    """

    id: int
    path: str
    size: int = 0
    mtime_ns: int = 0
    offset: int = 0
    digest: bytes | None = None
    bad_lines: int = 0
    attempts: int = 0
    error: str | None = None
    identity: str | None = None

    @property
    def set_aside(self) -> bool:
        """Whether it failed so often that it is left alone until it changes."""
        return self.error is not None and self.attempts >= MOST_ATTEMPTS


_COLUMNS = ", ".join(Source._fields)


class Progress:
    def __init__(self, db: apsw.Connection):
        self._db = db

    def sources(self) -> dict[str, Source]:
        """Every known transcript file, by path."""
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM ingest_source")
        return {row[1]: Source(*row) for row in rows}

    def begin_source(self, path: str) -> Source:
        """The row of a file, created when it is new. In a transaction."""
        return self.begin_sources([path])[path]

    def begin_sources(self, paths: Sequence[str]) -> dict[str, Source]:
        """The rows of these files, those of new ones created. In a transaction."""
        now = clock.now()
        insert_rows(self._db, "INSERT OR IGNORE INTO ingest_source(path, updated_at)", [(path, now) for path in paths])
        marks = ",".join("?" * len(paths))
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM ingest_source WHERE path IN ({marks})", tuple(paths))
        return {row[1]: Source(*row) for row in rows}

    def save_source(self, source: Source, **changes: object) -> Source:
        """Write a file's new state. In a transaction, with the rows it stands for."""
        new = source._replace(**changes)
        self.save_sources([new])
        return new

    def save_sources(self, sources: Iterable[Source]) -> None:
        """Write the new states of files that were begun. In a transaction, with the rows they stand for."""
        now = clock.now()
        rows = [(*source, now) for source in sources]
        insert_rows(self._db, f"REPLACE INTO ingest_source({_COLUMNS}, updated_at)", rows)

    def undistilled(self, idle_since: float | None) -> list[str]:
        """Sessions with messages past their watermark, oldest first; with `idle_since` (seconds) only those at rest.

        At rest: no file of the session changed after that time, or its last message is older (a copied transcript is
        young as a file and long over as a session).
        """
        # Two look-ups in an index for each session, whatever the number of messages: every pass asks this.
        rows = self._db.execute(
            "SELECT s.id FROM archive_session s LEFT JOIN ingest_session d ON d.session_id = s.id "
            "WHERE (SELECT max(m.id) FROM message m WHERE m.session_id = s.id) > coalesce(d.distilled_to, 0) "
            "ORDER BY (SELECT min(m.id) FROM message m WHERE m.session_id = s.id)"
        ).fetchall()
        return [session for (session,) in rows if idle_since is None or self._at_rest(session, idle_since)]

    def _at_rest(self, session_id: str, since: float) -> bool:
        row = self._db.execute(
            "SELECT max(s.mtime_ns) <= ? OR max(m.at) <= ? FROM message m JOIN ingest_source s ON s.id = m.source_id "
            "WHERE m.session_id = ?",
            (min(int(since * 1e9), _LARGEST), since, session_id),
        ).fetchone()
        return bool(row[0])

    def distilled_to(self, sessions: Sequence[str]) -> dict[str, int]:
        """Of each session the row number of the last message that was distilled; those not begun are left out."""
        rows = self._db.execute(
            "SELECT session_id, distilled_to FROM ingest_session WHERE session_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sessions),),
        )
        return dict(rows)

    def save_distilled(self, watermarks: Mapping[str, int]) -> None:
        """Move the watermarks of sessions. In a transaction, with the memories they stand for."""
        now = clock.now()
        insert_rows(self._db, "REPLACE INTO ingest_session", [(session, to, now) for session, to in watermarks.items()])
