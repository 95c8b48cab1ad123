"""How common the archive's common words are, so that a question's cost is known before it is asked.

What a keyword search costs is how many rows it matches, and an index of a million rows takes longer to say how many
that are than to answer. So the words that many messages hold are counted ahead, whenever the archive has grown by a
quarter; a word that is not in the table is rare. Derived from the index; forgetting anything clears it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

COMMON = 500  # messages that hold a word, from which on it is counted ahead
_ENOUGH = 10_000  # messages, from which on counting pays
_GROWTH = 1.25


@dataclass(frozen=True)
class Plan:
    """words: those to look for, rarest first. since: only messages with a higher number; 0 for all of them."""

    words: tuple[str, ...]
    since: int = 0


class Frequencies:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._tokenizer: apsw.FTS5Tokenizer | None = None

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def due(self) -> bool:
        """Whether the archive has grown so much that it should be counted again."""
        newest = self._db.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()[0]
        return newest >= _ENOUGH and newest > _GROWTH * self._counted_to()

    def count(self) -> None:
        """Count every common word, and the messages of each project."""
        self.clear()
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_words USING fts5vocab(main, message_plain, row)"
        )
        self._db.execute("INSERT INTO archive_word SELECT term, doc FROM temp.message_words WHERE doc >= ?", (COMMON,))
        self._db.execute("INSERT INTO archive_counted SELECT scope, count(*), max(id) FROM message GROUP BY scope")

    def clear(self) -> None:
        self._db.execute("DELETE FROM archive_word")
        self._db.execute("DELETE FROM archive_counted")

    # -- reading -----------------------------------------------------------------------------------------------------

    def of(self, word: str) -> int | None:
        """How many messages hold `word`, as of the last count; None when it is rare, or nothing was counted."""
        counts = []
        for term in self._terms(word):
            row = self._db.execute("SELECT messages FROM archive_word WHERE word = ?", (term,)).fetchone()
            if row is None:
                return None
            counts.append(row[0])
        return min(counts, default=None)

    def plan(self, words: Iterable[str], scopes: Sequence[str] | None, budget: int) -> Plan:
        """Those of `words` that together match at most `budget` messages in `scopes`, the rarest first.

        Where the rarest alone matches more, only the newest messages are searched.
        """
        share = self._share(scopes)
        expected = {word: (self.of(word) or COMMON / 2) * share for word in words}
        chosen: list[str] = []
        matched = 0.0
        for word in sorted(expected, key=expected.__getitem__):
            if chosen and matched + expected[word] > budget:
                break
            chosen.append(word)
            matched += expected[word]
        newest = self._counted_to()
        return Plan(tuple(chosen), int(newest * (1 - budget / matched)) if matched > budget else 0)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _counted_to(self) -> int:
        return self._db.execute("SELECT coalesce(max(newest), 0) FROM archive_counted").fetchone()[0]

    def _share(self, scopes: Sequence[str] | None) -> float:
        """Which share of the counted messages is in `scopes`."""
        if scopes is None:
            return 1.0
        inside, whole = self._db.execute(
            f"SELECT coalesce(sum(messages) FILTER (WHERE scope IN ({','.join('?' * len(scopes))})), 0), "
            "coalesce(sum(messages), 0) FROM archive_counted",
            tuple(scopes),
        ).fetchone()
        return inside / whole if whole else 1.0

    def _terms(self, word: str) -> list[str]:
        """`word` as the index keeps it."""
        if self._tokenizer is None:
            self._tokenizer = self._db.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        found = self._tokenizer(
            word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )
        return [term if isinstance(term, str) else term[0] for term in found]
