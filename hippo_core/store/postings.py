"""BM25 over more rows than FTS5's own ranking has time for.

FTS5 lists the rows that hold a word twenty times faster than it ranks them, and before it ranks it goes through all
rows of every phrase once more, the scope's too. So where a question matches very many rows, they are listed word by
word, the best by rarity alone are kept, and only these are ranked with their lengths. A word counts once in a column
however often it is there, but for the very best rows, where whoever asks gives their texts: there its beginning is
counted, wherever it stands. Knows nothing of what the rows are.
"""

import heapq
import json
import math
from collections.abc import Callable, Container, Mapping, Sequence, Set
from typing import NamedTuple

import apsw

from hippo_core.store.words import Stems, match_expression, totals, varints

_ENOUGH = 3_000  # rows; once there are so many, further words, which are commoner, only speak for rows already there
_RANKED, _MORE = 250, 100  # of them at least, and more than are wanted, whose lengths are looked up
_READ = 200  # of these, in whose texts words are counted: with all of them no question was answered better
_NO_END = (1 << 63) - 1
_K1, _B = 1.2, 0.75  # as in FTS5's bm25()


class Among(NamedTuple):
    """rows: the only ones that are ranked, from `first` to `last`. frequency: how many of all rows hold a word; None
    where that is not known, so that all have to be listed."""

    rows: Container[int]
    first: int
    last: int
    frequency: Callable[[str], float | None]


Texts = Callable[[Sequence[int]], Mapping[int, str]]  # rows -> what each says, as far as it matters


def ranked(
    db: apsw.Connection,
    index: str,
    words: Sequence[str],
    columns: Mapping[str, float],
    *,
    scopes: Sequence[str] | None,
    share: float,
    limit: int,
    since: int = 0,
    among: Among | None = None,
    texts: Texts | None = None,
) -> list[tuple[int, float]]:
    """(row, score) of the rows of `index` that hold any of `words`, rarest first; the best `limit`.

    columns: where to look, and what a word counts there. share: how much of the index is in `scopes`. since: only rows
    with a higher number. among: only these. texts: what rows say.
    """
    total, average = _averages(db, index)
    found: list[_Word] = []
    rough: dict[int, float] = {}
    for word in words:
        known = among.frequency(word) if among else None
        bounds = (0 if among else since, None) if known is None else (max(since, among.first - 1), among.last)
        listed = [
            (weight, rows_with(db, index, match_expression([word], scopes, columns=column), *bounds))
            for column, weight in columns.items()
        ]
        frequency = max(len(rows) for _, rows in listed) if known is None else known * share
        if among:
            listed = [(weight, list(filter(among.rows.__contains__, rows))) for weight, rows in listed]
        found.append(_Word(listed, _rarity(total * share, frequency)))
        found[-1].add_to(rough)
    best = sorted(rough, key=rough.__getitem__)[-max(_RANKED, limit + _MORE) :]
    lengths = _lengths(db, index, best)
    read = {row: text.casefold() for row, text in texts(best[-_READ:]).items()} if texts else {}
    scores = dict.fromkeys(best, 0.0)
    for word, beginning in zip(found, map(Stems(db).beginning, words), strict=True):
        for row, count in word.counts(scores.keys()).items():
            if row in read:
                count *= max(1, read[row].count(beginning))
            scores[row] += word.rarity * _saturated(count, lengths.get(row, average) / average)
    return heapq.nlargest(limit, scores.items(), key=lambda pair: (pair[1], pair[0]))


def rows_with(db: apsw.Connection, index: str, query: str | None, since: int, until: int | None = None) -> list[int]:
    """The numbers of the rows of `index` that `query` matches, in their order; after `since`, and not after `until`."""
    if query is None:
        return []
    sql = f"SELECT json_group_array(rowid) FROM {index} WHERE {index} MATCH ? AND rowid > ? AND rowid <= ?"
    return json.loads(db.execute(sql, (query, since, _NO_END if until is None else until)).get)


class _Word(NamedTuple):
    """listed: for each column its weight, and the rows that hold the word there, in order."""

    listed: list[tuple[float, list[int]]]
    rarity: float

    def add_to(self, rough: dict[int, float]) -> None:
        """Count what the word says of rows of average length; of those that nothing was said of, the newest."""
        for weight, rows in self.listed:
            gain = self.rarity * _saturated(weight, 1.0)
            for row in rough.keys() & rows:
                rough[row] += gain
            room = _ENOUGH - len(rough)
            if room > 0:
                for row in rows[-room:]:
                    rough.setdefault(row, gain)

    def counts(self, among: Set[int]) -> dict[int, float]:
        """How often it is in each of these rows."""
        counts: dict[int, float] = {}
        for weight, rows in self.listed:
            for row in among & rows:
                counts[row] = counts.get(row, 0.0) + weight
        return counts


def _rarity(total: float, frequency: float) -> float:
    """As FTS5 counts it; what more than half of the rows hold says next to nothing."""
    return math.log(max((total - frequency + 0.5) / (frequency + 0.5), 1 + 1e-6))


def _saturated(count: float, length: float) -> float:
    """What a word that is there `count` times adds. length: of the row, as a multiple of the average."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def _averages(db: apsw.Connection, index: str) -> tuple[int, float]:
    """(rows, words in a row) of an index."""
    rows, *words = totals(db, index)
    return max(1, rows), max(1.0, sum(words) / max(1, rows))


def _lengths(db: apsw.Connection, index: str, rows: Sequence[int]) -> dict[int, int]:
    """How many words each row has."""
    sql = f"SELECT id, sz FROM {index}_docsize WHERE id IN (SELECT value FROM json_each(?))"
    return {row: sum(varints(size)) for row, size in db.execute(sql, (json.dumps(rows),))}
