"""Takes nightly changes back: a whole night's, or the last one made to a memory. What changed since stays as it is.

Knows nothing of why a night changed anything.
"""

import re
from dataclasses import dataclass

from hippo_core.errors import UsageError, VersionConflictError
from hippo_core.model.memory import Memory, parse_id
from hippo_core.paths import Paths
from hippo_core.store import Store

ACTOR = "user"
_NIGHT = re.compile(r"n(\d{1,15})", re.IGNORECASE)


@dataclass(frozen=True)
class TakenBack:
    """night: whose changes. restored: memories as they are again. kept: a line for each that stays as it is."""

    night: int
    restored: tuple[Memory, ...]
    kept: tuple[str, ...]


def take_back(store: Store, paths: Paths, name: str | None) -> TakenBack | None:
    """Undo the night `name` (n12), the last nightly change of the memory `name` (m41c), or the last night (None).

    None when the last night was meant, and there is none with anything to take back. VersionConflictError for a single
    memory that changed since; in a night such memories are kept and named.
    NotFoundError when there is no such night, or none that changed it.
    """
    from hippo_core.render.refresh import refresh

    with store.transaction():
        if name and not _NIGHT.fullmatch(name.strip()):
            done = _one(store, name)
        else:
            night = _night(store, name)
            done = None if night is None else _all(store, night)
    refresh(store, paths)
    return done


def _one(store: Store, public_id: str) -> TakenBack:
    try:
        kind, number = parse_id(public_id)
    except UsageError:
        raise UsageError(
            f"{public_id!r} is neither a night (n12; see: hippo undo --list) nor a memory (m41c; see: hippo list)."
        ) from None
    if kind != "memory":
        raise UsageError(f"{public_id} is an archived message, which no night ever changes. See: hippo undo --list")
    store.memories.get(number)  # NotFoundError says it better than "no night has changed it"
    change = store.nights.last_change(number)
    store.nights.take_back(change, ACTOR)
    return TakenBack(change.night, (store.memories.get(number),), ())


def _all(store: Store, night: int) -> TakenBack:
    restored, kept = [], []
    for change in store.nights.changes(night):
        try:
            store.nights.take_back(change, ACTOR)
            restored.append(store.memories.get(change.memory_id))
        except VersionConflictError as error:
            kept.append(str(error))
    return TakenBack(night, tuple(restored), tuple(kept))


def _night(store: Store, name: str | None) -> int | None:
    if name:
        return int(_NIGHT.fullmatch(name.strip())[1])
    return next((night.id for night in store.nights.recent(1_000) if night.open), None)
