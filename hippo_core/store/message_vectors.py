"""The archive by meaning: vectors of each embedding model, in blocks by scope and by who speaks (store/compact.py).

How far a model has come is an interval of message numbers: it grows upwards with what is new and then downwards into
what is old, so that the newest is searchable first and a pass with nothing to do costs a few look-ups. A second such
interval within the first says of which messages the rest is embedded as well, whose beginning alone was before. Vectors
are unit length. Knows nothing of what of a message is embedded.
"""

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from hippo_core.store.compact import CompactVectors

MEANING, REPLY = "meaning", "reply"  # what the user said; what others said

_LONG_REPLY = "role <> 'user' AND withheld IS NULL AND octet_length(text) > ?1"  # letters are fewer


class Stretch(NamedTuple):
    """Messages from number `first` to `last`, which border on what is done; the long replies among them, with texts."""

    first: int
    last: int
    replies: list[tuple[int, str]]

    def with_only(self, count: int) -> "Stretch":
        """As far as the first `count` of its replies."""
        if count >= len(self.replies):
            return self
        end = self.replies[count - 1][0]
        upwards = self.replies[-1][0] > end
        return Stretch(self.first if upwards else end, end if upwards else self.last, self.replies[:count])


class _Model(NamedTuple):
    """lowest to highest: what it has come to. rest_lowest to rest_highest: the part of it with rests of replies."""

    id: int
    lowest: int
    highest: int
    rest_lowest: int
    rest_highest: int


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
        newer = self._db.execute(f"{columns} > ? ORDER BY id LIMIT ?", (model.highest, limit)).fetchall()
        if newer:
            return newer
        return self._db.execute(f"{columns} < ? ORDER BY id DESC LIMIT ?", (model.lowest, limit)).fetchall()

    def pending_rest(self, fingerprint: str, longer_than: int, limit: int) -> Stretch | None:
        """The next stretch in which replies of over `longer_than` bytes lack their rest, with at most `limit` of them.

        On one side of what is done, as with `pending`; None when nothing is left. It may hold no such reply.
        """
        model = self._model(fingerprint)
        if model is None:
            return None
        upwards = model.rest_highest < model.highest
        first, last = (model.rest_highest + 1, model.highest) if upwards else (model.lowest, model.rest_lowest - 1)
        if first > last:
            return None
        replies = self._db.execute(
            f"SELECT id, text FROM message WHERE {_LONG_REPLY} AND id BETWEEN ?2 AND ?3 "
            f"ORDER BY id {'ASC' if upwards else 'DESC'} LIMIT ?4",
            (longer_than, first, last, limit),
        ).fetchall()
        if len(replies) == limit:
            first, last = (first, replies[-1][0]) if upwards else (replies[-1][0], last)
        return Stretch(first, last, replies)

    def waiting(self, fingerprint: str, longer_than: int) -> int:
        """How many messages this model has not come to yet, or not to the rest of. Goes through all of them."""
        model = self._model(fingerprint) or _Model(0, 0, 0, 0, 0)
        return self._db.execute(
            "SELECT (SELECT count(*) FROM message WHERE withheld IS NULL AND id > ?3) + "
            "(SELECT count(*) FROM message WHERE withheld IS NULL AND id < ?2) + "
            f"(SELECT count(*) FROM message WHERE {_LONG_REPLY} AND id > ?5 AND id <= ?3) + "
            f"(SELECT count(*) FROM message WHERE {_LONG_REPLY} AND id < ?4 AND id >= ?2)",
            (longer_than, model.lowest, model.highest, model.rest_lowest, model.rest_highest),
        ).fetchone()[0]

    def embedded(self, fingerprint: str, numbers: Sequence[int]) -> set[int]:
        """Those of these messages that this model has come to."""
        model = self._model(fingerprint) or _Model(0, 0, 0, 0, 0)
        rows = self._db.execute(
            f"SELECT id FROM message WHERE id IN ({','.join('?' * len(numbers))}) AND id BETWEEN ? AND ? "
            "AND withheld IS NULL",
            (*numbers, model.lowest, model.highest),
        )
        return {number for (number,) in rows}

    def nearest(
        self, fingerprint: str, kind: str, vector: bytes, *, scopes: Sequence[str] | None, limit: int
    ) -> list[tuple[int, float]]:
        """(message, cosine) of the chunks of one kind nearest to a unit `vector`; a message's nearest speaks for it."""
        model = self._model(fingerprint)
        return self._vectors.nearest(model.id, kind, vector, scopes=scopes, limit=limit) if model else []

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def put(self, fingerprint: str, dimension: int, rows: Sequence[tuple[int, str, Sequence[bytes]]]) -> None:
        """Store the vectors of one batch of `pending`: (message, kind, vectors), and move the interval over it.

        A message that was forgotten meanwhile gets none.
        """
        numbers = [number for number, _, _ in rows]
        model = self._model(fingerprint) or self._begin(fingerprint, dimension, max(numbers))
        for number, kind, vectors in rows:
            if not model.lowest <= number <= model.highest:  # else another process was first
                self._add(model, number, kind, vectors)
        self._db.execute(
            "UPDATE archive_model SET lowest = min(lowest, ?), highest = max(highest, ?) WHERE id = ?",
            (min(numbers), max(numbers), model.id),
        )

    def put_rest(self, fingerprint: str, stretch: Stretch, rows: Sequence[tuple[int, str, Sequence[bytes]]]) -> None:
        """Store the vectors of the rests in a stretch of `pending_rest`, as `put` does, and count it as done."""
        model = self._model(fingerprint)
        if model is None:
            return  # the model's vectors were taken away meanwhile
        for number, kind, vectors in rows:
            if not model.rest_lowest <= number <= model.rest_highest:
                self._add(model, number, kind, vectors)
        self._db.execute(
            "UPDATE archive_model SET rest_lowest = min(coalesce(rest_lowest, ?1), ?1), "
            "rest_highest = max(coalesce(rest_highest, ?2), ?2) WHERE id = ?3",
            (stretch.first, stretch.last, model.id),
        )

    def drop(self, number: int) -> None:
        """Delete every vector of a message."""
        self._vectors.drop(number)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _add(self, model: _Model, number: int, kind: str, vectors: Sequence[bytes]) -> None:
        row = self._db.execute("SELECT scope FROM message WHERE id = ? AND withheld IS NULL", (number,)).fetchone()
        if row is not None:  # else it is gone meanwhile
            self._vectors.add(model.id, row[0], kind, [(number, vector) for vector in vectors])

    def _model(self, fingerprint: str) -> _Model | None:
        # A rest's interval that has not begun lies empty above the first, so that it begins with the newest.
        row = self._db.execute(
            "SELECT id, lowest, highest, coalesce(rest_lowest, highest + 1), coalesce(rest_highest, highest) "
            "FROM archive_model WHERE fingerprint = ?",
            (fingerprint,),
        ).fetchone()
        return _Model(*row) if row else None

    def _begin(self, fingerprint: str, dimension: int, newest: int) -> _Model:
        """A model, with an interval that holds nothing yet."""
        self._db.execute(
            "INSERT INTO archive_model(fingerprint, dimension, lowest, highest) VALUES (?, ?, ?, ?)",
            (fingerprint, dimension, newest + 1, newest),
        )
        return _Model(self._db.last_insert_rowid(), newest + 1, newest, newest + 1, newest)
