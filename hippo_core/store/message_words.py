"""Which archived messages hold words, and which a name letter by letter. Reads only; knows no ranking beyond BM25.

What that may cost is bounded by whoever plans it (store/frequencies.py).
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import apsw

from hippo_core.store.postings import Among, ranked, rows_with
from hippo_core.store.words import Stems, letters, match_expression, word_matches

# Messages of all sessions, in which a session's best is looked for, so that one of years costs no more.
_STRETCH = 20_000
_SOON_READ = 4_000  # letters; splitting them into words takes what a question to the index does, for a few words
_COUNTED = 4_000  # letters of a message, in which it is counted how often words are there


class MessageWords:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._stems = Stems(db)

    def keyword_hits(
        self,
        words: Iterable[str],
        *,
        scopes: Sequence[str] | None,
        limit: int,
        since: int = 0,
        share: float | None = None,
    ) -> list[tuple[int, float]]:
        """(number, BM25) of the messages after number `since` that hold any of `words`, best first.

        share: as in Plan.
        """
        if share is not None:
            return self.ranked(words, scopes=scopes, limit=limit, since=since, share=share)
        query = match_expression(words, scopes)
        if query is None:
            return []
        return self._db.execute(
            "SELECT rowid, -rank FROM message_plain WHERE message_plain MATCH ? AND rowid > ? ORDER BY rank LIMIT ?",
            (query, since, limit),
        ).fetchall()

    def ranked(
        self,
        words: Sequence[str],
        *,
        scopes: Sequence[str] | None,
        limit: int,
        share: float,
        since: int = 0,
        among: Among | None = None,
    ) -> list[tuple[int, float]]:
        """As `keyword_hits`, in less time than FTS5 takes to rank very many (store/postings.py). among: only these."""
        return ranked(
            self._db,
            "message_plain",
            words,
            {"text cjk": 1.0},
            scopes=scopes,
            share=share,
            limit=limit,
            since=since,
            among=among,
            texts=self._beginnings,
        )

    def with_words(self, name: str, *, scopes: Sequence[str] | None, since: int) -> list[int]:
        """Numbers of the messages after number `since` that have the words of `name` in a row, the oldest first.

        In this order: the other way FTS5 goes through all rows of each word, whatever `since` is.
        """
        return rows_with(self._db, "message_plain", match_expression([name], scopes), since)

    def spelled(
        self, names: Iterable[str], numbers: Sequence[int], *, limit: int, withheld: bool
    ) -> Iterator[tuple[int, str, str]]:
        """(number, session, text) of those of these messages that seem to hold one of `names` letter by letter.

        The newest first, at most `limit`. withheld: as in `places`. SQLite passes over the others in a fifth of the
        time that it takes to read their texts.
        """
        patterns = list(map(letters, names))
        return self._db.execute(
            "SELECT id, session_id, text FROM message WHERE id IN (SELECT value FROM json_each(?)) "
            f"AND ({' OR '.join(['text LIKE ? ESCAPE char(92)'] * len(patterns))}) "
            "AND (? OR withheld IS NULL) ORDER BY id DESC LIMIT ?",
            (json.dumps(numbers), *patterns, withheld, limit),
        )

    def best_of_sessions(
        self,
        words: Iterable[str],
        sessions: Sequence[str],
        *,
        scopes: Sequence[str] | None,
        withheld: bool,
        known: Callable[[str], int | None],
    ) -> dict[str, int]:
        """Each session's message in `scopes` that best holds `words`, of those sessions that have one.

        Best is who holds the most, each word by its rarity, and says it shortest: BM25 would go through every message
        of the archive that holds a word, for each session anew. withheld: as in `places`. known: as in `word_matches`.
        """
        newest = self._db.execute("SELECT coalesce(max(id), 0) FROM message").get
        queries = {match_expression([word], None): math.log(2 + newest / (known(word) or 1)) for word in words}
        queries.pop(None, None)
        inside = "" if scopes is None else f" AND scope IN ({','.join('?' * len(scopes))})"
        best: dict[str, int] = {}
        for session in sessions if queries else ():
            lengths = dict(
                self._db.execute(
                    f"SELECT id, length(text) FROM message WHERE session_id = ? AND (? OR withheld IS NULL){inside}",
                    (session, withheld, *(scopes or ())),
                )
            )
            held: dict[int, float] = {}
            for query, rarity in queries.items() if lengths else ():
                rows = self._db.execute(
                    "SELECT rowid FROM message_plain WHERE message_plain MATCH ? AND rowid BETWEEN ? AND ?",
                    (query, max(min(lengths), max(lengths) - _STRETCH), max(lengths)),
                )
                for (number,) in rows:
                    if number in lengths:
                        held[number] = held.get(number, 0.0) + rarity
            if held:
                best[session] = max(held, key=lambda number: (held[number], -lengths[number]))
        return best

    def word_matches(
        self, words: Iterable[str], *, among: Sequence[int], known: Callable[[str], int | None]
    ) -> list[tuple[int, frozenset[int]]]:
        """For each word: how many messages hold it, and which of `among` do. known: the number, for common words."""
        counts = [(word, known(word)) for word in words]
        read = self._read(among) if any(count is not None for _, count in counts) else {}
        found = []
        for word, count in counts:
            found += (
                word_matches(self._db, "message_plain", [word], among)
                if count is None
                else [(count, self._holding(word, among, read))]
            )
        return found

    # -- inside ------------------------------------------------------------------------------------------------------

    def _beginnings(self, numbers: Sequence[int]) -> dict[int, str]:
        """The first letters of each of these messages, in which words are counted."""
        marks = ",".join("?" * len(numbers))
        sql = f"SELECT id, substr(text, 1, {_COUNTED}) FROM message WHERE id IN ({marks})"
        return dict(self._db.execute(sql, tuple(numbers)))

    def _read(self, numbers: Sequence[int]) -> dict[int, str]:
        """The words of these messages, each between blanks, as the index has them; of those that are soon read."""
        rows = self._db.execute(
            "SELECT id, text || char(10) || coalesce(cjk, '') FROM message WHERE length(text) <= ? "
            f"AND id IN ({','.join('?' * len(numbers))})",
            (_SOON_READ, *numbers),
        )
        return {number: f" {' '.join(self._stems(text))} " for number, text in rows}

    def _holding(self, word: str, among: Sequence[int], read: Mapping[int, str]) -> frozenset[int]:
        """Which of `among` hold `word`: a common word has too many messages to go through. read: as `_read` gives it.

        A long text is not read, but the index asked.
        """
        query, terms = match_expression([word], None), f" {' '.join(self._stems(word))} "
        sql = "SELECT 1 FROM message_plain WHERE message_plain MATCH ? AND rowid = ?"
        return frozenset(
            number
            for number in among
            if (terms in read[number] if number in read else self._db.execute(sql, (query, number)).fetchone())
        )
