"""The curated memories by meaning: vectors of each embedding model, in blocks by scope (store/compact.py).

A memory longer than the model's window has several; its nearest speaks for it. Vectors are unit length.
"""

from collections.abc import Sequence

import apsw

from hippo_core.model.types import MemoryType
from hippo_core.store.compact import CompactVectors

_KIND = ""  # there is but one


class Vectors:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._vectors = CompactVectors(db, "memory")

    def has(self, fingerprint: str) -> bool:
        """Whether any memory has a vector of this model."""
        model = self._model(fingerprint)
        return model is not None and self._vectors.has(model)

    def pending(self, fingerprint: str, limit: int) -> list[tuple[int, str]]:
        """(number, text) of active memories that have no vectors of this model yet."""
        return self._db.execute(
            f"SELECT id, text FROM memory WHERE status = 'active' AND NOT {self._vectors.has_one('memory.id')} "
            "ORDER BY id LIMIT ?",
            (self._model(fingerprint), limit),
        ).fetchall()

    def put(self, number: int, fingerprint: str, dimension: int, chunks: Sequence[bytes]) -> None:
        """Store the chunks' vectors (float32, little-endian, `dimension` numbers) of one memory. In a transaction."""
        model = self._model(fingerprint) or self._begin(fingerprint, dimension)
        row = self._db.execute(
            f"SELECT scope FROM memory WHERE id = ? AND status = 'active' AND NOT {self._vectors.has_one('memory.id')}",
            (number, model),
        ).fetchone()
        if row is not None:  # else forgotten or retired while it was embedded, or another process was first
            self._vectors.add(model, row[0], _KIND, [(number, vector) for vector in chunks])

    def drop(self, number: int) -> None:
        """Delete every vector of a memory. In a transaction."""
        self._vectors.drop(number)

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
        if model is None:
            return []
        of_types = None
        if types is not None:
            marks = ",".join("?" * len(types))
            of_types = f"SELECT id FROM memory WHERE type IN ({marks})", [kind.value for kind in types]
        return self._vectors.nearest(model, _KIND, vector, scopes=scopes, limit=limit, owned_by=of_types)

    def of(self, fingerprint: str, numbers: Sequence[int]) -> dict[int, bytes]:
        """The first chunk's vector of each of these memories that has one."""
        model = self._model(fingerprint)
        return {} if model is None else self._vectors.of(model, numbers)

    def _model(self, fingerprint: str) -> int | None:
        row = self._db.execute("SELECT id FROM embedding_model WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return row[0] if row else None

    def _begin(self, fingerprint: str, dimension: int) -> int:
        self._db.execute("INSERT INTO embedding_model(fingerprint, dimension) VALUES (?, ?)", (fingerprint, dimension))
        return self._db.last_insert_rowid()
