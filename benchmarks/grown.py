"""Archives of any size from real messages, made in bulk and kept in a folder, so that a million rows take minutes once.

The rows are those of the longmemeval pool, cut to LETTERS and perturbed: of each further copy a tenth of the words is
exchanged for words of other messages, so that the vocabulary keeps its shape. Ten projects, a session in one of them; a
message every forty seconds up to an hour ago, so that a million are fifteen months. To a large archive comes a small
project, of a message for each thousand, without vectors.
The vectors are those of the real messages, of each further copy turned away from them (cosine 0.86). What follows the
opening of a reply has as many vectors as it has pieces, all turned away from the opening's: to embed it takes too long.
"""

import random
import tempfile
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import apsw
import archived
import numpy

from hippo_core.embed.base import Embedder
from hippo_core.ingest.archive import prepare_search
from hippo_core.ingest.embed_archive import parts, rest
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import Scope, project_scope
from hippo_core.store import Store
from hippo_core.store.archive import MOST_AT_ONCE, Entry
from hippo_core.store.compact import CompactVectors
from hippo_core.store.episodes import SIZE
from hippo_core.store.message_vectors import REPLY

SET, PROJECTS, PORTION = "longmemeval", 10, 20_000
SMALL = project_scope("example.org/team/small", "small")
OF_SMALL, LARGE = 1_000, 100_000  # messages: for so many one of the small project, in an archive of so many
EXCHANGED = 0.1
LETTERS = 600  # of a message; what is longer is cut, so that a million rows fit a disk
TURNED = 0.6  # length of what is added to a copy's vectors
SEED = 1
SECONDS = 40  # between two messages
NOW = 1_790_003_600.0  # when it is asked; the last message is an hour old
NAME = "src/limits/burst.py"  # that one message holds, of the newest

Row = tuple[str, str, str]  # session, who speaks, text


def projects() -> list[Scope]:
    return [project_scope(f"example.org/team/p{number}", f"p{number}") for number in range(PROJECTS)]


