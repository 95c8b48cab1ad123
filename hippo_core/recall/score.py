"""The final number of a memory: its relevance, tempered by its freshness and its importance. Pure.

score = relevance x (0.80 + 0.11 recency + 0.09 importance). Being a product, it never exceeds the relevance: nothing
that does not fit is lifted by being new or important, and together the two move a result by a fifth at most.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hippo_core.clock import DAY
from hippo_core.config import Config
from hippo_core.model.memory import Memory
from hippo_core.model.types import LADDER, MemoryType, freshness
from hippo_core.recall.weights import WEIGHTS, Weights

TO_DO_TYPES = frozenset({MemoryType.TASK, MemoryType.TODO})


class Aging(NamedTuple):
    """How memories age under the user's settings."""

    half_lives: Mapping[str, float]
    decay_rate: float
    slowing: float

    @classmethod
    def of(cls, config: Config, weights: Weights = WEIGHTS) -> "Aging":
        return cls(dict(config.half_lives), config.decay_rate, weights.slowing)

    def recency(self, memory: Memory, now: float) -> float:
        """Freshness in 0..1, counted from the last confirmation. What is pinned does not age."""
        if memory.pinned:
            return 1.0
        half_life = self.half_lives.get(memory.type.value, LADDER[memory.type].half_life)
        half_life *= 1 + self.slowing * max(0.0, 2 * memory.importance - 1)
        return freshness((now - memory.confirmed_at) / DAY, half_life, self.decay_rate)


def score(relevance: float, recency: float, importance: float, weights: Weights = WEIGHTS) -> float:
    return relevance * (weights.by_relevance + weights.by_recency * recency + weights.by_importance * importance)


def nudged(relevance: float, kind: MemoryType, to_do: bool, weights: Weights = WEIGHTS) -> float:
    """A question about open work leans a little towards tasks."""
    return min(1.0, relevance * weights.to_do) if to_do and kind in TO_DO_TYPES else relevance
