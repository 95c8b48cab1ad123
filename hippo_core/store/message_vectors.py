"""The archive by meaning: vectors of each embedding model, in blocks by scope and by who speaks (store/compact.py).

How far a model has come is an interval of message numbers: it grows upwards with what is new and then downwards into
what is old, so that the newest is searchable first and a pass with nothing to do costs two look-ups. Vectors are unit
length. Knows nothing of what of a message is embedded.
"""

from collections.abc import Sequence

import apsw

from hippo_core.store.compact import CompactVectors

MEANING, REPLY = "meaning", "reply"  # what the user said; what others said


class MessageVectors:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._vectors = CompactVectors(db, "message")

    # -- reading -----------------------------------------------------------------------------------------------------

    def has(self, fingerprint: str) -> bool:
        """Whether any message has been embedded by this model."""
        return self._model(fingerprint) is not None

    def pending(self, fingerprint: str, limit: int) -> list[tuple[int, str, str]]:
        """(number, role, text) of the messages to embed next, all on one side of what is done: new ones, else old ones.

        What the guard withheld is passed over.
        """
        model = self._model(fingerprint)
        columns = "SELECT id, role, text FROM message WHERE withheld IS NULL AND id"
        if model is None:
            return self._db.execute(f"{columns} > 0 ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
        _, lowest, highest = model
        newer = self._db.execute(f"{columns} > ? ORDER BY id LIMIT ?", (highest, limit)).fetchall()
        if newer:
            return newer
        return self._db.execute(f"{columns} < ? ORDER BY id DESC LIMIT ?", (lowest, limit)).fetchall()

    def waiting(self, fingerprint: str) -> int:
        """How many messages this model has not come to yet."""
        model = self._model(fingerprint) or (0, 0, 0)
        return self._db.execute(
            "SELECT (SELECT count(*) FROM message WHERE withheld IS NULL AND id > ?) + "
            "(SELECT count(*) FROM message WHERE withheld IS NULL AND id < ?)",
            (model[2], model[1]),
        ).fetchone()[0]

    def embedded(self, fingerprint: str, numbers: Sequence[int]) -> set[int]:
        """Those of these messages that this model has come to."""
        _, lowest, highest = self._model(fingerprint) or (0, 0, 0)
        rows = self._db.execute(
            f"SELECT id FROM message WHERE id IN ({','.join('?' * len(numbers))}) AND id BETWEEN ? AND ? "
            "AND withheld IS NULL",
            (*numbers, lowest, highest),
        )
        return {number for (number,) in rows}

    def nearest(
        self, fingerprint: str, kind: str, vector: bytes, *, scopes: Sequence[str] | None, limit: int
    ) -> list[tuple[int, float]]:
        """(message, cosine) of the chunks of one kind nearest to a unit `vector`; a message's nearest speaks for it."""
        model = self._model(fingerprint)
        return self._vectors.nearest(model[0], kind, vector, scopes=scopes, limit=limit) if model else []

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def put(self, fingerprint: str, dimension: int, rows: Sequence[tuple[int, str, Sequence[bytes]]]) -> None:
        """Store the vectors of one batch of `pending`: (message, kind, vectors), and move the interval over it.

        A message that was forgotten meanwhile gets none.
        """
        numbers = [number for number, _, _ in rows]
        model, lowest, highest = self._model(fingerprint) or self._begin(fingerprint, dimension, max(numbers))
        for number, kind, vectors in rows:
            row = self._db.execute("SELECT scope FROM message WHERE id = ? AND withheld IS NULL", (number,)).fetchone()
            if row is None or lowest <= number <= highest:
                continue  # gone meanwhile, or another process was first
            self._vectors.add(model, row[0], kind, [(number, vector) for vector in vectors])
        self._db.execute(
            "UPDATE archive_model SET lowest = min(lowest, ?), highest = max(highest, ?) WHERE id = ?",
            (min(numbers), max(numbers), model),
        )

    def drop(self, number: int) -> None:
        """Delete every vector of a message."""
        self._vectors.drop(number)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _model(self, fingerprint: str) -> tuple[int, int, int] | None:
        return self._db.execute(
            "SELECT id, lowest, highest FROM archive_model WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()

    def _begin(self, fingerprint: str, dimension: int, newest: int) -> tuple[int, int, int]:
        """A model, with an interval that holds nothing yet."""
        self._db.execute(
            "INSERT INTO archive_model(fingerprint, dimension, lowest, highest) VALUES (?, ?, ?, ?)",
            (fingerprint, dimension, newest + 1, newest),
        )
        return self._db.last_insert_rowid(), newest + 1, newest
