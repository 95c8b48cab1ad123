"""What happened to a memory, as the journal has it. Entries are written where the change is made, and read here."""

import json
from dataclasses import dataclass
from typing import Any

import apsw


@dataclass(frozen=True)
class Entry:
    """at: seconds. before: the memory's fields before the change; None when it was new, or when they were forgotten."""

    at: float
    actor: str
    action: str
    before: dict[str, Any] | None


class Journal:
    def __init__(self, db: apsw.Connection):
        self._db = db

    def of(self, number: int) -> list[Entry]:
        """Everything that happened to one memory, oldest first."""
        rows = self._db.execute(
            "SELECT at, actor, action, before FROM journal WHERE memory_id = ? ORDER BY id", (number,)
        )
        return [Entry(at, actor, action, json.loads(before) if before else None) for at, actor, action, before in rows]
