"""A table of sqlite-vec: unit vectors of one model with their sketches, partitioned by scope; the nearest of them.

Where few are searched, vec0 goes through all of them; it ranks by L2 distance, which of unit vectors is the order of
cosines. Where many are, their sketches are compared (store/sketch.py), and the likeliest vectors in full. That reads
vec0's own tables, because its query language finds the best k of n in about k times n steps and takes 10 µs to give one
vector. sqlite-vec 0.1.9 keeps chunks, each of a number of places and of one
scope: in {table}_chunks which places are taken, and by which rows; in {table}_vector_chunks00 and 01 a chunk's vectors
and sketches, side by side; in {table}_rowids where a row is. Only writing, and searching the few, need the extension.
Knows nothing of what a row stands for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from hippo_core.store import sketch

if TYPE_CHECKING:
    import numpy

_MOST_NEIGHBOURS = 4_096  # sqlite-vec's own limit for k
# A scope grows by so many vectors. With sqlite-vec's 1,024 each small project took 1.5 MB, and a search read all of it;
# and of a large chunk SQLite goes through half the pages on the way to one vector.
_CHUNK = 64
_ALL_UP_TO = 20  # chunks; from there on sketches are faster
_VECTORS, _SKETCHES = "vector_chunks00", "vector_chunks01"


class Vec0:
    def __init__(self, db: apsw.Connection, table: str, dimension: int):
        self._db, self._table, self._dimension, self._size = db, table, dimension, 4 * dimension

    # -- writing: needs the extension; call inside Store.transaction() -----------------------------------------------

    def create(self) -> None:
        bits = 16 * sketch.width(self._dimension)
        columns = f"scope TEXT PARTITION KEY, embedding float[{self._dimension}], sketch bit[{bits}]"
        self._db.execute(f"CREATE VIRTUAL TABLE {self._table} USING vec0({columns}, chunk_size={_CHUNK})")

    def add(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        """Store (row, scope, vector); vectors as float32, little-endian, of unit length."""
        import numpy  # whoever has vectors has it

        vectors = numpy.frombuffer(b"".join(vector for *_, vector in rows), "<f4").reshape(len(rows), -1)
        self._db.executemany(
            f"INSERT INTO {self._table}(rowid, scope, embedding, sketch) VALUES (?, ?, ?, vec_bit(?))",
            [(*row, sketched.tobytes()) for row, sketched in zip(rows, sketch.sketches(vectors), strict=True)],
        )

    def drop(self, row: int) -> None:
        self._db.execute(f"DELETE FROM {self._table} WHERE rowid = ?", (row,))

    # -- reading -----------------------------------------------------------------------------------------------------

    def nearest(
        self, vector: bytes, *, scopes: Sequence[str] | None, limit: int, only: tuple[str, Sequence[str]] | None = None
    ) -> list[tuple[int, float]]:
        """(row, cosine) of the vectors nearest to a unit `vector`, nearest first, then lowest. Needs the extension.

        only: a query for the rows that alone are searched, and its values.
        """
        if only is not None:
            return self._nearest_of_all(vector, scopes, limit, only)
        with self._db:  # one state of the file for all that is read
            where, values = _within("partition00", scopes)
            columns = "chunk_id, validity, rowids"
            chunks = self._db.execute(f"SELECT {columns} FROM {self._table}_chunks WHERE {where}", values).fetchall()
            if len(chunks) <= _ALL_UP_TO:
                return self._nearest_of_all(vector, scopes, limit)
            return self._nearest_of_the_likeliest(vector, chunks, limit)

    def vectors(self, rows: Sequence[int]) -> dict[int, bytes]:
        """The vectors of these rows, of those that are there."""
        with self._db:
            places = self._db.execute(
                f"SELECT rowid, chunk_id, chunk_offset FROM {self._table}_rowids "
                "WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY chunk_id",
                (str(list(rows)),),
            ).fetchall()
            read, size = self._read([(chunk, place) for _, chunk, place in places]), self._size
        return {row: bytes(read[n * size : (n + 1) * size]) for n, (row, _, _) in enumerate(places)}

    # -- inside ------------------------------------------------------------------------------------------------------

    def _nearest_of_all(
        self, vector: bytes, scopes: Sequence[str] | None, limit: int, only: tuple[str, Sequence[str]] | None = None
    ) -> list[tuple[int, float]]:
        where, values = _within("scope", scopes)
        if only is not None:
            where, values = f"{where} AND rowid IN ({only[0]})", (*values, *only[1])
        rows = self._db.execute(
            f"SELECT rowid, distance FROM {self._table} WHERE embedding MATCH ? AND k = ? AND {where}",
            (vector, min(limit, _MOST_NEIGHBOURS), *values),
        )
        near = sorted(rows, key=lambda found: (found[1], found[0]))[:limit]  # k came of each scope
        return [(row, 1 - distance * distance / 2) for row, distance in near]

    def _nearest_of_the_likeliest(
        self, vector: bytes, chunks: Sequence[tuple[int, bytes, bytes]], limit: int
    ) -> list[tuple[int, float]]:
        """chunks: of each its number, which of its places are taken, and by which rows."""
        import numpy

        asked = numpy.frombuffer(vector, "<f4")
        taken = numpy.unpackbits(numpy.frombuffer(b"".join(bits for _, bits, _ in chunks), "u1"), bitorder="little")
        rows = numpy.frombuffer(b"".join(rows for _, _, rows in chunks), "<i8")
        numbers = [chunk for chunk, _, _ in chunks]
        likely = sketch.Question(asked).likeliest(self._sketches(numbers), taken, limit)
        size = len(rows) // len(numbers)
        read = self._read([(numbers[place // size], place % size) for place in likely.tolist()])
        found = numpy.frombuffer(read, "<f4").reshape(len(likely), -1)
        # Not by `@`: the threads of the library behind it wait for each other a hundred times longer than this takes.
        rows, cosines = rows[likely], numpy.einsum("ij,j->i", found, asked)
        best = numpy.lexsort((rows, -cosines))[:limit]
        return list(zip(rows[best].tolist(), cosines[best].tolist(), strict=True))

    def _sketches(self, chunks: Sequence[int]) -> "numpy.ndarray":
        """The sketches of these chunks, one after the other."""
        import numpy

        with self._db.blob_open("main", f"{self._table}_{_SKETCHES}", "vectors", chunks[0], False) as blob:
            size = blob.length()
            read = numpy.empty(len(chunks) * size, "u1")
            for n, chunk in enumerate(chunks):
                blob.reopen(chunk)
                blob.read_into(read, n * size, size)
        return read.view("<u8").reshape(-1, sketch.width(self._dimension) // 4)

    def _read(self, places: Sequence[tuple[int, int]]) -> bytearray:
        """The vectors at these places of these chunks; fastest in the order of the chunks."""
        read = bytearray(len(places) * self._size)
        if not places:
            return read
        current = places[0][0]
        with self._db.blob_open("main", f"{self._table}_{_VECTORS}", "vectors", current, False) as blob:
            for n, (chunk, place) in enumerate(places):
                if chunk != current:
                    blob.reopen(chunk)
                    current = chunk
                blob.seek(place * self._size)
                blob.read_into(read, n * self._size, self._size)
        return read


def _within(column: str, scopes: Sequence[str] | None) -> tuple[str, tuple[str, ...]]:
    """A condition that only these scopes meet, and its values."""
    if scopes is None:
        return "1", ()
    return f"{column} IN ({','.join('?' * len(scopes))})", tuple(scopes)
