"""Vectors kept small, and searched in two steps: a code of one bit for each number, and the vector in bytes.

A search goes through all codes, which lie side by side in blocks, counting the bits that differ; of the best it works
out the cosines. Against float32 that is a quarter of the room and, at a million vectors, a tenth of the time
(docs/benchmarks.md has what it finds). A vector's number is its block's first number plus its place in the block, so
that nothing has to say whose a code is. Needs NumPy, which whoever has a vector to look for has loaded.
Knows nothing of what a vector stands for: an owner is a row number of whoever uses it.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apsw

from hippo_core.store import sketch

if TYPE_CHECKING:
    import numpy

# Whose cosine is worked out: a share of all, at least eight for each that is wanted; of 31,000 real vectors these hold
# 98 to 100 % of the true nearest ten to fifty.
_SHARE, _EACH, _FEWEST, CANDIDATES = 1 / 25, 8, 400, 1_600
_LEAST_ROOM, _MOST_ROOM = 64, 8_192  # of a block: a small project stays small, a large one is read in few strides
_STRIDE = 8_192  # codes compared at once, so that they stay in the processor's cache


class CompactVectors:
    """The tables `{name}_vector` and `{name}_code`. Vectors come as float32, little-endian, of unit length."""

    def __init__(self, db: apsw.Connection, name: str):
        self._db = db
        self._vectors, self._codes, self._owner = f"{name}_vector", f"{name}_code", f"{name}_id"

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def add(self, model: int, scope: str, kind: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Store vectors, each with its owner."""
        import numpy

        rows = [(owner, _in_bytes(numpy.frombuffer(vector, "<f4"))) for owner, vector in vectors]
        while rows:
            width = sketch.width(len(rows[0][1]))
            first, used, room = self._open_block(model, scope, kind, width)
            fitting, rows = rows[: room - used], rows[room - used :]
            with self._db.blob_open("main", self._codes, "codes", first, True) as blob:
                blob.seek(used * width)
                blob.write(_codes(numpy.stack([row for _, row in fitting])).tobytes())
            self._db.execute(f"UPDATE {self._codes} SET used = used + ? WHERE first = ?", (len(fitting), first))
            self._db.executemany(
                f"INSERT INTO {self._vectors}(id, {self._owner}, vector) VALUES (?, ?, ?)",
                [(number, owner, row.tobytes()) for number, (owner, row) in enumerate(fitting, first + used)],
            )

    def drop(self, owner: int) -> None:
        """Delete every vector of an owner, and its code."""
        numbers = self._db.execute(f"SELECT id FROM {self._vectors} WHERE {self._owner} = ?", (owner,)).fetchall()
        for (number,) in numbers:
            self._db.execute(f"DELETE FROM {self._vectors} WHERE id = ?", (number,))
            first, last, width = self._db.execute(
                f"SELECT first, first + room - 1, length(codes) / room FROM {self._codes} WHERE first <= ? "
                "ORDER BY first DESC LIMIT 1",
                (number,),
            ).fetchone()
            left = f"SELECT 1 FROM {self._vectors} WHERE id BETWEEN ? AND ? LIMIT 1"
            if not self._db.execute(left, (first, last)).fetchone():
                self._db.execute(f"DELETE FROM {self._codes} WHERE first = ?", (first,))
                continue
            with self._db.blob_open("main", self._codes, "codes", first, True) as blob:
                blob.seek((number - first) * width)
                blob.write(bytes(width))

    # -- reading -----------------------------------------------------------------------------------------------------

    def nearest(
        self, model: int, kind: str, vector: bytes, *, scopes: Sequence[str] | None, limit: int
    ) -> list[tuple[int, float]]:
        """(owner, cosine) of those who own the `limit` vectors nearest to `vector`, nearest first."""
        import numpy

        asked = numpy.frombuffer(vector, "<f4")
        numbers = self._candidates(model, kind, scopes, _codes(asked[None, :])[0], limit)
        rows = self._db.execute(
            f"SELECT {self._owner}, vector FROM {self._vectors} WHERE id IN (SELECT value FROM json_each(?))",
            (str(numbers),),
        ).fetchall()
        if not rows:
            return []
        found = numpy.frombuffer(b"".join(row for _, row in rows), "i1").reshape(len(rows), -1).astype("f4")
        # Not by `@`: the threads of the library behind it wait for each other a hundred times longer than this takes.
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", found, found))
        cosines = numpy.einsum("ij,j->i", found, asked) / numpy.maximum(lengths, 1)
        best: dict[int, float] = {}
        for place in numpy.argsort(-cosines, kind="stable")[:limit].tolist():
            best.setdefault(rows[place][0], float(cosines[place]))
        return list(best.items())

    # -- whether the two tables agree --------------------------------------------------------------------------------

    def gaps(self) -> tuple[int, int]:
        """How many vectors have no code or a wrong one; how many codes have no vector."""
        missing, stray = len(self._outside()), 0
        for _, wrong, owned, _ in self._blocks():
            missing += int((wrong & owned).sum())
            stray += int((wrong & ~owned).sum())
        return missing, stray

    def mend(self) -> None:
        """Make wrong codes anew, and drop vectors that no block has a place for. In a transaction."""
        for first, wrong, _, codes in list(self._blocks()):
            if wrong.any():
                with self._db.blob_open("main", self._codes, "codes", first, True) as blob:
                    blob.write(codes.tobytes())
        self._db.executemany(f"DELETE FROM {self._vectors} WHERE id = ?", self._outside())

    # -- inside ------------------------------------------------------------------------------------------------------

    def _open_block(self, model: int, scope: str, kind: str, width: int) -> tuple[int, int, int]:
        """(first number, how many are used, room) of a block with room left; each is as large as all before it."""
        block = self._db.execute(
            f"SELECT first, used, room FROM {self._codes} WHERE model_id = ? AND scope = ? AND kind = ? "
            "ORDER BY first DESC LIMIT 1",
            (model, scope, kind),
        ).fetchone()
        if block and block[1] < block[2]:
            return block
        room = min(2 * block[2], _MOST_ROOM) if block else _LEAST_ROOM
        return self._db.execute(
            f"INSERT INTO {self._codes}(first, model_id, scope, kind, room, codes) "
            f"SELECT coalesce(max(first + room), 1), ?1, ?2, ?3, ?4, zeroblob(?5) FROM {self._codes} "
            "RETURNING first, used, room",
            (model, scope, kind, room, room * width),
        ).fetchone()

    def _candidates(
        self, model: int, kind: str, scopes: Sequence[str] | None, asked: "numpy.ndarray", limit: int
    ) -> list[int]:
        """Numbers of the vectors whose codes differ least from `asked`: enough for `limit`."""
        import numpy

        firsts, ends, distances, end = [], [], [], 0
        for blocks, codes in self._strides(model, kind, scopes, len(asked) * 8):
            distance = numpy.zeros(len(codes), "u2")
            for word, wanted in enumerate(asked):
                distance += numpy.bitwise_count(codes[:, word] ^ wanted)
            distances.append(distance)
            for first, used in blocks:
                firsts.append(first - end)
                end += used
                ends.append(end)
        if not end:
            return []
        distance = numpy.concatenate(distances)
        places = numpy.arange(end)
        most = max(limit, min(CANDIDATES, max(_FEWEST, _EACH * limit, int(end * _SHARE))))
        if end > most:
            places = numpy.flatnonzero(distance <= numpy.partition(distance, most)[most])
            places = places[numpy.argsort(distance[places], kind="stable")[:most]]
        return (places + numpy.array(firsts)[numpy.searchsorted(ends, places, side="right")]).tolist()

    def _strides(
        self, model: int, kind: str, scopes: Sequence[str] | None, width: int
    ) -> Iterator[tuple[list[tuple[int, int]], "numpy.ndarray"]]:
        """The codes in pieces of about _STRIDE, as machine words, each with the (first number, used) of its blocks."""
        import numpy

        where, values = "model_id = ? AND kind = ? AND used > 0", [model, kind]
        if scopes is not None:
            where += f" AND scope IN ({','.join('?' * len(scopes))})"
            values += scopes
        buffer = bytearray(_STRIDE * width)
        held: list[tuple[int, int]] = []
        count = 0

        def filled() -> numpy.ndarray:
            return numpy.frombuffer(buffer, "<u8", count * width // 8).reshape(count, -1)

        blob = None
        # While its rows are being read, the state of the file that they are of stays in view for the blobs as well.
        for first, used in self._db.execute(f"SELECT first, used FROM {self._codes} WHERE {where}", values):
            if count + used > _STRIDE:
                yield held, filled()
                held, count = [], 0
            if blob is None:
                blob = self._db.blob_open("main", self._codes, "codes", first, False)
            else:
                blob.reopen(first)
            blob.read_into(buffer, count * width, used * width)
            held.append((first, used))
            count += used
        if blob is not None:
            blob.close()
        if held:
            yield held, filled()

    def _blocks(self) -> Iterator[tuple[int, "numpy.ndarray", "numpy.ndarray", "numpy.ndarray"]]:
        """Of each block: its first number, which of its codes are wrong, which belong to a vector, the right codes."""
        blocks = self._db.execute(f"SELECT first, room FROM {self._codes}").fetchall()
        if not blocks:
            return  # there may be no NumPy, either
        import numpy

        for first, room in blocks:
            blob = self._db.execute(f"SELECT codes FROM {self._codes} WHERE first = ?", (first,)).get
            codes = numpy.frombuffer(blob, "<u8").reshape(room, -1)
            right, owned = numpy.zeros_like(codes), numpy.zeros(room, bool)
            rows = self._db.execute(
                f"SELECT id - ?1, vector FROM {self._vectors} WHERE id BETWEEN ?1 AND ?2", (first, first + room - 1)
            ).fetchall()
            if rows:
                places = [place for place, _ in rows]
                right[places] = _codes(numpy.frombuffer(b"".join(row for _, row in rows), "i1").reshape(len(rows), -1))
                owned[places] = True
            yield first, (codes != right).any(axis=1), owned, right

    def _outside(self) -> list[tuple[int]]:
        """Vectors whose number is in no block."""
        return self._db.execute(
            f"SELECT id FROM {self._vectors} v WHERE v.id >= coalesce((SELECT first + used FROM {self._codes} "
            "WHERE first <= v.id ORDER BY first DESC LIMIT 1), 0)"
        ).fetchall()


def _in_bytes(vector: "numpy.ndarray") -> "numpy.ndarray":
    """A vector as whole numbers up to 127; how long it is need not be known, for only its direction is asked for."""
    import numpy

    largest = float(numpy.abs(vector).max(initial=0.0))
    return numpy.rint(vector * (127 / largest if largest else 0.0)).astype("i1")


def _codes(vectors: "numpy.ndarray") -> "numpy.ndarray":
    """Of each row a code, as machine words: which of its numbers are above zero."""
    return sketch.words(vectors > 0)
