"""The store kept open for reading by a process that lives long. Knows nothing of what is read."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from hippo_core.store.store import Store


class Reader:
    """The store, open for reading from one call to the next: opening it anew costs a search a third of its time.

    It is opened again when the file was created, replaced, written by a checkpoint or migrated meanwhile, and after
    any error, so that each call meets the store as it is. One call at a time.
    """

    def __init__(self, path: Path):
        self._path = path
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._file: tuple[int, ...] | None = None

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        with self._lock:
            try:
                self._ensure_open()
                yield self._store
            except BaseException:
                self._close()
                raise

    def _ensure_open(self) -> None:
        file = self._stat()
        if self._store is not None and not (file == self._file and self._store.current):
            self._close()
        if self._store is None:
            self._store, self._file = Store.open(self._path, readonly=True), file

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _stat(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
