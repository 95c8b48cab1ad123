"""The archive's embed step: gives archived messages their vectors, newest first, at a polite rate. Resumable.

First, of all messages, what gives most for its work. What the user said: all of it in pieces that fit the model, and
each of its sentences, for a question is often about one remark in passing. What others said: how it begins. When no
message is without these, the rest of what others said, in pieces. docs/benchmarks.md has what each gives and costs.
"""

import re
import time
from collections.abc import Callable, Iterable
from itertools import islice

from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.embed.borders import best_cut
from hippo_core.errors import VectorsUnavailableError
from hippo_core.lock import one_at_a_time
from hippo_core.model.message import Role
from hippo_core.paths import Paths
from hippo_core.store import Store
from hippo_core.store.message_vectors import MEANING, REPLY

LOCK = "embed-archive"
SECONDS = 10.0  # of embedding in one pass; the next goes on
NIGHT_SECONDS = 300.0  # in the night's
SHARE = 0.5  # of the time at work, so that half a processor stays free for what the user does
_BATCH, _REST_BATCH = 16, 4  # messages; replies for their rest, seven times the work of an opening
_MOST_TEXTS = 256  # of what is embedded of a batch: sixteen long logs would take minutes
_SHORTEST_SENTENCE, _LONGEST_SENTENCE, _MOST_SENTENCES = 25, 400, 12
_OPENING = 350  # letters of a reply, about 80 tokens
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")


def embed_archive(
    store: Store,
    embedder: Embedder,
    seconds: float | None = SECONDS,
    on_progress: Callable[[int, int], None] | None = None,
    *,
    share: float = SHARE,
) -> int:
    """Embed what is waiting for about `seconds` (None: all of it); returns how many messages were come to.

    share: how much of the time to be at work; the rest is slept.
    """
    due = waiting(store, embedder) if on_progress else 0
    deadline = None if seconds is None else time.monotonic() + seconds / share
    done: set[int] = set()
    while deadline is None or time.monotonic() < deadline:
        began = time.monotonic()
        numbers = _embed_next(store, embedder)
        if numbers is None:
            break
        done.update(numbers)
        if on_progress:
            on_progress(len(done), max(len(done), due))
        time.sleep((time.monotonic() - began) * (1 / share - 1))
    return len(done)


def waiting(store: Store, embedder: Embedder) -> int:
    """How many messages have none of their vectors yet, or not all."""
    with store.reading():
        return store.message_vectors.waiting(embedder.fingerprint, _OPENING)


def embed_archive_for_a_while(paths: Paths, config: Config, seconds: float = SECONDS) -> int:
    """`embed_archive` as the settings have it; 0 when it is switched off or cannot run here.

    BusyError while another process is at it. Holds no other lock: a message that is forgotten meanwhile gets no vector.
    """
    from hippo_core.embed.choose import open_embedder

    if config.embedder == "off" or not config.archive_meaning:
        return 0
    try:
        embedder = open_embedder(config)
        with one_at_a_time(paths, LOCK), Store.open(paths.store) as store:
            return embed_archive(store, embedder, seconds)
    except VectorsUnavailableError:
        return 0


def parts(role: Role, text: str, embedder: Embedder) -> tuple[str, list[str]]:
    """(kind, texts): what of a message is embedded first."""
    if role is not Role.USER:
        return REPLY, [text[: _opening_end(text)]]
    return MEANING, [*embedder.pieces(text), *sentences(text)]


def rest(text: str, embedder: Embedder) -> list[str]:
    """What of a reply is embedded later: all that follows its opening."""
    left = text[_opening_end(text) :].strip()
    return embedder.pieces(left) if left else []


def sentences(text: str) -> list[str]:
    """The sentences of a text, short ones joined to the next; none of a text that is one sentence."""
    found: list[str] = []
    held = ""
    for part in _SENTENCE_END.split(text):
        held = f"{held} {part}".strip()
        if len(held) >= _SHORTEST_SENTENCE:
            found.append(held[:_LONGEST_SENTENCE])
            held = ""
    if held and found:
        found[-1] = f"{found[-1]} {held}"
    return found[:_MOST_SENTENCES] if len(found) > 1 else []


def _opening_end(text: str) -> int:
    return len(text) if len(text) <= _OPENING else best_cut(text, _OPENING // 2, _OPENING)


def _embed_next(store: Store, embedder: Embedder) -> list[int] | None:
    """Embed what is due first; of which messages, None when nothing is."""
    vectors = store.message_vectors
    with store.reading():
        batch = vectors.pending(embedder.fingerprint, _BATCH)
        stretch = None if batch else vectors.pending_rest(embedder.fingerprint, _OPENING, _REST_BATCH)
    if batch:
        rows = _embedded(embedder, ((number, *parts(Role(role), text, embedder)) for number, role, text in batch))
        with store.transaction():
            vectors.put(embedder.fingerprint, embedder.dimension, rows)
    elif stretch:
        rows = _embedded(embedder, ((number, REPLY, rest(text, embedder)) for number, text in stretch.replies))
        with store.transaction():
            vectors.put_rest(embedder.fingerprint, stretch.with_only(len(rows)), rows)
    else:
        return None
    return [number for number, _, _ in rows]


def _embedded(embedder: Embedder, messages: Iterable[tuple[int, str, list[str]]]) -> list[tuple[int, str, list[bytes]]]:
    """(number, kind, vectors) of the first of these messages: as many as make _MOST_TEXTS, and one at least."""
    chosen: list[tuple[int, str, int]] = []
    texts: list[str] = []
    for number, kind, some in messages:
        if chosen and len(texts) + len(some) > _MOST_TEXTS:
            break
        chosen.append((number, kind, len(some)))
        texts += some
    vectors = iter(embedder.embed(texts).astype("<f4", copy=False) if texts else ())
    return [(number, kind, [vector.tobytes() for vector in islice(vectors, count)]) for number, kind, count in chosen]
