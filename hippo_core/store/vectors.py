"""The vector index of the curated memories: one vec0 table for each embedding model, partitioned by scope.

A memory longer than the model's window has several chunks; its nearest chunk speaks for it. The extension is loaded at
the first need; without it `available` is False. Vectors are unit length.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.store.connection import load_vectors

if TYPE_CHECKING:
    from hippo_core.store.vec0 import Vec0


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
        held = "SELECT 1 FROM memory_chunk WHERE model_id = ? LIMIT 1"
        return model is not None and self._db.execute(held, (model[0],)).fetchone() is not None

    def pending(self, fingerprint: str, limit: int) -> list[tuple[int, str]]:
        """(number, text) of active memories that have no vectors of this model yet."""
        return self._db.execute(
            "SELECT id, text FROM memory WHERE status = 'active' AND NOT EXISTS (SELECT 1 FROM memory_chunk c JOIN "
            "embedding_model e ON e.id = c.model_id WHERE c.memory_id = memory.id AND e.fingerprint = ?) "
            "ORDER BY id LIMIT ?",
            (fingerprint, limit),
        ).fetchall()

    def put(
        self, number: int, fingerprint: str, dimension: int, chunks: Sequence[bytes], text: str | None = None
    ) -> None:
        """Store the chunks' vectors (float32, little-endian, `dimension` numbers) of one memory. In a transaction.

        text: what they were made from.
        """
        model, table = self._ensure_table(fingerprint, dimension)
        sql = "SELECT scope FROM memory WHERE id = ? AND status = 'active' AND text = coalesce(?, text)"
        row = self._db.execute(sql, (number, text)).fetchone()
        if row is None:
            return  # forgotten, retired or changed while it was embedded
        done = "SELECT 1 FROM memory_chunk WHERE memory_id = ? AND model_id = ?"
        if self._db.execute(done, (number, model)).fetchone():
            return  # another process was first
        rows = []
        for ordinal, vector in enumerate(chunks):
            self._db.execute(
                "INSERT INTO memory_chunk(memory_id, model_id, ordinal) VALUES (?, ?, ?)", (number, model, ordinal)
            )
            rows.append((self._db.last_insert_rowid(), row[0], vector))
        table.add(rows)

    def require_for(self, numbers: Sequence[int]) -> None:
        """Raise VectorsUnavailableError where one of these memories has vectors that cannot be deleted here."""
        held = "SELECT 1 FROM memory_chunk WHERE memory_id IN (SELECT value FROM json_each(?)) LIMIT 1"
        if self._db.execute(held, (str(list(numbers)),)).fetchone():
            self._require()

    def drop(self, number: int) -> None:
        """Delete every vector of a memory. In a transaction."""
        chunks = self._db.execute(
            "SELECT c.id, m.id, dimension FROM memory_chunk c JOIN embedding_model m ON m.id = model_id "
            "WHERE memory_id = ?",
            (number,),
        ).fetchall()
        if chunks:
            self._require()
        for chunk, *model in chunks:
            self._table(*model).drop(chunk)
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
        only = None
        if types is not None:
            marks = ",".join("?" * len(types))
            sql = f"SELECT c.id FROM memory_chunk c JOIN memory m ON m.id = c.memory_id WHERE m.type IN ({marks})"
            only = (sql, [kind.value for kind in types])
        near = self._table(*model).nearest(vector, scopes=scopes, limit=limit, only=only)
        memory_of = dict(
            self._db.execute(
                "SELECT id, memory_id FROM memory_chunk WHERE id IN (SELECT value FROM json_each(?))",
                (str([chunk for chunk, _ in near]),),
            )
        )
        best: dict[int, float] = {}
        for chunk, cosine in near:
            if chunk in memory_of:  # else it was forgotten a moment ago
                best.setdefault(memory_of[chunk], cosine)
        return list(best.items())

    def of(self, fingerprint: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """The first chunk's vector of each of these memories that has one."""
        model = self._model(fingerprint)
        if model is None or not self.available:
            return {}
        memory_of = dict(
            self._db.execute(
                "SELECT id, memory_id FROM memory_chunk WHERE model_id = ? AND ordinal = 0 "
                f"AND memory_id IN ({','.join('?' * len(numbers))})",
                (model[0], *numbers),
            )
        )
        return {memory_of[chunk]: vector for chunk, vector in self._table(*model).vectors(list(memory_of)).items()}

    # -- inside ------------------------------------------------------------------------------------------------------

    def _model(self, fingerprint: str) -> tuple[int, int] | None:
        """(number, dimension)"""
        sql = "SELECT id, dimension FROM embedding_model WHERE fingerprint = ?"
        return self._db.execute(sql, (fingerprint,)).fetchone()

    def _table(self, model: int, dimension: int) -> "Vec0":
        from hippo_core.store.vec0 import Vec0  # a name is found without it

        return Vec0(self._db, f"memory_vector_{model}", dimension)

    def _ensure_table(self, fingerprint: str, dimension: int) -> "tuple[int, Vec0]":
        self._require()
        known = self._model(fingerprint)
        if known is not None:
            return known[0], self._table(*known)
        self._db.execute("INSERT INTO embedding_model(fingerprint, dimension) VALUES (?, ?)", (fingerprint, dimension))
        model = self._db.last_insert_rowid()
        table = self._table(model, dimension)
        table.create()
        return model, table

    def _require(self) -> None:
        if not self.available:
            from hippo_core.record import installer

            raise VectorsUnavailableError(
                "The vectors of memories cannot be changed: sqlite-vec is missing here. Nothing was changed. Run this, "
                f"and try again: {installer()}"
            )
