"""How text becomes index words, and words a full-text query that can never be a syntax error.

FTS5 takes a run of Chinese or Japanese for one word. So such runs are also indexed as overlapping pairs in a column of
their own, and looked up the same way. Knows nothing of ranking.
"""

import re
from collections.abc import Iterable, Sequence
from os.path import commonprefix

import apsw

# Scripts written without spaces between words: Thai to Khmer, kana, Han, and Hangul for its suffixes.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003134f]+"
)


_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,39}", re.IGNORECASE)


_VERSION = re.compile(r"\d+\.\d.*")
# With accents that are signs of their own, as the file names of macOS have them.
_PART = re.compile("(?:[^\\W_][\u0300-\u036f]*)+")
MOST_PARTS = 6  # of a phrase: each is gone through wherever it stands, and a pasted token may have a thousand


def is_version(word: str) -> bool:
    """Whether a word looks like a version, which is often written after a v."""
    return _VERSION.fullmatch(word) is not None


def begins_hash(word: str) -> bool:
    """Whether a word looks like a commit's hash that was cut off."""
    return _HASH.fullmatch(word) is not None


def pairs(text: str) -> str | None:
    """The overlapping pairs of every unspaced run in `text`, None when it has none: "部署服" -> "部署 署服 服"."""
    if text.isascii():
        return None
    runs = _UNSPACED.findall(text)
    if not runs:
        return None
    return " ".join(run[i : i + 2] for run in runs for i in range(len(run)))


def match_expression(words: Iterable[str], scopes: Sequence[str] | None, columns: str = "text cjk") -> str | None:
    """An FTS5 query: any of `words` in `columns`, within `scopes` (None: everywhere). None when no word can match.

    A word may hold any character: it is quoted, and its unspaced runs are looked up as pairs. The first letters of a
    hash stand for all of it, and a version for itself after a v.
    """
    alternatives = [expression for word in words for expression in _word(word)]
    if not alternatives:
        return None
    query = f"{{{columns}}} : (" + " OR ".join(alternatives) + ")"
    if scopes is None:
        return query
    return query + " AND scope : (" + " OR ".join(_quote(scope) for scope in scopes) + ")"


def last_parts(name: str, most: int) -> str:
    """The end of a name, of at most so many words: what paths begin with they often share."""
    starts = [part.start() for part in _PART.finditer(name)]
    return name if len(starts) <= most else name[starts[-most] :]


def letters(name: str) -> str:
    """A LIKE pattern (escaped by a backslash) that any text meets which holds `name` in any case and spacing.

    LIKE knows the case of ASCII alone, and a letter with an accent may be two signs, so any other may be any.
    """
    longest = max(name.split(), key=len)
    return f"%{''.join(map(_in_pattern, longest))}%"


def _in_pattern(sign: str) -> str:
    if sign.isascii():
        return f"\\{sign}" if sign in "%_\\" else sign
    from unicodedata import combining, decomposition

    varies = sign.lower() != sign.upper() or decomposition(sign) or combining(sign) or "\uac00" <= sign <= "\ud7a3"
    return "%" if varies else sign


class Stems:
    """A text's words as the stemmed indexes keep them."""

    def __init__(self, db: apsw.Connection):
        self._db = db
        self._tokenizer: apsw.FTS5Tokenizer | None = None

    def __call__(self, text: str) -> list[str]:
        if self._tokenizer is None:
            self._tokenizer = self._db.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        found = self._tokenizer(
            text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
        )
        return [term if isinstance(term, str) else term[0] for term in found]

    def beginning(self, word: str) -> str:
        """What nearly all forms of a word begin with, without regard to case: "happi" is the stem of happy."""
        folded = word.casefold()
        return commonprefix([folded, *self(folded)]) or folded


def word_matches(
    db: apsw.Connection, index: str, words: Iterable[str], numbers: Sequence[int]
) -> list[tuple[int, frozenset[int]]]:
    """For each word: in how many rows of `index` it is, and in which of the rows `numbers`."""
    among = ",".join(map(str, map(int, numbers))) or "NULL"
    matches = []
    for word in words:
        query = match_expression([word], None)
        if query is None:
            matches.append((0, frozenset()))
            continue
        frequency, rows = db.execute(
            f"SELECT count(*), group_concat(rowid) FILTER (WHERE +rowid IN ({among})) FROM {index} "
            f"WHERE {index} MATCH ?",
            (query,),
        ).fetchone()
        matches.append((frequency, frozenset(map(int, rows.split(","))) if rows else frozenset()))
    return matches


def known_words(db: apsw.Connection, index: str, first_letter: str, lengths: range) -> list[tuple[str, int]]:
    """(word, in how many rows) of the words in `index` that begin with a letter and have one of these lengths."""
    table = f"temp.words_of_{index}"
    if not db.execute("SELECT 1 FROM temp.sqlite_master WHERE name = ?", (table.removeprefix("temp."),)).fetchone():
        watched = db.pragma("query_only")
        db.pragma("query_only", False)  # it would forbid the name below, which is this connection's own and no row's
        try:
            db.execute(f"CREATE VIRTUAL TABLE {table} USING fts5vocab('main', '{index}', 'row')")
        finally:
            db.pragma("query_only", watched)
    return db.execute(
        f"SELECT term, doc FROM {table} WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
        (first_letter, chr(ord(first_letter) + 1), lengths.start, lengths.stop - 1),
    ).fetchall()


def totals(db: apsw.Connection, index: str) -> list[int]:
    """How many rows an index has, and how many words in each column, from the record that FTS5 keeps of it.

    As of the last commit: FTS5 writes it then. Of a damaged index, which the doctor looks at, it may be gone.
    """
    return varints(db.execute(f"SELECT block FROM {index}_data WHERE id = 1").get or b"") or [0]


def varints(data: bytes) -> list[int]:
    """SQLite's numbers of variable length, seven bits a byte, as long as a byte has its highest bit."""
    numbers, held = [], 0
    for byte in data:
        held = held << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(held)
            held = 0
    return numbers


def _word(word: str) -> list[str]:
    if begins_hash(word):
        return [_quote(word) + " *"]
    spaced = _UNSPACED.sub(" ", word).replace("\0", " ").strip()
    phrase = last_parts(spaced, MOST_PARTS)
    expressions = [_quote(phrase)] if any(c.isalnum() for c in phrase) else []
    if is_version(word) and phrase == spaced:
        expressions.append(_quote(f"v{word}"))
    for run in _UNSPACED.findall(word):
        if len(run) == 1:
            expressions.append(_quote(run) + " *")
        else:
            last = len(run) - 1
            expressions.append(_quote(" ".join(run[i : i + 2] for i in range(max(0, last - MOST_PARTS), last))))
    return expressions


def _quote(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'
