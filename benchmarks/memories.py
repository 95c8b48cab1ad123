"""Stores of memories of any size, and questions to them, for the scripts that measure speed.

Two kinds. "real": sentences of the longmemeval pool where HIPPO_BENCH_DATA names it, else sentences put together from
pairs of neighbouring words of this project's documents; either way a vocabulary in which few words are common and most
are rare. "few words": some thirty subjects and things, each in hundreds or thousands of memories, as no store is: the
worst that a search by words can meet. Of either kind REAL texts are embedded, and the others get one of these vectors,
turned away from it (cosine 0.86). Fourteen projects, and a twentieth of the memories global.
"""

import itertools
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hippo_core.embed.base import Embedder
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

ROOT = Path(__file__).resolve().parent.parent
KINDS = REAL_WORDS, FEW_WORDS = "real", "few words"
REAL, TURNED, PORTION = 400, 0.6, 5_000
EXCHANGED = 0.1  # of a sentence's words, when the pool is used up and begins again
NAME = "src/limits/burst.py"  # that one memory holds, a global one
MOST_WORDS = 22  # in a question; the model takes about 1.3 tokens a word

SUBJECTS = (
    "billing search login checkout export import webhook scheduler cache queue parser report mailer upload".split()
)
PARTS = "service worker endpoint table migration client dashboard cron-job pipeline index".split()
FACTS = (
    "was moved from {a} to {b} because {c} under load",
    "fails with {a} when {b} is restarted; the fix is to {c} first",
    "must never write to {a} without checking {b}, or {c}",
    "is configured in {a}.toml, key {b}_limit, and needs {c}",
    "uses {a} instead of {b} since the review, as {c}",
)
THINGS = "redis postgres sqlite kafka rabbit nginx docker the-gateway s3 the-replica celery the-ledger".split()
REASONS = (
    "partners send bursts", "locks time out", "the disk fills up", "retries pile up", "clocks drift", "tokens expire",
    "rows are duplicated", "the build gets slow", "tests become flaky", "memory runs out",
)  # fmt: skip
ASKED = (
    "why was the {subject} {part} moved away from {a}?",
    "what has to be restarted before the {subject} {part}?",
    "which {a} limit does the {subject} {part} need when {c}?",
    "how did we fix the {part} of {subject} when {c}",
    "what must the {subject} {part} never do with {a}",
)


def kept(cache: Path, kind: str, count: int, embedder: Embedder) -> Path:
    """A data folder in `cache` whose store holds `count` memories of a kind; made when it is not there yet."""
    source = "sets" if has_sets() and kind == REAL_WORDS else "made"
    home = cache / f"memories-{kind.replace(' ', '-')}-{source}-{count}"
    if not home.exists():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=cache))
        with Store.open(unfinished / "memory.db") as store:
            fill(store, embedder, [f"The limit of bursts is read in {NAME}.", *texts(kind, count - 1)])
        unfinished.rename(home)
    Store.open(home / "memory.db").close()  # of an earlier version, it is brought up to this one
    return home


def project_of(home: Path, name: str = SUBJECTS[0]) -> Path:
    """A folder that belongs to one of a store's projects."""
    project = home / "work"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".git" / "config").write_text(f'[remote "o"]\n\turl = https://example.org/team/{name}\n')
    return project


def texts(kind: str, count: int) -> list[str]:
    return sentences(count) if kind == FEW_WORDS else list(itertools.islice(_real_sentences(random.Random(7)), count))


def questions(kind: str) -> list[str]:
    """Some hundreds, all different, so that none is answered from the memory of an earlier one."""
    chance = random.Random(11)
    if kind == FEW_WORDS:
        every = itertools.product(SUBJECTS, PARTS, THINGS, REASONS, ASKED)
        return [asked.format(subject=s, part=p, a=a, c=c) for s, p, a, c, asked in chance.sample(list(every), 400)]
    if has_sets():
        import archived

        asked = [query["text"] for name in ("longmemeval", "memaware") for query in archived.queries(name)]
        short = [text for text in dict.fromkeys(asked) if len(text.split()) <= MOST_WORDS]
        return chance.sample(short, len(short))
    return [" ".join(text.split()[:MOST_WORDS]) for text in itertools.islice(_chained(chance), 400)]


