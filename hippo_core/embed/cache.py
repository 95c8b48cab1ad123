"""Vectors of questions that were asked before: the last in this process, and in a small file for the next one.

The file holds no words: a question is known by a hash under a key that was drawn when the file was made, so forgetting,
which deletes the file, takes the key along. Whatever is wrong with the file, the model answers instead. Knows no store.
"""

import contextlib
import os
import struct
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hippo_core.embed.base import Embedder
from hippo_core.paths import write_atomic
from hippo_core.project import blake2b

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    import numpy

IN_PROCESS = 256
IN_FILE = 256  # questions; when there are so many, the newer half is kept
_MOST_BEGUN = 16
_MAGIC = b"hippoq1\n"
_KEY, _DIGEST, _CHECK = 32, 16, 8
_HEAD = len(_MAGIC) + 4 + _KEY


class CachedQueries:
    """An embedder that asks `embedder` only for questions it has not met. For questions, not for what is stored.

    ahead: begin on a question that is expected, beside what its asker does meanwhile; for a process that stays.
    """

    def __init__(self, embedder: Embedder, file: Path, *, ahead: "Executor | None" = None):
        self.fingerprint, self.dimension = embedder.fingerprint, embedder.dimension
        self._embedder, self._file = embedder, file
        self._lock = threading.Lock()
        self._own_key = os.urandom(_KEY)
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self._beside: bytes | None = None  # the key of the file that belongs to what is known here
        self.skipped = False  # whether the last question was answered without the model
        self.ahead = ahead
        self._begun: dict[bytes, Future[bytes]] = {}

    def pieces(self, text: str) -> list[str]:
        return self._embedder.pieces(text)

    def expect(self, text: str) -> None:
        """Begin on a question that will be asked for in a moment; only with `ahead`."""
        if len(self._begun) >= _MOST_BEGUN:  # whoever expected these went without them
            self._begun.clear()
        self._begun[self._digest(text, self._own_key)] = self.ahead.submit(self._vector, text)

    def embed(self, texts: Sequence[str]) -> "numpy.ndarray":
        import numpy

        vectors = []
        for text in texts:
            begun = self._begun.pop(self._digest(text, self._own_key), None) if self._begun else None
            data = self._vector(text) if begun is None else begun.result()
            vectors.append(numpy.frombuffer(data, dtype="<f4"))
        return numpy.stack(vectors).astype(numpy.float32) if vectors else self._embedder.embed([])

    def _vector(self, text: str) -> bytes:
        own = self._digest(text, self._own_key)
        self._go_with_the_file()
        with self._lock:
            known = self._known.get(own)
        if known is None:
            key, data = self._read()
            known = self._recorded(text, key, data)
        self.skipped = known is not None
        if known is None:
            known = self._embedder.embed([text])[0].astype("<f4").tobytes()
            self._write(text, known, key, data)
        with self._lock:
            self._known[own] = known
            self._known.move_to_end(own)
            while len(self._known) > IN_PROCESS:
                self._known.popitem(last=False)
        self._go_with_the_file()
        return known

    def _go_with_the_file(self) -> None:
        """Forgetting deletes the file; what this process knows goes too, at the latest with its next question."""
        try:
            with self._file.open("rb") as file:
                key = file.read(_HEAD)[-_KEY:]
        except OSError:
            key = None
        with self._lock:
            if self._beside not in (None, key):
                self._known.clear()
            self._beside = key

    def _digest(self, text: str, key: bytes) -> bytes:
        words = f"{self.fingerprint}\0{text}".encode("utf-8", "surrogatepass")
        return blake2b(words, key=key, digest_size=_DIGEST).digest()

    # -- the file: head (magic, dimension, key), then records (digest, check, vector) ----------------------------------

    @property
    def _record(self) -> int:
        return _DIGEST + _CHECK + 4 * self.dimension

    def _recorded(self, text: str, key: bytes | None, data: bytes) -> bytes | None:
        """The vector that the file has for a question, the last if there are several."""
        if key is None:
            return None
        digest, found = self._digest(text, key), None
        place = data.find(digest)
        while place >= 0:  # the same bytes inside a vector are not at a record's beginning
            record = data[place : place + self._record]
            if place % self._record == 0 and self._is_whole(record, key):
                found = record[_DIGEST + _CHECK :]
            place = data.find(digest, place + 1)
        return found

    def _read(self) -> tuple[bytes | None, bytes]:
        """The file's key and what follows its head; no key when there is no such file."""
        try:
            with self._file.open("rb") as file:
                data = file.read(_HEAD + 4 * IN_FILE * self._record)
        except OSError:
            return None, b""
        if len(data) < _HEAD or data[: len(_MAGIC) + 4] != _MAGIC + struct.pack("<I", self.dimension):
            return None, b""
        return data[_HEAD - _KEY : _HEAD], data[_HEAD:]

    def _is_whole(self, record: bytes, key: bytes) -> bool:
        digest, check, vector = record[:_DIGEST], record[_DIGEST : _DIGEST + _CHECK], record[_DIGEST + _CHECK :]
        return len(record) == self._record and check == _check(digest, vector, key)

    def _write(self, text: str, vector: bytes, key: bytes | None, data: bytes) -> None:
        """Add one question. A record written beside another process's is at worst lost, never taken for another."""
        with contextlib.suppress(OSError):
            new = key or os.urandom(_KEY)
            record = self._packed(self._digest(text, new), vector, new)
            size = 0 if key is None else self._file.stat().st_size - _HEAD
            if key is None or size >= IN_FILE * self._record or size % self._record:
                starts = range(0, len(data), self._record)
                kept = [one for start in starts if self._is_whole(one := data[start : start + self._record], new)]
                head = _MAGIC + struct.pack("<I", self.dimension) + new
                write_atomic(self._file, head + b"".join(kept[-IN_FILE // 2 :]) + record)
                return
            descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                os.write(descriptor, record)
            finally:
                os.close(descriptor)

    def _packed(self, digest: bytes, vector: bytes, key: bytes) -> bytes:
        return digest + _check(digest, vector, key) + vector


def forget_queries(file: Path) -> None:
    """Delete the file and what was left half-written of it; a question asked again is embedded again."""
    for left in (file, *file.parent.glob(f".{file.name}.*.tmp")):
        left.unlink(missing_ok=True)


def _check(digest: bytes, vector: bytes, key: bytes) -> bytes:
    return blake2b(digest + vector, key=key, digest_size=_CHECK).digest()
