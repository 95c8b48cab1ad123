"""A curated memory, and the draft it is made from. Plain data: no storage, no ranking."""

from typing import NamedTuple

from hippo_core.errors import UsageError
from hippo_core.model.types import Author, MemoryType, Tier

ACTIVE = "active"
SUPERSEDED = "superseded"
RETIRED = "retired"


class Draft(NamedTuple):
    """What somebody wants remembered. `importance` None means the type's baseline.

    scope: a scope key (see model.scope). sources: uids of the messages it came from. always: layer 1 (rules only).
    domain: layer 2, the rules' topic ("git"). observed_at: the clock of the message that said it, seconds.
    """

    text: str
    type: MemoryType
    scope: str
    author: Author
    importance: float | None = None
    confidence: float = 1.0
    tier: Tier | None = None
    always: bool = False
    domain: str | None = None
    pinned: bool = False
    sources: tuple[str, ...] = ()
    observed_at: float | None = None


class Memory(NamedTuple):
    """One row of the curated store. Times are seconds since the epoch."""

    id: int
    text: str
    type: MemoryType
    tier: Tier
    author: Author
    scope: str
    importance: float
    confidence: float
    pinned: bool
    always: bool
    domain: str | None
    created_at: float
    confirmed_at: float
    valid_from: float | None
    valid_until: float | None
    seen: int
    version: int
    status: str
    superseded_by: int | None
    sources: tuple[str, ...] = ()

    @property
    def public_id(self) -> str:
        return memory_id(self.id)

    @property
    def frozen(self) -> bool:
        """Human memories are touched by no job."""
        return self.author is Author.HUMAN

    @property
    def witnessed(self) -> bool:
        """Whether a human wrote it or messages stand behind it. Needs its sources.

        What an agent noted by itself may come from a page it read, so it is only found, never shown unasked.
        """
        return self.frozen or bool(self.sources)


def memory_id(number: int) -> str:
    """The id a person sees and types for a memory: m41c."""
    return f"m{number:x}"


def message_id(number: int) -> str:
    """The id a person sees and types for an archived message: a3f2."""
    return f"a{number:x}"


def parse_id(public_id: str) -> tuple[str, int]:
    """("memory" | "message", row number) of a public id; UsageError when it is neither."""
    text = public_id.strip().lower()
    kind = {"m": "memory", "a": "message"}.get(text[:1])
    digits = text[1:]
    if kind is None or not digits or len(digits) > 15 or any(c not in "0123456789abcdef" for c in digits):
        raise UsageError(
            f"{public_id!r} is not an id: a memory's looks like m41c (see: hippo list), an archived message's like "
            "a3f2 (see: hippo archive WORDS)."
        )
    return kind, int(digits, 16)
