"""The vector index of the curated memories: one vec0 table for each embedding model, partitioned by scope, exact.

A memory longer than the model's window has several chunks; its nearest chunk speaks for it. The extension is loaded at
the first need; without it `available` is False. Vectors are unit length, so L2 distance ranks as cosine does.
"""

from collections.abc import Sequence

import apsw

from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.store.connection import load_vectors

MOST_NEIGHBOURS = 4_096  # sqlite-vec's own limit for k
# A scope grows by so many vectors. With sqlite-vec's 1,024 each small project took 1.5 MB, and a search read all of it.
_CHUNK = 128


class Vectors:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._loaded: bool | None = None

    @property
    def available(self) -> bool:
        if self._loaded is None:
            self._loaded = load_vectors(self._db)
        return self._loaded

    def has(self, fingerprint: str) -> bool:
        """Whether any memory has a vector of this model."""
        model = self._model(fingerprint)
        row = self._db.execute("SELECT 1 FROM memory_chunk WHERE model_id = ? LIMIT 1", (model,)).fetchone()
        return row is not None

    def pending(self, fingerprint: str, limit: int) -> list[tuple[int, str]]:
        """(number, text) of active memories that have no vectors of this model yet."""
        return self._db.execute(
            "SELECT id, text FROM memory WHERE status = 'active' AND NOT EXISTS (SELECT 1 FROM memory_chunk c JOIN "
            "embedding_model e ON e.id = c.model_id WHERE c.memory_id = memory.id AND e.fingerprint = ?) "
            "ORDER BY id LIMIT ?",
            (fingerprint, limit),
        ).fetchall()

    def put(self, number: int, fingerprint: str, dimension: int, chunks: Sequence[bytes]) -> None:
        """Store the chunks' vectors (float32, little-endian, `dimension` numbers) of one memory. In a transaction."""
        model, table = self._ensure_table(fingerprint, dimension)
        row = self._db.execute("SELECT scope FROM memory WHERE id = ? AND status = 'active'", (number,)).fetchone()
        if row is None:
            return  # forgotten or retired while it was embedded
        done = "SELECT 1 FROM memory_chunk WHERE memory_id = ? AND model_id = ?"
        if self._db.execute(done, (number, model)).fetchone():
            return  # another process was first
        for ordinal, vector in enumerate(chunks):
            self._db.execute(
                "INSERT INTO memory_chunk(memory_id, model_id, ordinal) VALUES (?, ?, ?)", (number, model, ordinal)
            )
            self._db.execute(
                f"INSERT INTO {table}(rowid, scope, embedding) VALUES (?, ?, ?)",
                (self._db.last_insert_rowid(), row[0], vector),
            )

    def require_for(self, numbers: Sequence[int]) -> None:
        """Raise VectorsUnavailableError where one of these memories has vectors that cannot be deleted here."""
        held = "SELECT 1 FROM memory_chunk WHERE memory_id IN (SELECT value FROM json_each(?)) LIMIT 1"
        if self._db.execute(held, (str(list(numbers)),)).fetchone():
            self._require()

    def drop(self, number: int) -> None:
        """Delete every vector of a memory. In a transaction."""
        chunks = self._db.execute("SELECT id, model_id FROM memory_chunk WHERE memory_id = ?", (number,)).fetchall()
        if chunks:
            self._require()
        for chunk, model in chunks:
            self._db.execute(f"DELETE FROM {_table(model)} WHERE rowid = ?", (chunk,))
        self._db.execute("DELETE FROM memory_chunk WHERE memory_id = ?", (number,))

    def nearest(
        self,
        fingerprint: str,
        vector: bytes,
        *,
        scopes: Sequence[str] | None,
        types: Sequence[MemoryType] | None = None,
        limit: int,
    ) -> list[tuple[int, float]]:
        """(number, cosine) of the memories nearest to a unit `vector`, nearest first."""
        model = self._model(fingerprint)
        if model is None or not self.available:
            return []
        where, values = "embedding MATCH ? AND k = ?", [vector, min(limit, MOST_NEIGHBOURS)]
        if scopes is not None:
            where += f" AND scope IN ({','.join('?' * len(scopes))})"
            values += scopes
        if types is not None:
            where += (
                " AND rowid IN (SELECT c.id FROM memory_chunk c JOIN memory m ON m.id = c.memory_id "
                f"WHERE m.type IN ({','.join('?' * len(types))}))"
            )
            values += [kind.value for kind in types]
        rows = self._db.execute(
            f"SELECT c.memory_id, min(v.distance) FROM (SELECT rowid, distance FROM {_table(model)} WHERE {where}) v "
            "JOIN memory_chunk c ON c.id = v.rowid GROUP BY 1 ORDER BY 2 LIMIT ?",
            (*values, limit),
        )
        return [(number, 1 - distance * distance / 2) for number, distance in rows]

    def of(self, fingerprint: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """The first chunk's vector of each of these memories that has one."""
        model = self._model(fingerprint)
        if model is None or not self.available:
            return {}
        return dict(
            self._db.execute(
                f"SELECT c.memory_id, v.embedding FROM memory_chunk c JOIN {_table(model)} v ON v.rowid = c.id "
                f"WHERE c.model_id = ? AND c.ordinal = 0 AND c.memory_id IN ({','.join('?' * len(numbers))})",
                (model, *numbers),
            )
        )

    def _model(self, fingerprint: str) -> int | None:
        row = self._db.execute("SELECT id FROM embedding_model WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return row[0] if row else None

    def _ensure_table(self, fingerprint: str, dimension: int) -> tuple[int, str]:
        self._require()
        model = self._model(fingerprint)
        if model is None:
            self._db.execute(
                "INSERT INTO embedding_model(fingerprint, dimension) VALUES (?, ?)", (fingerprint, dimension)
            )
            model = self._db.last_insert_rowid()
            columns = f"scope TEXT PARTITION KEY, embedding float[{dimension}], chunk_size={_CHUNK}"
            self._db.execute(f"CREATE VIRTUAL TABLE {_table(model)} USING vec0({columns})")
        return model, _table(model)

    def _require(self) -> None:
        if not self.available:
            raise VectorsUnavailableError(
                "The vectors of memories cannot be changed: sqlite-vec is missing here. Nothing was changed; run "
                "python3 install.py, and try again."
            )


def _table(model: int) -> str:
    return f"memory_vector_{model}"
