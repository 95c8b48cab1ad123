"""question -> channels -> fusion -> relevance -> score -> variety -> a few memories. Reads; never writes.

Each stage is a function in its own file; here they are only put in order. Knows nothing of how results are shown.
"""

import contextlib
import itertools
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hippo_core import clock
from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.errors import RerankerUnavailableError, UsageError, VectorsUnavailableError
from hippo_core.model.memory import Memory, memory_id
from hippo_core.model.types import MemoryType
from hippo_core.recall import channels
from hippo_core.recall.aim import aim
from hippo_core.recall.channels import TIME_CHANNEL, VECTOR_CHANNEL, Found, Where
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.query import Query, read_query
from hippo_core.recall.relevance import Evidence, at_least_shown, coverage, relevance, worth_showing
from hippo_core.recall.rerank import RERANKED, SO_FAR, Reranker, bearing, reordered
from hippo_core.recall.score import TO_DO_TYPES, Aging, nudged, score
from hippo_core.recall.timed import of_memories, remark, resolved, weighed
from hippo_core.recall.weights import WEIGHTS, Weights
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

if TYPE_CHECKING:
    import numpy

    from hippo_core.recall.diversify import Similarity

POOL = 50  # candidates that are looked at closely


class Result(NamedTuple):
    """A memory that answers. score: 0..1, comparable between questions. scope_label, age: in words.

    stages: what every stage made of it, by name, in order. places: which of these are places in a channel's list, from
    1, 0 for absent. like: numbers of the memories that say the same and are not shown for it, best first.
    """

    memory: Memory
    score: float
    scope_label: str
    age: str
    stages: dict[str, float]
    places: frozenset[str]
    like: tuple[int, ...] = ()


class Recall(NamedTuple):
    """results: best first. notes: what could not be used. searched: how many each channel gave. wanted: k.

    remarks: what was done otherwise than usual, for an explanation. empty: nothing at all is remembered yet, so that
    there is nothing else to note.
    """

    query: str
    results: list[Result]
    notes: list[str]
    searched: dict[str, int]
    elapsed_ms: float
    wanted: int
    remarks: list[str]
    empty: bool = False


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
    so_far: str | None = None,
    reranker: Reranker | None = None,
    weights: Weights = WEIGHTS,
) -> Recall:
    """The memories that best answer `query`, at most k; none when nothing fits. UsageError for an empty query.

    embedder None: keywords only. scopes: scope keys, None for everything. now: seconds, for age. so_far: what whoever
    asks has worked out; the candidates are ranked again with it. reranker: ranks them again after that. weights: for
    benchmarks alone.
    """
    started = time.perf_counter()
    now = clock.now() if now is None else now
    asked = read_query(query, now)
    with store.reading():
        asked, slips = channels.mended(store, asked)
        channels.begin(store, asked, embedder)
        found = Found() if asked.empty else channels.search(store, asked, Where(scopes, types), embedder)
        found.notes += slips
        pool = judge(store, asked, found, weights)
        _rank_by_time(store, pool, asked, found, scopes)
        _rank_by_what_is_known(store, pool, found, so_far, embedder)
        _rank_by_reading(pool, asked, found, reranker)
        results = _results(store, pool, asked, found, Aging.of(config or Config(), weights), now)
        empty = not results and not store.memories.count_active()
    best_first = _varied(pool, results, k)
    searched = {name: len(ranked) for name, ranked in found.lists.items()}
    elapsed = (time.perf_counter() - started) * 1000
    return Recall(asked.text, best_first, [] if empty else found.notes, searched, elapsed, k, found.remarks, empty)


def _varied(pool: "Pool", results: "dict[int, Result]", k: int) -> list[Result]:
    """The k results to show, best first, each with the phrasings that it stands for."""
    if len(results) < 2:
        return [result._replace(stages={**result.stages, "likeness": 0.0}) for result in results.values()]
    from hippo_core.recall.diversify import folded, most_varied

    scores = {number: result.score for number, result in results.items()}
    similarity = pool.similarity(results)
    alike = pool.weights.alike_in_meaning if pool.vectors else pool.weights.alike_in_words
    texts = {number: pool.memories[number].text for number in scores}
    scopes = {number: pool.memories[number].scope for number in scores}
    others = folded(scores, texts, scopes, similarity, alike)
    chosen = most_varied({number: scores[number] for number in others}, similarity, k, pool.weights.double_loses)
    shown = []
    for place, number in enumerate(chosen):
        likeness = max((similarity(number, earlier) for earlier in chosen[:place]), default=0.0)
        stages = {**results[number].stages, "likeness": likeness}
        shown.append(results[number]._replace(like=tuple(others[number]), stages=stages))
    return sorted(shown, key=lambda result: (-result.score, result.memory.id))


