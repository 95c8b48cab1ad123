"""The retrieval sets that HIPPO_BENCH_DATA names, each loaded into a store. Used by the scripts beside it."""

import argparse
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hippo_core.embed.base import Embedder
from hippo_core.ingest.embed import embed_pending
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

LARGE = 5_000  # texts; a larger set may be taken in part
QUERIES = 40  # of a large one, unless told otherwise: what is published
DISTRACTORS = 120  # sessions without an answer, in such a part


def arguments(description: str | None, names: Sequence[str]) -> argparse.Namespace:
    """The command line of a script that measures on sets: which, how much of a large one, where stores are kept."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=names, metavar="SET")
    parser.add_argument("--queries", type=int, default=QUERIES, help="at most so many of a large set; 0: all")
    parser.add_argument("--cache", type=Path, help="keep the embedded stores here for the next run")
    return parser.parse_args()


@dataclass(frozen=True)
class Part:
    """corpus: (id, session, text). queries: (id, text, ids or sessions that answer it). units: session or turn."""

    name: str
    corpus: list[tuple[str, str, str]]
    queries: list[tuple[str, str, list[str]]]
    by_session: bool


def folder() -> Path:
    """Where the sets are; ends the script with a line when HIPPO_BENCH_DATA names none."""
    named = os.environ.get("HIPPO_BENCH_DATA")
    if not named or not Path(named).is_dir():
        sys.exit("HIPPO_BENCH_DATA names no folder with retrieval sets: nothing was measured.")
    return Path(named)


def half(query_id: str) -> int:
    """0 or 1: which half of the queries this one belongs to, by its id alone. Half 0 is for tuning, 1 for reporting."""
    return hashlib.sha256(query_id.encode()).digest()[0] & 1


def load(name: str, most_queries: int | None) -> Part:
    """A set, or of a large one the sessions that answer its first queries plus DISTRACTORS others."""
    place = folder() / name
    corpus_file = place / "corpus.jsonl"
    rows = list(read_rows(corpus_file if corpus_file.exists() else folder() / "longmemeval" / "corpus.jsonl"))
    queries = [(q["id"], q["text"], q["evidence"]) for q in read_rows(place / "queries.jsonl") if q["evidence"]]
    ids = {row["id"] for row in rows}
    by_session = queries[0][2][0] not in ids
    if most_queries is not None and len(rows) > LARGE and len(queries) > most_queries:
        queries = queries[:most_queries]
        wanted = {unit for _, _, evidence in queries for unit in evidence}
        others = list(dict.fromkeys(row["session"] for row in rows if row["session"] not in wanted))
        step = max(1, len(others) // DISTRACTORS)
        wanted.update(others[::step][:DISTRACTORS])
        rows = [row for row in rows if row["session"] in wanted]
    return Part(name, [(row["id"], row["session"], row["text"]) for row in rows], queries, by_session)


def store_of(part: Part, embedder: Embedder, cache: Path) -> tuple[Store, dict[int, str]]:
    """A store that holds the corpus, embedded (kept in `cache` for the next run); memory number -> corpus id."""
    digest = hashlib.sha256("\n".join(text for _, _, text in part.corpus).encode()).hexdigest()[:12]
    store = Store.open(cache / f"{part.name}-{digest}.db")
    if not store.memories.counts():
        with store.transaction():
            store.memories.ensure_scope(GLOBAL_SCOPE)
            for _, _, text in part.corpus:
                store.memories.add(Draft(text, MemoryType.FACT, GLOBAL, Author.MACHINE), "benchmark")
    embed_pending(store, embedder, on_progress=_progress)
    return store, {number: row[0] for number, row in enumerate(part.corpus, 1)}


def stored(options: argparse.Namespace, embedder: Embedder) -> Iterator[tuple[Part, Store, dict[int, str]]]:
    """Each set that the command line asks for, with its store, which is open while it is that set's turn."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in options.sets:
            part = load(name, options.queries or None)
            store, ids = store_of(part, embedder, options.cache or Path(folder))
            with store:
                yield part, store, ids


def scorer() -> Callable[[list[str], list[str]], dict[str, float]]:
    """`score(ranked, gold)` of the sets' own score.py."""
    spec = importlib.util.spec_from_file_location("score", folder() / "score.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rembedding {done} of {total}", end="" if done < total else "\n", file=sys.stderr)


def read_rows(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
