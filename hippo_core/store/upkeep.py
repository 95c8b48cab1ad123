"""Whether the file is sound and its indexes agree with its rows, and setting right what does not.

Everything here is derived: an index or a vector can be made again from the rows, and an orphan belongs to nothing.
Knows nothing of what the rows mean.
"""

from dataclasses import dataclass

import apsw

from hippo_core.store.compact import CompactVectors

# index: the rows it must hold
KEYWORD_INDEXES = {
    "memory_exact": "memory_active",
    "memory_plain": "memory_active",
    "message_plain": "message",
    "episode_plain": "episode",
}
MESSAGE_CODES = "message_code"  # the index of the messages' vectors
CURATED = ("memory_exact", "memory_plain")

# What belongs to nothing any more: name, and the condition on its table's rows.
_ORPHANS = {
    "sources": ("memory_source", "memory_id NOT IN (SELECT id FROM memory)"),
    "chunks": ("memory_chunk", "memory_id NOT IN (SELECT id FROM memory WHERE status = 'active')"),
    "journal entries": ("journal", "memory_id IS NOT NULL AND memory_id NOT IN (SELECT id FROM memory)"),
    "message vectors": ("message_vector", "message_id NOT IN (SELECT id FROM message)"),
    "use counts": ("memory_use", "memory_id NOT IN (SELECT id FROM memory)"),
}


@dataclass(frozen=True)
class Gap:
    """Where an index and its rows differ. missing: rows it does not have; stray: entries that no row has."""

    index: str
    missing: int
    stray: int

    @property
    def is_of_vectors(self) -> bool:
        """Of memories: mending it needs the vector extension, and leaves memories that are due for new vectors."""
        return self.index not in KEYWORD_INDEXES and self.index != MESSAGE_CODES


class Upkeep:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._message_vectors = CompactVectors(db, "message")

    # -- looking -----------------------------------------------------------------------------------------------------

    def damage(self) -> list[str]:
        """What SQLite's own check of the whole file finds; empty when it is sound. Reads all of it."""
        said = [line for (line,) in self._db.execute("PRAGMA integrity_check(20)")]
        return [] if said == ["ok"] else said

    def is_sound(self, index: str, *, against_rows: bool) -> bool:
        """FTS5's own check of a keyword index; against_rows: word for word against the text it was made from.

        Takes the write lock, so call it in a transaction.
        """
        try:
            self._db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('integrity-check', ?)", (int(against_rows),))
        except apsw.CorruptError:
            return False
        return True

    def gaps(self) -> list[Gap]:
        """Indexes, of words and of vectors, that do not hold exactly the rows they should."""
        found = [
            self._gap(index, f"SELECT id FROM {rows}", f"SELECT id FROM {index}_docsize")
            for index, rows in KEYWORD_INDEXES.items()
        ]
        found += [
            self._gap(
                table, f"SELECT id FROM memory_chunk WHERE model_id = {model}", f"SELECT rowid FROM {table}_rowids"
            )
            for model, table in self._vector_tables()
        ]
        found.append(Gap(MESSAGE_CODES, *self._message_vectors.gaps()))
        return [gap for gap in found if gap.missing or gap.stray]

    def orphans(self) -> dict[str, int]:
        """How many rows belong to nothing, by what they are."""
        counts = {
            name: self._db.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0]
            for name, (table, condition) in _ORPHANS.items()
        }
        return {name: count for name, count in counts.items() if count}

    def broken_references(self) -> int:
        """How many rows point at a row that is not there."""
        return len(self._db.execute("PRAGMA foreign_key_check").fetchall())

    def open_door(self) -> bool:
        """Whether the archive stands open for changes, which outside a transaction it never may."""
        return self._db.execute("SELECT 1 FROM archive_door").fetchone() is not None

    def journal_end(self) -> int:
        """The number of the journal's last entry."""
        return self._db.execute("SELECT coalesce(max(id), 0) FROM journal").fetchone()[0]

    def rebuilt_to(self) -> int:
        """The journal's last entry when the curated indexes were last made anew."""
        return self._db.execute("SELECT coalesce(max(journal_end), 0) FROM rebuilt").fetchone()[0]

    # -- setting right: call inside Store.transaction() --------------------------------------------------------------

    def rebuild(self, index: str) -> None:
        """Make a keyword index anew from its rows, as one segment."""
        self._db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
        self._db.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")

    def mend(self, gap: Gap) -> None:
        """Bring an index and its rows together again. A memory that loses its vectors becomes due for new ones; a
        message is found by its words alone from then on.

        Vector tables of memories need the extension loaded (Vectors.available).
        """
        if gap.index == MESSAGE_CODES:
            self._message_vectors.mend()
            return
        if not gap.is_of_vectors:
            self.rebuild(gap.index)
            return
        model, _ = next(known for known in self._vector_tables() if known[1] == gap.index)
        self._db.execute(
            "DELETE FROM memory_chunk WHERE model_id = ?1 AND memory_id IN (SELECT memory_id FROM memory_chunk WHERE "
            f"model_id = ?1 AND id NOT IN (SELECT rowid FROM {gap.index}_rowids))",
            (model,),
        )
        stray = self._db.execute(
            f"SELECT rowid FROM {gap.index}_rowids WHERE rowid NOT IN (SELECT id FROM memory_chunk WHERE model_id = ?)",
            (model,),
        ).fetchall()
        self._db.executemany(f"DELETE FROM {gap.index} WHERE rowid = ?", stray)

    def drop_orphans(self) -> dict[str, int]:
        """Delete what belongs to nothing; how much, by what it was. Vectors left by it are a gap of their table."""
        dropped = self.orphans()
        for name in dropped:
            table, condition = _ORPHANS[name]
            self._db.execute(f"DELETE FROM {table} WHERE {condition}")
        return dropped

    def save_rebuilt_to(self, journal_end: int) -> None:
        self._db.execute("DELETE FROM rebuilt")
        self._db.execute("INSERT INTO rebuilt VALUES (?)", (journal_end,))

    def reindex(self) -> None:
        """Make every ordinary index of the file anew."""
        self._db.execute("REINDEX")

    def shut_door(self) -> None:
        self._db.execute("DELETE FROM archive_door")

    # -- inside ------------------------------------------------------------------------------------------------------

    def _vector_tables(self) -> list[tuple[int, str]]:
        """Of each model its number and its table of memories' vectors."""
        models = self._db.execute("SELECT id FROM embedding_model").fetchall()
        return [(model, f"memory_vector_{model}") for (model,) in models]

    def _gap(self, index: str, rows: str, entries: str) -> Gap:
        missing = self._db.execute(f"SELECT count(*) FROM ({rows} EXCEPT {entries})").fetchone()[0]
        stray = self._db.execute(f"SELECT count(*) FROM ({entries} EXCEPT {rows})").fetchone()[0]
        return Gap(index, missing, stray)
