"""The policy table: what kinds of memory exist, and how each ages.

The ladder is the only place where a half-life or a baseline is written down. Knows nothing of storage or scoring.
"""

from enum import Enum
from typing import NamedTuple

YEAR_DAYS = 365.25


class MemoryType(str, Enum):
    RULE = "rule"
    ARCHITECTURE = "architecture"
    DECISION = "decision"
    TOOL = "tool"
    CONFIG = "config"
    PERSON = "person"
    PREFERENCE = "preference"
    FACT = "fact"
    REFERENCE = "reference"
    PROJECT = "project"
    PROCEDURE = "procedure"
    INSIGHT = "insight"
    REFLECTION = "reflection"
    MEETING = "meeting"
    TASK = "task"
    TODO = "todo"
    RESULT = "result"
    PING = "ping"


class Tier(str, Enum):
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Author(str, Enum):
    HUMAN = "human"
    MACHINE = "machine"


class TypePolicy(NamedTuple):
    """How one type ages and how much it weighs before anything else is known.

    half_life: days after which freshness is worth half as much. importance: baseline in 0..1.
    """

    half_life: float
    tier: Tier
    importance: float


def _rungs(half_life: float, tier: Tier, **importance: float) -> dict[MemoryType, TypePolicy]:
    return {MemoryType(name): TypePolicy(half_life, tier, value) for name, value in importance.items()}


LADDER: dict[MemoryType, TypePolicy] = {
    **_rungs(10 * YEAR_DAYS, Tier.PROCEDURAL, rule=0.9),
    **_rungs(10 * YEAR_DAYS, Tier.SEMANTIC, architecture=0.8, decision=0.8),
    **_rungs(2 * YEAR_DAYS, Tier.SEMANTIC, preference=0.7, config=0.6, tool=0.5, person=0.5),
    **_rungs(YEAR_DAYS, Tier.SEMANTIC, fact=0.5, reference=0.5, project=0.5),
    **_rungs(YEAR_DAYS, Tier.PROCEDURAL, procedure=0.6),
    **_rungs(YEAR_DAYS / 2, Tier.SEMANTIC, insight=0.6, reflection=0.4, meeting=0.4),
    **_rungs(90, Tier.EPISODIC, task=0.4, todo=0.4, result=0.4),
    **_rungs(7, Tier.EPISODIC, ping=0.1),
}


def freshness(age_days: float, half_life: float, decay_rate: float = 1.0) -> float:
    """Worth of a memory by age alone, in 0..1: 0.5 ** (age / half-life). A negative age counts as none."""
    return 0.5 ** (max(0.0, age_days) * decay_rate / half_life)
