"""The store as a whole: opens the file, migrates it, and hands out its rooms. Holds no SQL beyond transactions."""

import contextlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from hippo_core.errors import StoreUnavailableError
from hippo_core.store import connection, migrations
from hippo_core.store.memories import Memories
from hippo_core.store.vectors import Vectors

if TYPE_CHECKING:
    from hippo_core.store.archive import Archive
    from hippo_core.store.episodes import Episodes
    from hippo_core.store.forget import Forgetting
    from hippo_core.store.frequencies import Frequencies
    from hippo_core.store.journal import Journal
    from hippo_core.store.message_vectors import MessageVectors
    from hippo_core.store.message_words import MessageWords
    from hippo_core.store.nights import Nights
    from hippo_core.store.progress import Progress
    from hippo_core.store.said_when import SaidWhen
    from hippo_core.store.upkeep import Upkeep
    from hippo_core.store.use import Uses


class Store:
    """One open file. Close it, or use `with`.

    Its rooms: memories, vectors, archive, message_words, episodes, message_vectors, frequencies, said_when, progress,
    journal, forgetting, uses, nights, upkeep. What a search does not need is imported when it is asked for.
    """

    def __init__(self, db: apsw.Connection, path: Path, readonly: bool):
        self.path, self.readonly = path, readonly
        self._db = db
        self.vectors = Vectors(db)
        self.memories = Memories(db, self.vectors)

    @cached_property
    def archive(self) -> "Archive":
        from hippo_core.store.archive import Archive

        return Archive(self._db, self.message_vectors)

    @cached_property
    def message_words(self) -> "MessageWords":
        from hippo_core.store.message_words import MessageWords

        return MessageWords(self._db)

    @cached_property
    def message_vectors(self) -> "MessageVectors":
        from hippo_core.store.message_vectors import MessageVectors

        return MessageVectors(self._db)

    @cached_property
    def episodes(self) -> "Episodes":
        from hippo_core.store.episodes import Episodes

        return Episodes(self._db)

    @cached_property
    def frequencies(self) -> "Frequencies":
        from hippo_core.store.frequencies import Frequencies

        return Frequencies(self._db)

    @cached_property
    def said_when(self) -> "SaidWhen":
        from hippo_core.store.said_when import SaidWhen

        return SaidWhen(self._db, self.message_words, self.episodes, self.frequencies)

    @cached_property
    def progress(self) -> "Progress":
        from hippo_core.store.progress import Progress

        return Progress(self._db)

    @cached_property
    def journal(self) -> "Journal":
        from hippo_core.store.journal import Journal

        return Journal(self._db)

    @cached_property
    def forgetting(self) -> "Forgetting":
        from hippo_core.store.forget import Forgetting

        return Forgetting(self._db, self.memories, self.archive, self.episodes, self.frequencies)

    @cached_property
    def uses(self) -> "Uses":
        from hippo_core.store.use import Uses

        return Uses(self._db)

    @cached_property
    def nights(self) -> "Nights":
        from hippo_core.store.nights import Nights

        return Nights(self._db, self.memories)

    @cached_property
    def upkeep(self) -> "Upkeep":
        from hippo_core.store.upkeep import Upkeep

        return Upkeep(self._db)

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False, create: bool = True) -> "Store":
        """Open `path`; a writer also creates and migrates it. Raises a StoreError that says what is wrong."""
        db = connection.connect(path, migrations.NEWEST, readonly=readonly, create=create)
        try:
            with connection.translated(path):
                if readonly and db.pragma("user_version") < migrations.NEWEST:
                    db.close()
                    cls._migrate(path)
                    return cls.open(path, readonly=True)
                if not readonly:
                    migrations.migrate(db)
            return cls(db, path, readonly)
        except BaseException:
            db.close()
            raise

    @classmethod
    def _migrate(cls, path: Path) -> None:
        """What opening for writing does first, for somebody who only wants to read."""
        try:
            cls.open(path).close()
        except StoreUnavailableError as error:
            raise StoreUnavailableError(
                f"The store {path} is of an older version and has to be brought up to date before it can be read, but "
                "it cannot be written. Make it writable and run this again, or copy its folder to where it can be "
                "written and set HIPPO_HOME to that."
            ) from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Takes the write lock at once, so that two writers wait for each other and never deadlock.

        StoreTooNewError when a newer version has migrated the file since it was opened.
        """
        with connection.translated(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                if not self.current:
                    raise connection.too_new(self.path, self._db.pragma("user_version"), migrations.NEWEST)
                newest = self.episodes.newest()
                yield
                self.episodes.group_appended(newest)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @property
    def current(self) -> bool:
        """Whether the file still has the schema it was opened with; another version may have migrated it since."""
        with connection.translated(self.path):
            return self._db.pragma("user_version") == migrations.NEWEST

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """SQLite's errors in plain words, for reads outside a transaction."""
        with connection.translated(self.path):
            yield

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
