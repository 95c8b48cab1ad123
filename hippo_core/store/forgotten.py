"""What may not come back: uids of forgotten messages, and the words of forgotten texts, both as digests.

The words are needed because a text lives on in places the store has not read yet: a transcript waiting for its ingest,
and the very session in which the user asks to forget it. Whoever says it again later says something new.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

import apsw

from hippo_core import clock
from hippo_core.model.message import Message
from hippo_core.project import blake2b

_SAME_SESSION = 3_600.0  # seconds for which a text may still be quoted by the session that forgot it
_KEPT = 60 * clock.DAY  # transcripts do not live longer, so neither need the digests
# A word, or one character of a script that is written without spaces.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(f"[^\\W{_CJK}]+|[{_CJK}]")


class Forgotten:
    def __init__(self, db: apsw.Connection):
        self._db = db
        self._texts: dict[int, dict[bytes, float]] | None = None

    def remember(self, uids: Iterable[str], texts: Iterable[str]) -> None:
        """Keep messages with these uids, and those that hold one of `texts`, from coming back. In a transaction."""
        now = clock.now()
        self._db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(_digest(uid), now) for uid in uids])
        self._db.execute("DELETE FROM forgotten_text WHERE until < ?", (now - _KEPT,))
        for words in filter(None, map(_words, texts)):
            row = (len(words), _digest(" ".join(words)), now + _SAME_SESSION)
            self._db.execute("INSERT INTO forgotten_text VALUES (?, ?, ?)", row)
        self._texts = None

    def among(self, messages: Sequence[Message]) -> set[str]:
        """The uids of those that were forgotten, or hold a forgotten text and are not newer than its forgetting."""
        found: set[str] = set()
        if self._db.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone():
            digests = {_digest(message.uid): message.uid for message in messages}
            marks = ",".join("?" * len(digests))
            known = self._db.execute(f"SELECT uid_digest FROM forgotten WHERE uid_digest IN ({marks})", tuple(digests))
            found.update(digests[digest] for (digest,) in known)
        if self._loaded():
            found.update(message.uid for message in messages if self._holds_forgotten(message))
        return found

    def _holds_forgotten(self, message: Message) -> bool:
        relevant = {
            length: digests
            for length, texts in self._loaded().items()
            if (digests := {digest for digest, until in texts.items() if message.at is None or message.at <= until})
        }
        if not relevant:
            return False
        words = _words(message.text)
        return any(
            _digest(" ".join(words[start : start + length])) in digests
            for length, digests in relevant.items()
            for start in range(len(words) - length + 1)
        )

    def _loaded(self) -> dict[int, dict[bytes, float]]:
        """Digest and end of validity of every forgotten text, by its number of words. Read once a connection."""
        if self._texts is None:
            self._texts = {}
            for length, digest, until in self._db.execute("SELECT words, digest, until FROM forgotten_text"):
                self._texts.setdefault(length, {})[digest] = until
        return self._texts


def plain(text: str) -> str:
    """`text` without regard to case and to how its letters are put together: as one character each, or with accents."""
    return unicodedata.normalize("NFC", text.casefold())


def _words(text: str) -> list[str]:
    return _WORD.findall(plain(text))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
