"""The nights: which memories a job changed by itself, and taking such a change back.

A change can be taken back as long as nothing else has happened to the memory since. Knows nothing of why a job changed
it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from hippo_core import clock
from hippo_core.errors import NotFoundError, VersionConflictError
from hippo_core.model.memory import ACTIVE, memory_id
from hippo_core.store.memories import Memories

UNDO = "undo"


@dataclass(frozen=True)
class Night:
    """began_at: seconds. changes: how many memories it changed; open: how many of these can still be taken back."""

    id: int
    began_at: float
    changes: int
    open: int


@dataclass(frozen=True)
class Change:
    """One journalled change of a night. version: the memory's before it; None where that state was forgotten."""

    entry: int
    night: int
    memory_id: int
    action: str
    version: int | None


class Nights:
    def __init__(self, db: apsw.Connection, memories: Memories):
        self._db, self._memories = db, memories

    # -- a night's own work: call inside Store.transaction() ---------------------------------------------------------

    def begin(self) -> int:
        """A new night; its number."""
        self._db.execute("INSERT INTO night(began_at) VALUES (?)", (clock.now(),))
        return self._db.last_insert_rowid()

    def due(self, kind: str, confirmed_before: float) -> list[int]:
        """Active memories of a type that a job may retire, last confirmed before then, oldest first.

        Not those that are human, pinned, or were taken back by the user since then.
        """
        rows = self._db.execute(
            "SELECT id FROM memory m WHERE status = 'active' AND type = ? AND author = 'machine' AND NOT pinned "
            "AND confirmed_at < ? AND NOT EXISTS (SELECT 1 FROM journal WHERE memory_id = m.id AND action = ? "
            "AND at >= ?) ORDER BY confirmed_at, id",
            (kind, confirmed_before, UNDO, confirmed_before),
        )
        return [number for (number,) in rows]

    def retired_since(self, moment: float) -> int:
        """How many memories nights have retired since then."""
        return self._db.execute(
            "SELECT count(*) FROM journal WHERE action = 'retire' AND night IN "
            "(SELECT id FROM night WHERE began_at > ?)",
            (moment,),
        ).fetchone()[0]

    # -- looking back ------------------------------------------------------------------------------------------------

    def recent(self, limit: int) -> list[Night]:
        """The last nights in which anything was changed, newest first."""
        rows = self._db.execute(
            "SELECT n.id, n.began_at, count(*), coalesce(sum(m.version = json_extract(j.before, '$.version') + 1), 0) "
            "FROM night n JOIN journal j ON j.night = n.id LEFT JOIN memory m ON m.id = j.memory_id "
            "GROUP BY n.id ORDER BY n.id DESC LIMIT ?",
            (limit,),
        )
        return [Night(*row) for row in rows]

    def changes(self, night: int) -> list[Change]:
        """What a night changed, the last change first. NotFoundError when there was no such night."""
        if self._db.execute("SELECT 1 FROM night WHERE id = ?", (night,)).fetchone() is None:
            raise NotFoundError(f"There is no night n{night}. See: hippo undo --list")
        return self._changes("night = ?", (night,))

    def last_change(self, number: int) -> Change:
        """The last change that a night made to one memory. NotFoundError when none did."""
        found = self._changes("night IS NOT NULL AND memory_id = ?", (number,))
        if not found:
            raise NotFoundError(f"No night has changed {memory_id(number)}. See: hippo show {memory_id(number)}")
        return found[0]

    def take_back(self, change: Change, actor: str) -> None:
        """Make a memory what it was before `change`; its vectors become due again. In a transaction.

        VersionConflictError where anything has happened to it since, or where its state of then was forgotten.
        """
        name = memory_id(change.memory_id)
        (before,) = self._db.execute("SELECT before FROM journal WHERE id = ?", (change.entry,)).fetchone()
        if before is None:
            raise VersionConflictError(f"{name} cannot be taken back: how it was before has been forgotten.")
        earlier = json.loads(before)
        now = self._memories.fetch([change.memory_id]).get(change.memory_id)
        if now is None or now.version != earlier["version"] + 1:
            raise VersionConflictError(f"{name} has changed since that night, so it stays as it is.")
        twin = self._memories.same_text(earlier["text"], earlier["scope"])
        if earlier["status"] == ACTIVE and twin is not None and twin.id != now.id:
            raise VersionConflictError(f"{name} stays as it is: {twin.public_id} has said the same since that night.")
        self._memories.restore(now, earlier, actor, UNDO)

    def _changes(self, condition: str, values: Sequence[int]) -> list[Change]:
        rows = self._db.execute(
            "SELECT id, night, memory_id, action, json_extract(before, '$.version') FROM journal "
            f"WHERE {condition} ORDER BY id DESC",
            values,
        )
        return [Change(*row) for row in rows]
