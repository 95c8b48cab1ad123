"""A table of vectors as sqlite-vec 0.1.9 keeps it, made without the extension: an older store has such."""

from collections import defaultdict


def make_vec0_table(db, table, dimension, rows):
    """rows: (rowid, partition, vector); 128 of a partition share a chunk."""
    db.execute(
        f"CREATE TABLE {table}_info(key TEXT PRIMARY KEY, value ANY);"
        f"CREATE TABLE {table}_chunks(chunk_id INTEGER PRIMARY KEY, size INTEGER, validity BLOB, rowids BLOB);"
        f"CREATE TABLE {table}_rowids(rowid INTEGER PRIMARY KEY, id, chunk_id INTEGER, chunk_offset INTEGER);"
        f"CREATE TABLE {table}_vector_chunks00(rowid PRIMARY KEY, vectors BLOB NOT NULL);"
    )
    partitions = defaultdict(list)
    for rowid, partition, vector in rows:
        partitions[partition].append((rowid, vector))
    chunk = 0
    for members in partitions.values():
        for start in range(0, len(members), 128):
            chunk += 1
            held = members[start : start + 128]
            vectors = b"".join(vector for _, vector in held).ljust(128 * 4 * dimension, b"\0")
            db.execute(f"INSERT INTO {table}_chunks VALUES (?, 128, NULL, NULL)", (chunk,))
            db.execute(f"INSERT INTO {table}_vector_chunks00 VALUES (?, ?)", (chunk, vectors))
            for place, (rowid, _) in enumerate(held):
                db.execute(f"INSERT INTO {table}_rowids VALUES (?, NULL, ?, ?)", (rowid, chunk, place))
    db.pragma("writable_schema", True)
    sql = f"CREATE VIRTUAL TABLE {table} USING vec0(scope TEXT PARTITION KEY, embedding float[{dimension}])"
    db.execute("INSERT INTO sqlite_schema VALUES ('table', ?1, ?1, 0, ?2)", (table, sql))
    db.execute("PRAGMA writable_schema = RESET")
