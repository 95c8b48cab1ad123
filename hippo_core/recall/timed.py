"""What a time in the question does to the candidates: those of that time alone or first, or the newer first.

A memory belongs to the time when it was first said and to that when it was last confirmed; what was said in the archive
to the moment when it was said. Memories outside of a date that was said go. In the archive they only stand back, since
what is asked for was seldom talked about when it happened: docs/benchmarks.md has what going would cost. Knows no
wording of times; that is recall.when's.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from hippo_core import clock
from hippo_core.model.memory import Memory
from hippo_core.recall.weights import WEIGHTS, Weights
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

if TYPE_CHECKING:
    from hippo_core.recall.when import When

T = TypeVar("T", str, int)
Times = Mapping[T, tuple[float, ...]]  # the moments that each candidate belongs to


def resolved(store: Store, when: "When", scopes: Sequence[str] | None) -> "tuple[When, Memory | None]":
    """`when` with the date of its event, and the memory that dates it; without a date when none is known."""
    if when.event is None:
        return when, None
    words = when.event.split()
    hits = [number for number, _ in store.memories.keyword_hits(words, index=PLAIN, scopes=scopes, limit=20)]
    matches = store.memories.word_matches(words, index=PLAIN, among=hits)
    whole = [number for number in hits if all(number in rows for _, rows in matches)]
    if not whole:
        return when, None
    dated = store.memories.fetch(whole[:1])[whole[0]]
    start = _began(dated)
    if when.side == "before":
        return when._replace(end=start), dated
    return when._replace(start=start), dated


def of_memories(memories: Mapping[int, Memory]) -> Times[int]:
    return {number: (_began(memory), memory.confirmed_at) for number, memory in memories.items()}


def weighed(
    when: "When", relevance: Mapping[int, float], times: Times[int], alone: bool, weights: Weights = WEIGHTS
) -> dict[int, float]:
    """The memories' relevances under the time that was asked for. alone: nothing else was asked.

    A date that was said narrows: what lies outside goes, unless nothing inside fits. An event only weighs.
    """
    if when.latest:
        return _newer_first(relevance, times, weights.oldest, weights.rival)
    inside = {number for number in relevance if _lies_in(when, times[number])}
    if alone:
        return dict.fromkeys(inside, weights.time_alone)
    if when.event is not None:
        return {number: value * (1 if number in inside else weights.outside) for number, value in relevance.items()}
    kept = {number: value for number, value in relevance.items() if number in inside}
    return kept if max(kept.values(), default=0.0) >= weights.best_at_least else dict(relevance)


def leaning(when: "When", scores: Mapping[T, float], times: Times[T], weights: Weights = WEIGHTS) -> dict[T, float]:
    """The scores of what was said, under the time that was asked for: what is of another time stands back."""
    if when.latest:
        return _newer_first(scores, times, weights.stands_back, weights.rival)
    if not when.dated:
        return dict(scores)
    return {item: score * (1 if _lies_in(when, times[item]) else weights.stands_back) for item, score in scores.items()}


def remark(when: "When", times: Times[T], dated: Memory | None, alone: bool = False) -> str | None:
    """What was made of the time, in words; None where there is nothing to tell. times: of what fits the question.

    alone: nothing else was asked, so that to find nothing is because of the time.
    """
    if when.latest or not when.dated:
        return None
    span = _span(when)
    if dated is not None:
        return f"{when.phrase}: taken as {span}, by {dated.public_id}"
    if any(_lies_in(when, moments) for moments in times.values()):
        return f"{when.phrase}: {span}"
    return f"nothing that fits is of {when.phrase} ({span})" if times or alone else None


def _newer_first(scores: Mapping[T, float], times: Times[T], oldest: float, rival: float) -> dict[T, float]:
    """Among the candidates that compete, by their places in time: how old they are altogether does not matter.

    oldest: what of its score the oldest of them keeps. rival: the share of the best from which on one competes.
    """
    best = max(scores.values(), default=0.0)
    rivals = [item for item, value in scores.items() if value >= rival * best]
    rivals.sort(key=lambda item: max(times[item], default=0.0))
    last = max(1, len(rivals) - 1)
    factors = {item: oldest + (1 - oldest) * place / last for place, item in enumerate(rivals)}
    if len(rivals) == 1:
        factors = {}
    return {item: value * factors.get(item, 1.0) for item, value in scores.items()}


def _lies_in(when: "When", moments: tuple[float, ...]) -> bool:
    return any(map(when.holds, moments))


def _began(memory: Memory) -> float:
    return memory.confirmed_at if memory.valid_from is None else memory.valid_from


def _span(when: "When") -> str:
    if when.start is None:
        return f"before {clock.day(when.end)}"
    if when.end is None:
        return f"since {clock.day(when.start)}"
    first, last = clock.day(when.start), clock.day(when.end - 1)
    return first if first == last else f"{first} to {last}"
