"""How common the archive's common words are, so that a question's cost is known before it is asked.

What a keyword search costs is how many rows it matches, and an index of a million rows takes longer to say how many
that are than to answer. So the words that many messages hold are counted ahead, whenever the archive has grown by a
quarter; a word that is not in the table is rare. Derived from the index; forgetting anything clears it.
What follows from the frequencies of words, a plan, is the same for any index.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw

from hippo_core.store.words import MOST_PARTS, Stems

COMMON = 500  # messages that hold a word, from which on it is counted ahead
_ENOUGH = 10_000  # messages, from which on counting pays
_GROWTH = 1.25


LISTED = 14_000  # rows that may be listed where a question matches too many to be ranked by FTS5; about 7 ms
_LARGE = 100_000  # rows of an index, from which on one takes twice as long to be ranked, as they lie farther apart
# What finding the rows of one scope costs, in rows listed: of each word, its rows, the first ones more; but no more
# than to skip from one row of a small scope to the next.
_WORD, _EACH, _FIRST, _FIRST_ROWS = 1_500, 0.1, 0.3, 10_000
_WORD_BY_SKIPPING, _SKIP = 600, 0.8
# What FTS5 goes through before it ranks in one scope, in rows ranked: all rows of the scope, and of each word all rows,
# wherever they are.
_RANKING = 0.07


class Plan(NamedTuple):
    """How to look for a question's words.

    words: those to look for, rarest first. since: only rows with a higher number; 0 for all of them. share: None when
    FTS5 can rank what they match; else the rows are listed (store/postings.py), of this share of all.
    """

    words: tuple[str, ...]
    since: int = 0
    share: float | None = None


class Extent(NamedTuple):
    """Where words are looked for. inside, whole: rows in the scopes that are searched, and in all. newest: the highest
    number of a row. scoped: whether scopes are told apart at all. part: how much of all rows is gone through."""

    inside: int
    whole: int
    newest: int
    scoped: bool
    part: float = 1.0


def planned(
    expected: Mapping[str, float], extent: Extent, budget: int, stems: Stems, listed: int | None = None
) -> Plan:
    """All of the words, ranked by FTS5, while they match at most `budget` rows; else as many as can be listed, the
    rarest first; where the rarest is too common, among the newest rows.

    expected: in how many rows each word is. budget: 0 when FTS5 is to rank none. listed: how many rows can be; None for
    LISTED.
    """
    most = LISTED if listed is None else listed
    share = extent.inside / extent.whole if extent.whole else 1.0
    if extent.whole > _LARGE and not extent.scoped:
        budget //= 2
    ordered = tuple(sorted(expected, key=expected.__getitem__))
    # Each word of a phrase is gone through.
    parts = {word: min(max(1, len(stems(word))), MOST_PARTS) for word in ordered}
    ranking = share * sum(expected.values())
    if extent.scoped:
        ranking += _RANKING * (extent.inside + sum(parts[word] * expected[word] for word in ordered))
    if budget and ranking <= budget:
        return Plan(ordered)
    chosen: list[str] = []
    cost = gone_through = 0.0
    for word in ordered:
        rows, by_itself = _listing(expected[word], parts[word], extent)
        added = rows + by_itself
        if chosen and cost + added > most:
            break
        chosen.append(word)
        cost += added
        gone_through += rows
    return Plan(tuple(chosen), int(extent.newest * (1 - most / gone_through)) if gone_through > most else 0, share)


def _listing(rows: float, parts: int, extent: Extent) -> tuple[float, float]:
    """What it costs to find a word's rows, in rows listed: going through them, and the word by itself."""
    if not extent.scoped:
        return parts * rows, 0.0
    ways = (
        (_EACH * parts * rows + _FIRST * min(parts * rows, _FIRST_ROWS), _WORD * parts * extent.part),
        (_SKIP * parts * extent.inside * extent.part, _WORD_BY_SKIPPING * parts * extent.part),
    )
    return min(ways, key=sum)


class Frequencies:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._stems = Stems(db)

    # -- writing: call inside Store.transaction() --------------------------------------------------------------------

    def due(self) -> bool:
        """Whether the archive has grown so much that it should be counted again."""
        newest = self._newest()
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
        for term in self._stems(word):
            row = self._db.execute("SELECT messages FROM archive_word WHERE word = ?", (term,)).fetchone()
            if row is None:
                return None
            counts.append(row[0])
        return min(counts, default=None)

    def plan(self, words: Iterable[str], scopes: Sequence[str] | None, budget: int, listed: int | None = None) -> Plan:
        """How to look for `words` in `scopes`; budget, listed: as in `planned`."""
        return self._planned(words, scopes, budget, listed, 1.0)

    def plan_among(
        self, words: Iterable[str], scopes: Sequence[str] | None, first: int, last: int, listed: int
    ) -> Plan:
        """The same where only messages with a number from `first` to `last` are gone through; FTS5 ranks none."""
        counted = self._counted_to()
        if not counted:  # there are few
            return Plan(tuple(words), first - 1, 1.0)
        part = min(1.0, (last - first + 1) / counted)
        plan = self._planned(words, scopes, 0, listed, part)
        return plan._replace(since=first - 1 + plan.since)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _planned(
        self, words: Iterable[str], scopes: Sequence[str] | None, budget: int, listed: int | None, part: float
    ) -> Plan:
        expected = {word: part * (self.of(word) or COMMON / 2) for word in words}
        inside, whole = self._sizes(scopes)
        extent = Extent(inside, whole, int(part * self._counted_to()), scopes is not None, part)
        return planned(expected, extent, budget, self._stems, listed)

    def _newest(self) -> int:
        return self._db.execute("SELECT coalesce(max(id), 0) FROM message").fetchone()[0]

    def _counted_to(self) -> int:
        return self._db.execute("SELECT coalesce(max(newest), 0) FROM archive_counted").fetchone()[0]

    def _sizes(self, scopes: Sequence[str] | None) -> tuple[int, int]:
        """How many messages are in `scopes`, and in all; 0 before the first count.

        What came since the last one may all be in them: a project that has begun meanwhile is not counted at all.
        """
        where = "1" if scopes is None else f"scope IN ({','.join('?' * len(scopes))})"
        inside, whole = self._db.execute(
            f"SELECT coalesce(sum(messages) FILTER (WHERE {where}), 0), coalesce(sum(messages), 0) "
            "FROM archive_counted",
            tuple(scopes or ()),
        ).fetchone()
        since = max(0, self._newest() - self._counted_to()) if whole else 0
        return inside + since, whole + since
