"""Whose words may tell the agent what to do. What a tool, a page or another agent said is data, never a rule."""

from hippo_core.model.message import Role
from hippo_core.model.types import MemoryType

INSTRUCTING_TYPES = frozenset({MemoryType.RULE, MemoryType.PREFERENCE})


def may_instruct(role: Role) -> bool:
    """Whether a message of this role may become a rule or a preference: only the user's own."""
    return role is Role.USER


def may_become(kind: MemoryType, role: Role) -> bool:
    """Whether a message of this role may become a memory of this type."""
    return kind not in INSTRUCTING_TYPES or may_instruct(role)


def without_authority(kind: MemoryType) -> MemoryType:
    """The type for what an agent notes by itself: the same, but never one that instructs."""
    return {MemoryType.RULE: MemoryType.PROCEDURE, MemoryType.PREFERENCE: MemoryType.FACT}.get(kind, kind)
