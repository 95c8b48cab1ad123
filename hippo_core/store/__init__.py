"""The one SQLite file. Only in this room is SQL."""

from hippo_core.store.store import Store

__all__ = ["Store"]
