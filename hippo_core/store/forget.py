"""Forgetting for good: rows, indexes, journal entries, freed pages and the write-ahead log.

SQLite's secure_delete overwrites what a deletion frees, but where rows were moved between pages a copy may stay behind
(measured: 2 to 14 of 3,000), and FTS5 keeps the words that separate its pages. So the file is written anew afterwards.
Knows nothing of what should go; that is decided in curate.forget.
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence

import apsw

from hippo_core import clock
from hippo_core.model.memory import Memory
from hippo_core.store.archive import Archive, Archived
from hippo_core.store.episodes import Episodes
from hippo_core.store.forgotten import plain
from hippo_core.store.frequencies import Frequencies
from hippo_core.store.memories import Memories
from hippo_core.store.words import pairs

_INDEXES = ("memory_exact", "memory_plain", "message_plain", "episode_plain")
_TELLING = 4  # characters of a word from which on a part of it gives something away
_MOST_VALUES = 500


class Forgetting:
    def __init__(
        self, db: apsw.Connection, memories: Memories, archive: Archive, episodes: Episodes, frequencies: Frequencies
    ):
        self._db, self._memories, self._archive = db, memories, archive
        self._episodes, self._frequencies = episodes, frequencies

    # -- what holds a text -------------------------------------------------------------------------------------------

    def memories_holding(self, texts: Collection[str]) -> list[int]:
        """Numbers of all memories, whatever their status, that hold any of `texts`, as `_holding` has it."""
        rows = self._db.execute("SELECT id, text || char(10) || coalesce(domain, '') FROM memory ORDER BY id")
        return _holding(rows, texts)

    def messages_holding(self, texts: Collection[str]) -> list[int]:
        """Numbers of all archived messages that hold any of `texts`, as `_holding` has it."""
        return _holding(self._db.execute("SELECT id, text FROM message ORDER BY id"), texts)

    def wordings_holding(self, texts: Collection[str]) -> dict[int, int]:
        """Journal entries whose earlier state of a memory holds any of `texts`: the memory's number, by the entry's."""
        rows = self._db.execute("SELECT id, memory_id, before FROM journal WHERE before IS NOT NULL").fetchall()
        holding = set(_holding(((entry, json.loads(before)["text"]) for entry, _, before in rows), texts))
        return {entry: memory for entry, memory, _ in rows if entry in holding}

    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """These memories in full, however many."""
        return [memory for some in _portions(numbers) for memory in self._memories.fetch(some).values()]

    def messages(self, numbers: Sequence[int]) -> list[Archived]:
        """These messages in full, however many."""
        return [message for some in _portions(numbers) for message in self._archive.fetch(some).values()]

    def source_files(self, messages: Sequence[int]) -> list[str]:
        """The transcript files that these messages came from, which are not ours to change."""
        found: dict[str, None] = {}
        for some in _portions(messages):
            rows = self._db.execute(
                "SELECT DISTINCT path FROM message JOIN ingest_source s ON s.id = source_id "
                f"WHERE message.id IN ({_marks(some)})",
                some,
            )
            found.update((path, None) for (path,) in rows)
        return list(found)

    def names_holding(self, text: str) -> list[str]:
        """Names of folders, projects and files that hold `text`: they stay, because later sessions need them."""
        names = self._db.execute(
            "SELECT label FROM memory_scope UNION SELECT identity FROM memory_scope UNION SELECT label FROM "
            "archive_project UNION SELECT identity FROM archive_project UNION SELECT cwd FROM archive_session UNION "
            "SELECT branch FROM archive_session UNION SELECT path FROM ingest_source"
        )
        rows = [(number, name) for number, (name,) in enumerate(names) if name]
        holding = set(_holding(rows, [text]))
        return [name for number, name in rows if number in holding]

    # -- erasing: call inside Store.transaction() --------------------------------------------------------------------

    def erase(
        self,
        memories: Sequence[int],
        messages: Sequence[int],
        *,
        earlier: Sequence[str] = (),
        lasting: Sequence[str] = (),
    ) -> None:
        """Delete these rows and every trace of their texts in the tables; the file itself is cleaned by `rewrite`.

        earlier: texts that no memory's earlier state may hold. lasting: those that no message still to be read may
        bring back.
        """
        texts = self._texts("memory", memories) + self._texts("message", messages)
        self._db.execute("INSERT INTO unfinished_forget VALUES (?)", (clock.now(),))
        with self._archive.door("forget", len(messages), len(memories)):
            self._memories.erase(memories)
            self._archive.erase(messages, lasting)
            self._episodes.drop_empty()
            self._db.execute(
                "DELETE FROM archive_session WHERE NOT EXISTS "
                "(SELECT 1 FROM message WHERE session_id = archive_session.id)"
            )
        self._db.execute(
            "DELETE FROM archive_project WHERE NOT EXISTS (SELECT 1 FROM archive_session WHERE scope = key)"
        )
        self._db.execute("DELETE FROM memory_scope WHERE NOT EXISTS (SELECT 1 FROM memory WHERE scope = key)")
        if messages:
            self._frequencies.clear()  # a word may have been in these messages alone
        entries = self.wordings_holding(earlier)
        self._db.executemany("UPDATE journal SET before = NULL WHERE id = ?", [(entry,) for entry in entries])
        for index in _INDEXES:
            if self._separator_remains(index, texts):
                self._db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")

    def _texts(self, table: str, numbers: Sequence[int]) -> list[str]:
        found: list[str] = []
        for some in _portions(numbers):
            found += [t for (t,) in self._db.execute(f"SELECT text FROM {table} WHERE id IN ({_marks(some)})", some)]
        return found

    def _separator_remains(self, index: str, texts: Sequence[str]) -> bool:
        """Whether FTS5 still separates two pages of `index` by the beginning of a word that nothing holds any more."""
        rows = self._db.execute(f"SELECT term FROM {index}_idx")
        separators = {bytes(term)[1:].decode("utf-8", "ignore") for (term,) in rows}  # the first byte names the index
        separators = {separator for separator in separators if len(separator) >= _TELLING}
        if not separators:
            return False
        suspects = {
            word[:end]
            for word in self._words(index, texts)
            for end in range(_TELLING, len(word) + 1)
            if word[:end] in separators
        }
        vocabulary = f"temp.{index}_words"
        self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {vocabulary} USING fts5vocab(main, {index}, row)")
        return any(
            self._db.execute(
                f"SELECT 1 FROM {vocabulary} WHERE term >= ? AND term < ? LIMIT 1", (suspect, suspect + "\U0010ffff")
            ).fetchone()
            is None
            for suspect in suspects
        )

    def _words(self, index: str, texts: Sequence[str]) -> set[str]:
        """The words of `texts` as `index` keeps them."""
        from apsw.fts5 import Table

        table = Table(self._db, index)
        return {
            word
            for text in texts
            for column in (text, pairs(text) or "")
            for word in table.tokenize(column.encode(), include_offsets=False, include_colocated=False)
        }

    # -- the file: call outside a transaction ------------------------------------------------------------------------

    @property
    def unfinished(self) -> bool:
        """Whether rows were forgotten whose bytes may still be in the file or its log."""
        return self._db.execute("SELECT 1 FROM unfinished_forget").fetchone() is not None

    def rewrite(self) -> None:
        """Write the file anew without what was freed. BusyError while another process writes.

        What is written lies beside the store for so long, in a file that nobody else can open: APSW's SQLite would hold
        it in memory, and a million messages are 2.6 GB.
        """
        folder = apsw.format_sql_value(os.path.dirname(self._db.filename))
        self._db.execute(f"PRAGMA temp_store = FILE; PRAGMA temp_store_directory = {folder}")
        try:
            self._db.execute("VACUUM")
        finally:
            self._db.execute("PRAGMA temp_store_directory = ''; PRAGMA temp_store = DEFAULT")

    def truncate_log(self) -> None:
        """Move the log into the file and cut it to nothing. BusyError while another process reads an older state."""
        self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def finished(self) -> None:
        """Take the mark away. In a transaction."""
        self._db.execute("DELETE FROM unfinished_forget")


def _holding(rows: Iterable[tuple[int, str]], texts: Collection[str]) -> list[int]:
    """Numbers of the rows that hold any of `texts`, but for case, white space and how letters are put together."""
    # A text's longest word tells most rows apart, without a look at their white space.
    wanted = [(max(words, key=len), " ".join(words)) for words in (plain(text).split() for text in texts) if words]
    found = []
    for number, body in rows if wanted else ():
        said = plain(body)
        if any(word in said and text in " ".join(said.split()) for word, text in wanted):
            found.append(number)
    return found


def _portions(numbers: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Runs that stay below SQLite's limit of values in one statement."""
    return (tuple(numbers[i : i + _MOST_VALUES]) for i in range(0, len(numbers), _MOST_VALUES))


def _marks(values: Sequence[int]) -> str:
    return ",".join("?" * len(values))
