"""How often each memory was shown and used, and when last. Counted by a job from what readers noted; never by a reader.

Knows nothing of the notes' files beyond their names.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import apsw


@dataclass(frozen=True)
class Use:
    """shown: given as an answer; used: looked at in full. Times are seconds, None: never."""

    shown: int = 0
    used: int = 0
    last_shown: float | None = None
    last_used: float | None = None


class Uses:
    def __init__(self, db: apsw.Connection):
        self._db = db

    def of(self, number: int) -> Use:
        row = self._db.execute(
            "SELECT shown, used, last_shown, last_used FROM memory_use WHERE memory_id = ?", (number,)
        ).fetchone()
        return Use(*row) if row else Use()

    def fold(self, name: str, uses: Mapping[int, Use]) -> bool:
        """Add what the file `name` noted, unless that was done already. In a transaction.

        Memories that are gone meanwhile are left out.
        """
        self._db.execute("INSERT OR IGNORE INTO folded_spool VALUES (?)", (name,))
        if not self._db.changes():
            return False
        self._db.executemany(
            "INSERT INTO memory_use SELECT id, ?, ?, ?, ? FROM memory WHERE id = ? "
            "ON CONFLICT(memory_id) DO UPDATE SET shown = shown + excluded.shown, used = used + excluded.used, "
            "last_shown = nullif(max(coalesce(last_shown, 0), coalesce(excluded.last_shown, 0)), 0), "
            "last_used = nullif(max(coalesce(last_used, 0), coalesce(excluded.last_used, 0)), 0)",
            [(use.shown, use.used, use.last_shown, use.last_used, number) for number, use in uses.items()],
        )
        return True

    def folded(self) -> set[str]:
        """Names of files that were counted and may not be gone yet."""
        return {name for (name,) in self._db.execute("SELECT name FROM folded_spool")}

    def forget_folded(self, names: Iterable[str]) -> None:
        """These files are gone and will not come back. In a transaction."""
        self._db.executemany("DELETE FROM folded_spool WHERE name = ?", [(name,) for name in names])
