"""The archive's embed step: gives archived messages their vectors, newest first, at a polite rate. Resumable.

What the user said: all of it in pieces that fit the model, and each of its sentences, for a question is often about
one remark in passing. What others said: how it begins; the rest of it is found by its words. docs/benchmarks.md has
what each part gives and costs.
"""

import re
import time
from collections.abc import Callable, Sequence
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
_BATCH, _MOST_TEXTS = 16, 256  # of messages; of what is embedded of them: sixteen long logs would take minutes
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
    with store.reading():
        waiting = store.message_vectors.waiting(embedder.fingerprint)
    deadline = None if seconds is None else time.monotonic() + seconds / share
    done = 0
    while deadline is None or time.monotonic() < deadline:
        began = time.monotonic()
        with store.reading():
            batch = store.message_vectors.pending(embedder.fingerprint, _BATCH)
        if not batch:
            break
        done += _embed_batch(store, embedder, batch)
        if on_progress:
            on_progress(done, max(done, waiting))
        time.sleep((time.monotonic() - began) * (1 / share - 1))
    return done


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
    """(kind, texts): what of a message is embedded."""
    if role is not Role.USER:
        return REPLY, [text if len(text) <= _OPENING else text[: best_cut(text, _OPENING // 2, _OPENING)]]
    return MEANING, [*embedder.pieces(text), *sentences(text)]


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


def _embed_batch(store: Store, embedder: Embedder, batch: Sequence[tuple[int, str, str]]) -> int:
    """Embed the first of these messages, as many as make no more than _MOST_TEXTS, and one at least; how many."""
    chosen: list[tuple[int, str, int]] = []
    texts: list[str] = []
    for number, role, text in batch:
        kind, some = parts(Role(role), text, embedder)
        if chosen and len(texts) + len(some) > _MOST_TEXTS:
            break
        chosen.append((number, kind, len(some)))
        texts += some
    vectors = iter(embedder.embed(texts).astype("<f4", copy=False))
    rows = [(number, kind, [vector.tobytes() for vector in islice(vectors, count)]) for number, kind, count in chosen]
    with store.transaction():
        store.message_vectors.put(embedder.fingerprint, embedder.dimension, rows)
    return len(chosen)
