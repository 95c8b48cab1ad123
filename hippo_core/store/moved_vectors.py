"""Vectors of older versions' stores on their way into today's layouts: what migrations do, and nothing else does."""

import importlib.util
from itertools import groupby

import apsw

_VEC0_PARTS = ("info", "chunks", "rowids", "vector_chunks00")  # without sketches


def move_message_vectors(db: apsw.Connection, model: int, size: int) -> bool:
    """A vec0 table's vectors, of `size` bytes each, into the compact ones; 100,000 take some 3 s. False without NumPy.

    vec0 keeps them in ordinary tables, so that the extension, which may be missing here, is needed neither to read them
    nor to take its table away.
    """
    from hippo_core.store.compact import CompactVectors
    from hippo_core.store.message_vectors import MEANING, REPLY

    table = f"message_vector_{model}"
    moved = importlib.util.find_spec("numpy") is not None
    places = (
        f"SELECT r.chunk_id, r.chunk_offset, m.scope, iif(m.role = 'user', '{MEANING}', '{REPLY}'), m.id "
        f"FROM {table}_rowids r JOIN message_chunk c ON c.id = r.rowid JOIN message m ON m.id = c.message_id "
        "ORDER BY r.chunk_id, r.rowid"
    )
    rows = db.execute(places) if moved else ()
    compact = CompactVectors(db, "message")
    for (chunk, scope, kind), group in groupby(rows, key=lambda row: (row[0], row[2], row[3])):
        held = db.execute(f"SELECT vectors FROM {table}_vector_chunks00 WHERE rowid = ?", (chunk,)).get
        compact.add(model, scope, kind, [(owner, held[n * size : (n + 1) * size]) for _, n, _, _, owner in group])
    drop_vec0(db, table)
    return moved


def sketch_memory_vectors(db: apsw.Connection, table: str, dimension: int) -> None:
    """Make a vec0 table of the older layout anew, with sketches, a chunk at a time.

    Each gives its pages to those that come, so that the file does not grow.
    """
    from hippo_core.store.vec0 import Vec0

    aside, size = f"{table}_older", 4 * dimension
    _forget_vec0(db, table)
    for part in _VEC0_PARTS:
        db.execute(f"ALTER TABLE {table}_{part} RENAME TO {aside}_{part}")
    sketched = Vec0(db, table, dimension)
    sketched.create()
    places = db.execute(
        f"SELECT r.chunk_id, c.partition00, r.chunk_offset, r.rowid FROM {aside}_rowids r "
        f"JOIN {aside}_chunks c USING (chunk_id) ORDER BY r.chunk_id, r.rowid"
    )
    for (chunk, scope), group in groupby(places, key=lambda place: place[:2]):
        held = db.execute(f"SELECT vectors FROM {aside}_vector_chunks00 WHERE rowid = ?", (chunk,)).get
        sketched.add([(row, scope, held[n * size : (n + 1) * size]) for *_, n, row in group])
        db.execute(f"DELETE FROM {aside}_vector_chunks00 WHERE rowid = ?", (chunk,))
    drop_vec0(db, aside)


def drop_vec0(db: apsw.Connection, table: str) -> None:
    """Take a vec0 table of the older layouts away; the extension, which may be missing, is not needed for it.

    Its chunks go one by one: of all that a statement changes, a copy is kept in memory.
    """
    _forget_vec0(db, table)
    chunks = f"{table}_vector_chunks00"
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (chunks,)).fetchone():
        numbers = db.execute(f"SELECT rowid FROM {chunks}").fetchall()
        db.executemany(f"DELETE FROM {chunks} WHERE rowid = ?", numbers)
    for part in _VEC0_PARTS:
        db.execute(f"DROP TABLE IF EXISTS {table}_{part}")


def _forget_vec0(db: apsw.Connection, table: str) -> None:
    """Let the ordinary tables in which a vec0 table keeps its rows be all that is left of it."""
    db.pragma("writable_schema", True)
    db.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
    db.execute("PRAGMA writable_schema = RESET")
