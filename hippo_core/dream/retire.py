"""Retires what was about a moment that has passed: open work and pings not confirmed for a half-life of their type.

A retired memory leaves every search and stays readable by its id. Human and pinned ones are exempt, and no night
retires more than its share, so that neither a wrong clock nor a fault can empty the store. Knows nothing of undoing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hippo_core import clock
from hippo_core.config import Config
from hippo_core.model.types import LADDER, Author, MemoryType
from hippo_core.store import Store

ACTOR = "dream"
PASSING = (MemoryType.PING, MemoryType.TASK, MemoryType.TODO)
MOST_SHARE = 0.05  # of the active memories, in one night
ALWAYS_ALLOWED = 5  # so that a store with few memories is tidied, too
NIGHT = 20 * 3_600.0  # seconds within which several runs are one night


@dataclass(frozen=True)
class Retirement:
    """night: its number, None where nothing was retired. retired: memories. left: how many are due in later nights."""

    night: int | None = None
    retired: tuple[int, ...] = ()
    left: int = 0


def retire_due(store: Store, config: Config) -> Retirement:
    """Retire what is due, pings first and the longest unconfirmed of each type first. In a transaction."""
    due = list(_due(store, config))
    before = store.nights.retired_since(clock.now() - NIGHT)
    share = max(ALWAYS_ALLOWED, int((store.memories.count_active() + before) * MOST_SHARE))
    chosen = due[: max(0, share - before)]
    if not chosen:
        return Retirement(left=len(due))
    night = store.nights.begin()
    for number in chosen:
        store.memories.retire(number, ACTOR, Author.MACHINE, night)
    return Retirement(night, tuple(chosen), len(due) - len(chosen))


def lifetimes(config: Config) -> dict[MemoryType, float]:
    """Days after their last confirmation at which memories of a passing type are due: 7 and 90 as designed."""
    if config.decay_rate <= 0:
        return {}
    chosen = dict(config.half_lives)
    return {kind: chosen.get(kind.value, LADDER[kind].half_life) / config.decay_rate for kind in PASSING}


def _due(store: Store, config: Config) -> Iterator[int]:
    for kind, days in lifetimes(config).items():
        yield from store.nights.due(kind.value, clock.now() - days * clock.DAY)
