"""What is to be found in the archive letter by letter: what a question quotes or names, and which messages hold it.

An index splits text at most signs, so of all that says force it cannot tell what has --force. The messages that fit a
question best are compared, and where few of these hold it, the newest that have its words at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hippo_core.recall.query import Query
from hippo_core.recall.quotes import quotations
from hippo_core.recall.spelling import spelled
from hippo_core.store import Store
from hippo_core.store.words import last_parts

_SESSIONS = 20  # that hold all of it; of more, those among the best will do
# How many of the newest that have a name's last words are gone through, and how many texts are read that seem to hold
# it. Of several names each is looked for, in its share, and compared with each text.
_ROWS, _PARTS, _TEXTS = 4_000, 3, 300


class AsSpelled(NamedTuple):
    """sessions: message -> session, of those that hold the most of the names; complete: whether that is all of them."""

    sessions: dict[int, str]
    complete: bool


def spellings(asked: Query) -> tuple[tuple[str, ...], bool]:
    """What has to be found letter by letter, and whether that is all that was asked.

    Anything in quotes; and names, when the question is nothing else. A name within a sentence is a word as well
    as others, for the sentence may be about what it means.
    """
    words = {word.casefold() for word in asked.words}
    names = {literal.casefold() for literal in asked.literals}
    quoted = tuple(filter(quotations(asked.text).__contains__, asked.literals))
    quoted_words = {word.casefold() for text in quoted for word in text.split()}
    if words <= names | quoted_words:
        return asked.literals, True
    return quoted, False


def as_spelled(
    store: Store, names: Sequence[str], best: Sequence[int], scopes: Sequence[str] | None, withheld: bool
) -> AsSpelled:
    """best: messages that fit the question, best first. withheld: also what the guard keeps from the model."""
    if not names:
        return AsSpelled({}, False)

    def counted(some: Sequence[str], numbers: Sequence[int], limit: int) -> dict[int, tuple[str, int]]:
        """Message -> its session and how many of `names` it holds; of those that seem to hold one of `some`."""
        rows = store.message_words.spelled(some, numbers, limit=limit, withheld=withheld)
        return {number: (session, spelled(names, text)) for number, session, text in rows}

    best = best[: _TEXTS // len(names)]
    counts = counted(names, best, len(best))
    if len({session for session, count in counts.values() if count == len(names)}) < _SESSIONS:
        for name in names:
            newest = _newest_with_words(store, name, scopes, _ROWS // len(names))
            counts |= counted([name], newest, _TEXTS // len(names) ** 2)
    most = max((count for _, count in counts.values()), default=0)
    held = {number: session for number, (session, count) in counts.items() if 0 < count == most}
    return AsSpelled(held, most == len(names))


def _newest_with_words(store: Store, name: str, scopes: Sequence[str] | None, rows: int) -> list[int]:
    end = last_parts(name, _PARTS)
    since = store.frequencies.plan([end], scopes, rows, rows).since
    return store.message_words.with_words(end, scopes=scopes, since=since)[-rows:]  # if it is said more of late
