"""The retrieval sets as an archive: each line of a corpus a message, embedded as a pass embeds it."""

import functools
import hashlib
import re
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import apsw
import sets
from vector_cache import CachingEmbedder

from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.embed.choose import open_embedder
from hippo_core.ingest.archive import prepare_search
from hippo_core.ingest.embed_archive import embed_archive
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.store import Store
from hippo_core.store.migrations import NEWEST

_PORTION = 1_000


@functools.cache
def corpus(name: str) -> tuple[dict[str, Any], ...]:
    file = sets.folder() / name / "corpus.jsonl"
    return tuple(sets.read_rows(file if file.exists() else sets.folder() / "longmemeval" / "corpus.jsonl"))


def queries(name: str) -> list[dict[str, Any]]:
    """Those that have an answer in the corpus."""
    return [query for query in sets.read_rows(sets.folder() / name / "queries.jsonl") if query["evidence"]]


def asked_at(query: dict[str, Any]) -> float | None:
    """When a question is asked, None where its set does not say."""
    return _seconds(query.get("timestamp"))


def size(name: str) -> str:
    rows = corpus(name)
    return f"{len(rows):,} messages, {len({row['session'] for row in rows}):,} sessions"


def embedder(cache: Path) -> Embedder:
    return CachingEmbedder(open_embedder(Config()), cache)


def store(name: str, embedder: Embedder, cache: Path) -> Store:
    """The corpus as an embedded archive, kept in `cache`."""
    rows = corpus(name)
    digest = hashlib.sha256("\n".join(row["text"] for row in rows).encode()).hexdigest()[:12]
    opened = Store.open(cache / f"archive-{digest}-{NEWEST}.db")
    for start in range(opened.archive.counts()[0], len(rows), _PORTION):
        with opened.transaction():
            source = opened.progress.begin_source(f"{name}-{start}")
            for number, row in enumerate(rows[start : start + _PORTION], start):
                opened.archive.append(_message(number, row), scope=GLOBAL_SCOPE, source_id=source.id)
    embed_archive(opened, embedder, None, _progress, share=1.0)
    prepare_search(opened, seconds=600)
    return opened


class KeywordFloor:
    """FTS5, Porter stemmer, OR of all words, one document a message; its best one speaks for a session."""

    def __init__(self, name: str):
        self._sessions = [row["session"] for row in corpus(name)]
        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE floor USING fts5(text, tokenize='porter unicode61')")
        with self._db:
            texts = ((number, row["text"]) for number, row in enumerate(corpus(name)))
            self._db.executemany("INSERT INTO floor(rowid, text) VALUES (?, ?)", texts)

    def __call__(self, question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", question.lower())))
        rows = self._db.execute("SELECT rowid FROM floor WHERE floor MATCH ? ORDER BY rank LIMIT 1000", (match,))
        return list(dict.fromkeys(self._sessions[number] for (number,) in rows))


def _message(number: int, row: dict[str, Any]) -> Message:
    role = Role.USER if row["speaker"] == "user" else Role.ASSISTANT
    return Message(row["id"], row["session"], role, row["text"], _seconds(row["timestamp"]), None, number)


def _seconds(timestamp: str | None) -> float | None:
    at = datetime.fromisoformat(timestamp) if timestamp else None
    return None if at is None else (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total or done % 1_600 == 0:
        print(f"embedded {done:,} of {total:,}", file=sys.stderr)