def perturbed(chance: random.Random) -> Iterator[Row]:
    """The pool over and over, without end."""
    rows = archived.corpus(SET)
    words = [word for row in rows[:: max(1, len(rows) // 2_000)] for word in row["text"].split()]
    round_number = 0
    while True:
        for row in rows:
            text = row["text"][:LETTERS].split()
            for _ in range(round(len(text) * EXCHANGED) if round_number else 0):
                text[int(chance.random() * len(text))] = words[int(chance.random() * len(words))]
            yield f"{row['session']}-{round_number}", row["speaker"], " ".join(text)
        round_number += 1


def kept(cache: Path, size: int, embedder: Embedder | None) -> Path:
    """A data folder in `cache` whose store has an archive of `size` messages; made when it is not there yet.

    embedder: None for an archive without vectors.
    """
    home = cache / (f"archive-{size}" if embedder else f"archive-{size}-words")
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=cache))
        path = unfinished / "memory.db"
        Store.open(path).close()
        _fill(path, size, random.Random(SEED))
        if embedder:
            _embed(path, size, embedder, numpy.random.default_rng(SEED))
        with Store.open(path) as opened:
            with opened.transaction():
                opened.archive.append(_named(), scope=projects()[0], source_id=1)
            prepare_search(opened, seconds=3_600)
        unfinished.rename(home)
    with Store.open(home / "memory.db") as opened:  # of an earlier version, it is brought up to this one
        prepare_search(opened, seconds=3_600)
        if size >= LARGE and SMALL.key not in opened.archive.projects():
            _add_small(opened, size // OF_SMALL)
    return home


def _add_small(store: Store, size: int) -> None:
    entries = [
        Entry(Message(f"small{n}", f"small-{session}", _role(speaker), text, NOW - 3_600 + n, None, n), SMALL, 1, None)
        for n, (session, speaker, text) in enumerate(islice(perturbed(random.Random(SEED)), size))
    ]
    for start in range(0, size, MOST_AT_ONCE):
        with store.transaction():
            store.archive.append_all(entries[start : start + MOST_AT_ONCE])
    with store.transaction():
        store.frequencies.count()


def _role(speaker: str) -> Role:
    return Role.USER if speaker == "user" else Role.ASSISTANT


def _named() -> Message:
    return Message("named", "named", Role.USER, f"The limit of bursts is read in {NAME}.", 1.0, None, 0)


def _fill(path: Path, size: int, chance: random.Random) -> None:
    """What Store.archive.append would write, without its triggers; the keyword indexes are built at the end."""
    db = apsw.Connection(str(path))
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.pragma("synchronous", "off")
    places = projects()
    rows = perturbed(chance)
    open_episodes: dict[str, list[int]] = {}  # session -> episode, its first message, its last, how many
    with db:
        db.execute("INSERT INTO ingest_source(id, path, updated_at) VALUES (1, '/grown.jsonl', 0)")
        for place in places:
            db.execute("INSERT INTO archive_project VALUES (?, ?, ?)", (place.key, place.label, place.identity))
    made = 0
    for start in range(1, size + 1, PORTION):
        sessions, messages, episodes = {}, [], {}
        for number in range(start, min(start + PORTION, size + 1)):
            session, speaker, text = next(rows)
            key = places[zlib.crc32(session.encode()) % PROJECTS].key
            sessions[session] = key
            messages.append((number, f"u{number}", session, key, "user" if speaker == "user" else "assistant", text))
            episode = open_episodes.get(session)
            if episode is None or episode[3] == SIZE:
                made += 1
                episode = open_episodes[session] = [made, number, number, 0]
            episode[2:] = number, episode[3] + 1
            episodes[episode[0]] = (episode[0], session, key, *episode[1:])
        with db:
            db.executemany("INSERT OR IGNORE INTO archive_session(id, scope) VALUES (?, ?)", sessions.items())
            db.executemany(
                "INSERT INTO message(id, uid, session_id, scope, role, text, at, source_id, offset) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?1)",
                ((*message, NOW - 3_600 - (size - message[0]) * SECONDS) for message in messages),
            )
            db.executemany(
                "INSERT OR REPLACE INTO episode(id, session_id, scope, first_id, last_id, size) VALUES (?,?,?,?,?,?)",
                episodes.values(),
            )
    for index in ("message_plain", "episode_plain"):
        with db:
            db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
    db.close()


def _embed(path: Path, size: int, embedder: Embedder, chance: numpy.random.Generator) -> None:
    """What embed_archive would store."""
    pool, owners, kinds = _pool_vectors(embedder, chance)
    rows = len(archived.corpus(SET))
    db = apsw.Connection(str(path))
    db.pragma("synchronous", "off")
    vectors = CompactVectors(db, "message")
    scopes = [scope for (scope,) in db.execute("SELECT scope FROM message ORDER BY id")]
    with db:
        db.execute(
            "INSERT INTO archive_model(fingerprint, dimension, lowest, highest, rest_lowest, rest_highest) "
            "VALUES (?1, ?2, 1, ?3, 1, ?3)",
            (embedder.fingerprint, embedder.dimension, size),
        )
        model = db.last_insert_rowid()
    for start in range(0, size, rows):
        turned = pool
        if start:
            turned = _turned(pool, chance)
        groups: dict[tuple[str, str], list[tuple[int, bytes]]] = {}
        for owner, kind, vector in zip(owners, kinds, turned, strict=True):
            if start + owner < size:
                group = groups.setdefault((scopes[start + owner], kind), [])
                group.append((start + owner + 1, vector.tobytes()))
        with db:
            for (scope, kind), some in groups.items():
                vectors.add(model, scope, kind, some)
    db.close()


def _turned(vectors: numpy.ndarray, chance: numpy.random.Generator) -> numpy.ndarray:
    turned = vectors + chance.standard_normal(vectors.shape, dtype="f4") * (TURNED / vectors.shape[1] ** 0.5)
    return turned / numpy.linalg.norm(turned, axis=1, keepdims=True)


def _pool_vectors(embedder: Embedder, chance: numpy.random.Generator) -> tuple[numpy.ndarray, list[int], list[str]]:
    """The pool's vectors; of each, its row in the pool and its kind."""
    texts: list[str] = []
    owners: list[int] = []
    kinds: list[str] = []
    pieces: list[int] = []  # of the rest of each row that is a reply
    openings: list[int] = []  # where in `texts` their openings stand
    for number, row in enumerate(archived.corpus(SET)):
        role = _role(row["speaker"])
        kind, some = parts(role, row["text"], embedder)
        if role is not Role.USER:
            openings.append(len(texts))
            pieces.append(len(rest(row["text"], embedder)))
        texts += some
        owners += [number] * len(some)
        kinds += [kind] * len(some)
    vectors = embedder.embed(texts)
    places = numpy.repeat(openings, pieces)
    more = [owners[place] for place in places]
    return (
        numpy.concatenate([vectors, _turned(vectors[places], chance)]),
        [*owners, *more],
        [*kinds, *[REPLY] * len(more)],
    )