class Pool:
    """The candidates, best fused rank first, with what is known of each.

    judged: by the name of a stage that ranked again, what it made of each.
    """

    def __init__(
        self,
        evidence: dict[int, Evidence],
        relevance: dict[int, float],
        memories: dict[int, Memory],
        vectors: "dict[int, numpy.ndarray]",
        weights: Weights,
    ):
        self.evidence, self.relevance, self.memories, self.vectors = evidence, relevance, memories, vectors
        self.weights = weights
        self.judged: dict[str, Mapping[int, float]] = {}

    def showable(self) -> dict[int, float]:
        """The relevance of those that may be shown, best first; the others need not be looked at again."""
        passed = sorted(worth_showing(self.relevance, self.weights), key=lambda number: -self.relevance[number])
        return {number: self.relevance[number] for number in passed}

    def reorder(self, stage: str, judged: Mapping[int, float]) -> None:
        """Hand out the relevances of those judged, and of those that may be shown, in the order of `judged`."""
        self.judged[stage] = judged
        among = self.showable() | {number: self.relevance[number] for number in judged}
        self.relevance |= reordered(among, judged)

    def similarity(self, numbers: Collection[int]) -> "Similarity":
        """How alike any two of these are."""
        from hippo_core.recall.diversify import vector_similarity, word_similarity

        by_words = word_similarity({number: self.memories[number].text for number in numbers})
        vectors = {number: self.vectors[number] for number in numbers if number in self.vectors}
        return vector_similarity(vectors, by_words) if vectors else by_words


def judge(store: Store, asked: Query, found: Found, weights: Weights = WEIGHTS) -> Pool:
    """The candidates of all channels, fused, and how relevant each is; without what is beside the point."""
    fused = reciprocal_ranks(found.lists, weights.channels, weights.rank_constant)
    # However much else fits as well, what is of the time that is asked for is looked at.
    timely = {number for number, _ in found.lists.get(TIME_CHANNEL, ())}
    best = {*itertools.islice(fused, POOL)}
    fused = {number: value for number, value in fused.items() if number in best or number in timely}
    memories = store.memories.fetch(list(fused))
    numbers = [number for number in fused if number in memories]  # one may have been forgotten a moment ago
    if not numbers:
        return Pool({}, {}, {}, {}, weights)
    matches = channels.holding(store, asked, {number: memories[number].text for number in numbers})
    covered = coverage(matches, store.memories.count_active(), numbers, weights.small_store)
    vectors, cosines = _closeness(store, found, numbers)
    evidence = {number: Evidence(covered[number], fused[number], cosines.get(number)) for number in numbers}
    judged = {number: relevance(seen, weights) for number, seen in evidence.items()}
    held = {word: holders for word, (_, holders) in zip(asked.terms, matches, strict=True)}
    aimed = aim(asked.text, held, {number: memories[number].text for number in numbers}, judged, weights)
    if beside := aimed.beside & worth_showing(judged, weights):
        found.remarks.append(f"beside the point, not shown: {', '.join(map(memory_id, sorted(beside)))}")
    judged = {
        number: value
        for number, value in judged.items()
        if number in aimed.needed
        or (number not in aimed.beside and (covered[number] or value >= weights.best_at_least or asked.time_alone))
    }
    by_meaning = found.question is not None
    judged = at_least_shown(judged, aimed.named, aimed.needed, by_meaning, weights)
    return Pool(evidence, judged, memories, vectors, weights)


