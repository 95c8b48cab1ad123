"""The raw archive: every meaningful message, append-only. Rows leave or change only through `door`.

Knows nothing of transcript files beyond the number of the source a row came from.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import apsw

from hippo_core import clock
from hippo_core.errors import NotFoundError
from hippo_core.model.memory import message_id
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, Scope
from hippo_core.store.forgotten import Forgotten
from hippo_core.store.message_vectors import MessageVectors
from hippo_core.store.rows import insert_rows
from hippo_core.store.words import pairs

_SESSIONS_AT_ONCE = 500
_TITLE = 60  # letters of a session's title
_COLUMNS = "id, uid, session_id, agent_id, scope, role, command, text, at, withheld"
_COLUMNS_OF_TURN = ", ".join(f"turn.{name}" for name in _COLUMNS.split(", "))
_APPENDED = "uid, session_id, agent_id, scope, role, command, text, cjk, at, withheld, source_id, offset"
MOST_AT_ONCE = 200  # messages; as many long ones fit into memory, and as many values into a statement


class Entry(NamedTuple):
    """A message on its way into the archive. source_id: the file it came from. withheld: as in `Archived`."""

    message: Message
    scope: Scope
    source_id: int
    withheld: str | None


class Archived(NamedTuple):
    """A message as stored. withheld: the guard's reason why nothing is distilled or injected from it, else None."""

    id: int
    uid: str
    session_id: str
    agent_id: str | None
    scope: str
    role: Role
    command: str | None
    text: str
    at: float | None
    withheld: str | None

    @property
    def public_id(self) -> str:
        return message_id(self.id)


