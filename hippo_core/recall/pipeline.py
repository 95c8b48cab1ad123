"""question -> channels -> fusion -> relevance -> score -> variety -> a few memories. Reads; never writes.

Each stage is a function in its own file; here they are only put in order. Knows nothing of how results are shown.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hippo_core import clock
from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.model.memory import Memory
from hippo_core.model.types import MemoryType
from hippo_core.recall import channels
from hippo_core.recall.channels import EXACT_CHANNEL, PLAIN_CHANNEL, VECTOR_CHANNEL, Found, Where
from hippo_core.recall.diversify import Similarity, most_varied, vector_similarity, word_similarity
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.query import Query, read_query
from hippo_core.recall.relevance import FLOOR, coverage, relevance
from hippo_core.recall.score import Aging, nudged, score
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

CHANNEL_WEIGHTS = {EXACT_CHANNEL: 1.0, PLAIN_CHANNEL: 1.0, VECTOR_CHANNEL: 0.7}
POOL = 50  # candidates that are looked at closely

# Takes the question and the candidates' (number, text), best first; returns a relevance in 0..1 for those it judged.
Reranker = Callable[[str, Sequence[tuple[int, str]]], dict[int, float]]


@dataclass(frozen=True)
class Result:
    """A memory that answers. score: 0..1, comparable between questions. scope_label, age: in words.

    stages: what every stage made of it, by name, in order. places: which of these are places in a channel's list, from
    1, 0 for absent.
    """

    memory: Memory
    score: float
    scope_label: str
    age: str
    stages: dict[str, float] = field(default_factory=dict)
    places: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Recall:
    """results: best first. notes: what could not be used. searched: how many each channel gave. wanted: k."""

    query: str
    results: list[Result]
    notes: list[str]
    searched: dict[str, int]
    elapsed_ms: float
    wanted: int


def recall(
    store: Store,
    query: str,
    *,
    embedder: Embedder | None,
    scopes: Sequence[str] | None,
    types: Sequence[MemoryType] | None = None,
    k: int = 5,
    config: Config | None = None,
    now: float | None = None,
    reranker: Reranker | None = None,
) -> Recall:
    """The memories that best answer `query`, at most k; none when nothing fits. UsageError for an empty query.

    embedder None: keywords only. scopes: scope keys, None for everything. now: seconds, for age.
    """
    started = time.perf_counter()
    asked = read_query(query)
    now = clock.now() if now is None else now
    with store.reading():
        found = Found() if asked.empty else channels.search(store, asked, Where(scopes, types), embedder)
        judged = _judge(store, asked, found, reranker)
        results = _rank(store, judged, asked, found, embedder, k, Aging.of(config or Config()), now)
    searched = {name: len(ranked) for name, ranked in found.lists.items()}
    return Recall(asked.text, results, found.notes, searched, (time.perf_counter() - started) * 1000, k)


@dataclass(frozen=True)
class _Judged:
    fused: dict[int, float]
    covered: dict[int, float]
    relevance: dict[int, float]
    memories: dict[int, Memory]


def _judge(store: Store, asked: Query, found: Found, reranker: Reranker | None) -> _Judged:
    """The candidates with their relevance."""
    fused = dict(list(reciprocal_ranks(found.lists, CHANNEL_WEIGHTS).items())[:POOL])
    numbers = list(fused)
    if not numbers:
        return _Judged({}, {}, {}, {})
    matches = store.memories.word_matches((*asked.words, *asked.literals), index=PLAIN, among=numbers)
    covered = coverage(matches, store.memories.count_active(), numbers)
    judged = relevance(covered, found.cosines if VECTOR_CHANNEL in found.lists else None)
    memories = store.memories.fetch(numbers)
    if reranker is not None:
        judged = {**judged, **reranker(asked.text, [(number, memories[number].text) for number in numbers])}
    return _Judged(fused, covered, judged, memories)


def _rank(
    store: Store,
    judged: _Judged,
    asked: Query,
    found: Found,
    embedder: Embedder | None,
    k: int,
    aging: Aging,
    now: float,
) -> list[Result]:
    labels = {key: scope.label for key, scope in store.memories.scopes().items()}
    cosines = found.cosines
    candidates: dict[int, Result] = {}
    for number, memory in judged.memories.items():
        fit = nudged(judged.relevance[number], memory.type, asked.to_do)
        if fit < FLOOR:
            continue
        recency = aging.recency(memory, now)
        stages = {name: float(_position(ranked, number)) for name, ranked in found.lists.items()}
        stages |= {"fused": judged.fused[number], "coverage": judged.covered[number]}
        if number in cosines:
            stages["cosine"] = cosines[number]
        stages |= {
            "relevance": fit,
            "recency": recency,
            "importance": memory.importance,
            "confidence": memory.confidence,
        }
        final = score(fit, recency, memory.importance)
        label, age = labels.get(memory.scope, memory.scope), clock.ago(memory.confirmed_at, now)
        candidates[number] = Result(memory, final, label, age, stages, frozenset(found.lists))
    chosen = most_varied(
        {number: result.score for number, result in candidates.items()},
        _similarity(store, {number: candidates[number].memory for number in candidates}, found, embedder),
        k,
    )
    return sorted((candidates[number] for number in chosen), key=lambda result: (-result.score, result.memory.id))


def _similarity(store: Store, memories: dict[int, Memory], found: Found, embedder: Embedder | None) -> Similarity:
    by_words = word_similarity({number: memory.text for number, memory in memories.items()})
    if embedder is None or VECTOR_CHANNEL not in found.lists:
        return by_words
    return vector_similarity(store.vectors.of(embedder.fingerprint, list(memories)), by_words)


def _position(ranked: Sequence[tuple[int, float]], number: int) -> int:
    """Place in a channel's list, from 1; 0 where it is not in it."""
    return next((place for place, (item, _) in enumerate(ranked, 1) if item == number), 0)