def _rank_by_time(store: Store, pool: Pool, asked: Query, found: Found, scopes: Sequence[str] | None) -> None:
    """Keep to the time that was asked for, or prefer the newer."""
    if asked.when is None or not (pool.memories or asked.time_alone):
        return
    when, dated = resolved(store, asked.when, scopes)
    before, times = pool.relevance, of_memories(pool.memories)
    pool.relevance = weighed(when, before, times, asked.time_alone, pool.weights)
    least = 0.0 if asked.time_alone else pool.weights.best_at_least
    fitting = {n: times[n] for n, value in before.items() if value >= least}
    if said := remark(when, fitting, dated, asked.time_alone):
        found.notes.append(said)


def _rank_by_what_is_known(
    store: Store, pool: Pool, found: Found, so_far: str | None, embedder: Embedder | None
) -> None:
    """Prefer the candidates that also fit what was worked out so far.

    By meaning that may lift one that the question alone would not show; words alone are not trusted so far.
    """
    passed = pool.showable()
    if not so_far or not passed:
        return
    try:
        known = read_query(so_far)
    except UsageError:
        return  # nothing but white space
    thought = None
    if embedder is not None and found.question is not None:
        with contextlib.suppress(VectorsUnavailableError):
            thought = embedder.embed([known.text])[0]
            passed = dict(pool.relevance)
    matches = store.memories.word_matches(known.terms, index=PLAIN, among=list(passed))
    covered = coverage(matches, store.memories.count_active(), list(passed), pool.weights.small_store)
    pool.reorder(SO_FAR, bearing(passed, covered, pool.vectors, thought, pool.weights))


def _rank_by_reading(pool: Pool, asked: Query, found: Found, reranker: Reranker | None) -> None:
    """Let the reranker put in order what may be shown; where it cannot, the order stays, and an explanation says so."""
    passed = pool.showable()
    if reranker is None or len(passed) < 2:
        return
    try:
        judged = reranker(asked.text, [(number, pool.memories[number].text) for number in passed])
    except RerankerUnavailableError as error:
        found.remarks.append(f"not reranked: {error}")
        return
    if len(judged) < len(passed):
        found.remarks.append(f"reranked: the first {len(judged)} of {len(passed)}, for want of time")
    pool.reorder(RERANKED, judged)


def _closeness(
    store: Store, found: Found, numbers: Sequence[int]
) -> "tuple[dict[int, numpy.ndarray], dict[int, float]]":
    """The candidates' vectors, and each one's cosine to the question, also where only a keyword found it."""
    if found.question is None:
        return {}, {}
    import numpy

    fingerprint, question = found.question
    stored = store.vectors.of(fingerprint, numbers)
    vectors = {number: numpy.frombuffer(data, dtype="<f4") for number, data in stored.items()}
    cosines = {number: float(vector @ question) for number, vector in vectors.items()}
    return vectors, {**cosines, **dict(found.lists[VECTOR_CHANNEL])}


def _results(store: Store, pool: Pool, asked: Query, found: Found, aging: Aging, now: float) -> dict[int, Result]:
    """What passes the floor, scored, with every stage's number."""
    labels = {key: scope.label for key, scope in store.memories.scopes().items()}
    places = {name: {item: place for place, (item, _) in enumerate(ranked, 1)} for name, ranked in found.lists.items()}
    results: dict[int, Result] = {}
    shown = worth_showing(pool.relevance, pool.weights)
    to_do = any(pool.memories[number].type in TO_DO_TYPES for number in shown) and asked.to_do
    for number in shown:
        seen, memory = pool.evidence[number], pool.memories[number]
        fit = nudged(pool.relevance[number], memory.type, to_do, pool.weights)
        recency = aging.recency(memory, now)
        stages = {name: float(places[name].get(number, 0)) for name in places}
        stages |= {"fused": seen.fused, "coverage": seen.coverage}
        if seen.cosine is not None:
            stages["cosine"] = seen.cosine
        stages |= {name: judged[number] for name, judged in pool.judged.items() if number in judged}
        stages |= {"relevance": fit, "recency": recency, "importance": memory.importance}
        stages["confidence"] = memory.confidence
        results[number] = Result(
            memory,
            score(fit, recency, memory.importance, pool.weights),
            labels.get(memory.scope, memory.scope),
            clock.ago(memory.confirmed_at, now),
            stages,
            frozenset(places),
        )
    return results