class Archive:
    def __init__(self, db: apsw.Connection, vectors: MessageVectors):
        self._db, self._vectors = db, vectors
        self._forgotten = Forgotten(db)

    # -- writing: call inside Store.transaction() ------------------------------------------------------------------

    def append(self, message: Message, *, scope: Scope, source_id: int, withheld: str | None = None) -> bool:
        """Store one guarded message. False when it is there already, or was forgotten by the user."""
        return bool(self.append_all([Entry(message, scope, source_id, withheld)]))

    def append_all(self, entries: Sequence[Entry]) -> list[Entry]:
        """Store guarded messages, at most MOST_AT_ONCE, in their order. Returns those that were not there already.

        One statement for all of them: an index for words writes out what it has gathered before every statement.
        """
        uids = [entry.message.uid for entry in entries]
        marks = ",".join("?" * len(uids))
        known = {uid for (uid,) in self._db.execute(f"SELECT uid FROM message WHERE uid IN ({marks})", uids)}
        known |= self._forgotten.among([entry.message for entry in entries])
        added: dict[str, Entry] = {}
        scopes: dict[str, Scope] = {}
        sessions: dict[str, Entry] = {}
        for entry in entries:
            if entry.message.uid not in known and entry.message.uid not in added:
                added[entry.message.uid] = entry
                scopes.setdefault(entry.scope.key, entry.scope)
                sessions.setdefault(entry.message.session_id, entry)
        projects = [(scope.key, scope.label, scope.identity) for scope in scopes.values()]
        insert_rows(self._db, "INSERT OR IGNORE INTO archive_project", projects)
        insert_rows(self._db, "INSERT OR IGNORE INTO archive_session", map(_session_row, sessions.values()))
        insert_rows(self._db, f"INSERT INTO message({_APPENDED})", map(_message_row, added.values()))
        return list(added.values())

    @contextlib.contextmanager
    def door(self, name: str, messages: int, memories: int) -> Iterator[None]:
        """Lift the append-only rule inside the running transaction, and leave a record without content."""
        self._db.execute("INSERT INTO archive_door VALUES (?)", (name,))
        yield
        self._db.execute("DELETE FROM archive_door")
        self._db.execute("INSERT INTO archive_door_record VALUES (?, ?, ?, ?)", (clock.now(), name, messages, memories))

    def erase(self, numbers: Iterable[int], texts: Iterable[str] = ()) -> int:
        """Delete messages for good and remember, by digest, that they may not come back. Inside `door`.

        texts: what is not to come back in any other message either.
        """
        uids = []
        for number in numbers:
            uids += [uid for (uid,) in self._db.execute("SELECT uid FROM message WHERE id = ?", (number,))]
            self._vectors.drop(number)
            self._db.execute("DELETE FROM message WHERE id = ?", (number,))
        self._forgotten.remember(uids, texts)
        return len(uids)

    # -- reading -----------------------------------------------------------------------------------------------------

    def get(self, number: int) -> Archived:
        found = self.fetch([number])
        if not found:
            raise NotFoundError(f"There is no archived message {message_id(number)}. See: hippo archive QUERY")
        return found[number]

    def fetch(self, numbers: Sequence[int]) -> dict[int, Archived]:
        """The messages with these row numbers, by number; missing ones are left out."""
        rows = self._select(f"WHERE id IN ({','.join('?' * len(numbers))})", tuple(numbers))
        return {row.id: row for row in rows}

    def by_uid(self, uids: Sequence[str]) -> list[Archived]:
        return self._select(f"WHERE uid IN ({','.join('?' * len(uids))}) ORDER BY id", tuple(uids))

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Of each message: the transcript it was read from, and the byte at which its line begins there."""
        rows = self._db.execute(
            "SELECT message.id, path, message.offset FROM message JOIN ingest_source s ON s.id = source_id "
            f"WHERE message.id IN ({','.join('?' * len(numbers))})",
            tuple(numbers),
        )
        return {number: (path, offset) for number, path, offset in rows}

    def session(self, session_id: str, after: int = 0) -> list[Archived]:
        """A session's messages in the order of its files, those past row number `after`."""
        return self._select("WHERE session_id = ? AND id > ? ORDER BY id", (session_id, after))

    def session_places(self, session_ids: Iterable[str]) -> dict[str, tuple[Scope, str | None]]:
        """The project and the folder that each of these sessions began in; those not archived are left out."""
        wanted, places = iter(session_ids), {}
        while some := tuple(islice(wanted, _SESSIONS_AT_ONCE)):
            rows = self._db.execute(
                "SELECT s.id, p.key, p.label, p.identity, s.cwd FROM archive_session s "
                f"JOIN archive_project p ON p.key = s.scope WHERE s.id IN ({','.join('?' * len(some))})",
                some,
            )
            for session, key, label, identity, cwd in rows:
                places[session] = (GLOBAL_SCOPE if key == GLOBAL else Scope(key, "project", label, identity)), cwd
        return places

    def session_place(self, session_id: str) -> tuple[Scope, str | None] | None:
        """As `session_places`, of one; None when it is not archived."""
        return self.session_places([session_id]).get(session_id)

    def beside(self, numbers: Sequence[int], count: int) -> dict[int, tuple[list[Archived], list[Archived]]]:
        """Of each message `count` turns before it and after it, of the same session and the same speaker's file."""
        same = "SELECT id FROM message WHERE session_id = hit.session_id AND agent_id IS hit.agent_id"
        rows = self._db.execute(
            f"SELECT hit.id, {_COLUMNS_OF_TURN} FROM message hit CROSS JOIN message turn ON turn.id IN ("
            f"SELECT id FROM ({same} AND id < hit.id ORDER BY id DESC LIMIT ?) "
            f"UNION ALL SELECT id FROM ({same} AND id > hit.id ORDER BY id LIMIT ?)) "
            f"WHERE hit.id IN ({','.join('?' * len(numbers))}) ORDER BY turn.id",
            (count, count, *numbers),
        )
        turns: dict[int, tuple[list[Archived], list[Archived]]] = {number: ([], []) for number in numbers}
        for number, *row in rows:
            turn = _archived(row)
            turns[number][turn.id > number].append(turn)
        return turns

    def places(self, numbers: Sequence[int], *, withheld: bool) -> dict[int, tuple[str, Role]]:
        """(session, who speaks) of these messages. withheld: also of those that the guard keeps from the model."""
        allowed = "" if withheld else " AND id NOT IN (SELECT id FROM message WHERE withheld IS NOT NULL)"
        rows = self._db.execute(
            f"SELECT id, session_id, role FROM message WHERE id IN (SELECT value FROM json_each(?)){allowed}",
            (json.dumps(numbers),),
        )
        return {number: (session, Role(role)) for number, session, role in rows}

    def session_head(self, session_id: str) -> tuple[str | None, float | None]:
        """What a session began with, in one line (its title), and when that was."""
        row = self._db.execute(
            "SELECT text FROM message WHERE session_id = ? AND agent_id IS NULL AND role = 'user' AND withheld IS NULL "
            "ORDER BY id LIMIT 1",
            (session_id,),
        ).fetchone()
        began = self._db.execute("SELECT started_at FROM archive_session WHERE id = ?", (session_id,)).fetchone()
        line = " ".join(row[0].split()) if row else None
        if line and len(line) > _TITLE:
            line = line[: _TITLE - 1].rsplit(" ", 1)[0] + "…"
        return line, began[0] if began else None

    def projects(self) -> dict[str, Scope]:
        """Every project with archived sessions, by scope key."""
        rows = self._db.execute("SELECT key, label, identity FROM archive_project")
        return {key: Scope(key, "project", label, identity) for key, label, identity in rows}

    def counts(self) -> tuple[int, int, int]:
        """(messages, sessions, projects) in the archive."""
        return self._db.execute(
            "SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM archive_session), "
            "(SELECT count(*) FROM archive_project WHERE key != ?)",
            (GLOBAL,),
        ).fetchone()

    def bytes(self) -> int:
        """What the archive takes in the file: its messages, words and vectors, and what is made of them.

        All pages but the free ones and those of the rest, which is small: to count the archive's own reads all of it.
        """
        pages, free, size = (self._db.pragma(name) for name in ("page_count", "freelist_count", "page_size"))
        (rest,) = self._db.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name IN ("
            "SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE rootpage > 0 AND NOT "
            "(tbl_name GLOB 'message*' OR tbl_name GLOB 'episode*' OR tbl_name GLOB 'archive_*'))"
        ).fetchone()
        return (pages - free) * size - rest

    def span(self) -> tuple[float | None, float | None]:
        """When the first and the last archived message were said; None in an empty archive."""
        return self._db.execute("SELECT min(at), max(at) FROM message").fetchone()

    def session_counts(self) -> dict[str, int]:
        """Number of sessions of each scope; GLOBAL has those that belong to no project."""
        return dict(self._db.execute("SELECT scope, count(*) FROM archive_session GROUP BY 1"))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _select(self, rest: str, values: tuple) -> list[Archived]:
        rows = self._db.execute(f"SELECT {_COLUMNS} FROM message {rest}", values)
        return list(map(_archived, rows))


def _archived(row: Sequence) -> Archived:
    return Archived(*row[:5], Role(row[5]), *row[6:])


def _session_row(entry: Entry) -> tuple:
    message = entry.message
    return message.session_id, entry.scope.key, message.cwd, message.branch, message.at


def _message_row(entry: Entry) -> tuple:
    message, scope, source_id, withheld = entry
    return (
        message.uid,
        message.session_id,
        message.agent_id,
        scope.key,
        message.role.value,
        message.command,
        message.text,
        pairs(message.text),
        message.at,
        withheld,
        source_id,
        message.offset,
    )