def sentences(count: int) -> list[str]:
    """`count` different made-up memories of few words, in an order that looks like chance and is always the same."""
    every = [
        f"The {subject} {part} " + fact.format(a=a, b=b, c=reason) + "."
        for subject, part, fact, (a, b), reason in itertools.product(
            SUBJECTS, PARTS, FACTS, itertools.permutations(THINGS, 2), REASONS
        )
    ]
    chosen = random.Random(7).sample(every, min(count, len(every)))
    return [*chosen, *(f"{text} Again, {n}." for n, text in zip(range(count - len(chosen)), itertools.cycle(chosen)))]


def fill(store: Store, embedder: Embedder, texts: list[str]) -> None:
    import numpy

    real = numpy.array(embedder.embed(texts[:REAL]))
    generator = numpy.random.default_rng(7)
    projects = [project_scope(f"example.org/team/{name}", name) for name in SUBJECTS]
    types = [t for t in MemoryType if t is not MemoryType.RULE]
    for start in range(0, len(texts), PORTION):
        part = texts[start : start + PORTION]
        vectors = real[numpy.arange(start, start + len(part)) % len(real)]
        if start:
            vectors = vectors + generator.normal(0, TURNED / embedder.dimension**0.5, vectors.shape)
            vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
        with store.transaction():
            for scope in (GLOBAL_SCOPE, *projects):
                store.memories.ensure_scope(scope)
            for number, (text, vector) in enumerate(zip(part, vectors.astype("<f4"), strict=True), start):
                scope = GLOBAL if number % 20 == 0 else projects[number % len(projects)].key
                observed = time.time() - number % 10_000 * 9e3
                draft = Draft(text, types[number % len(types)], scope, Author.MACHINE, observed_at=observed)
                memory = store.memories.add(draft, "benchmark")
                store.vectors.put(memory.id, embedder.fingerprint, embedder.dimension, [vector.tobytes()])


def has_sets() -> bool:
    return Path(os.environ.get("HIPPO_BENCH_DATA", "-"), "longmemeval", "corpus.jsonl").is_file()


def _real_sentences(chance: random.Random) -> Iterator[str]:
    """Without end; the first round word for word."""
    if not has_sets():
        yield from _chained(chance)
    import archived

    pool = [sentence for row in archived.corpus("longmemeval") for sentence in _cut(row["text"])]
    chance.shuffle(pool)
    words = [word for sentence in pool[::20] for word in sentence.split()]
    yield from pool
    while True:
        for sentence in pool:
            text = sentence.split()
            for _ in range(max(1, round(len(text) * EXCHANGED))):
                text[int(chance.random() * len(text))] = chance.choice(words)
            yield " ".join(text)


def _cut(text: str) -> list[str]:
    """The sentences of a message that are as long as a memory."""
    found = (" ".join(part.split()) for part in re.split(r"(?<=[.!?])\s+|\n+", text))
    return [sentence for sentence in found if 40 <= len(sentence) <= 300]


def _chained(chance: random.Random) -> Iterator[str]:
    """Sentences of 8 to 30 words, each word one that follows the word before it somewhere in our documents."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    words = [word for file in files for word in re.findall(r"[A-Za-z][\w'-]*", file.read_text(encoding="utf-8"))]
    after: dict[str, list[str]] = {}
    for word, following in itertools.pairwise(words):
        after.setdefault(word, []).append(following)
    while True:
        sentence = [chance.choice(words)]
        for _ in range(chance.randint(7, 29)):
            sentence.append(chance.choice(after.get(sentence[-1], words)))
        yield " ".join(sentence).capitalize() + "."
