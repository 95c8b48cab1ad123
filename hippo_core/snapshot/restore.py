"""Bringing a snapshot back into the store: what is missing is added, other words are put back, nothing is taken away.

First a plan that a person can read, then the plan carried out. Knows nothing of git.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from hippo_core import config as settings
from hippo_core.errors import RefusedError
from hippo_core.guard.gate import admit
from hippo_core.model.memory import ACTIVE, Draft, Memory
from hippo_core.model.types import LADDER, Author
from hippo_core.paths import Paths, write_atomic
from hippo_core.project import JOINED, format_joined, joined, parse_joined
from hippo_core.snapshot.documents import CONFIG, NUDGE, Files, Kept, NotADocument, memory_in, read_memory
from hippo_core.store import Store

_ACTOR = "restore"
_SAME_MOMENT = 0.001  # seconds; a snapshot keeps microseconds


@dataclass(frozen=True)
class Plan:
    """What restoring would do. change: (as it is, as it was). stays: memories the snapshot does not have.

    settings: (name, value now, value then). projects: what folders go on as, by scope key, to be put back. unreadable:
    files of the snapshot that are no memory, and why. refused: what the guard would not let become a memory today.
    """

    add: list[Kept] = field(default_factory=list)
    change: list[tuple[Memory, Kept]] = field(default_factory=list)
    stays: list[Memory] = field(default_factory=list)
    settings: list[tuple[str, Any, Any]] = field(default_factory=list)
    projects: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    refused: list[Kept] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return not (self.add or self.change or self.settings or self.projects)


def plan(store: Store, paths: Paths, files: Files) -> Plan:
    """What it takes to have the memories and settings of a snapshot again."""
    made, matched = Plan(settings=_settings(paths, files), projects=_projects(paths, files)), set()
    with store.reading():
        for path, data in sorted(files.items()):
            if memory_in(path) is None:
                continue
            try:
                kept = read_memory(data)
            except NotADocument as error:
                made.unreadable.append((path, str(error)))
                continue
            there = _there(store, kept)
            if there:
                matched.add(there.id)
            if there and _equal(there, kept):
                continue
            if not _admitted(kept):
                made.refused.append(kept)
            elif there:
                made.change.append((there, kept))
            else:
                made.add.append(kept)
        made.stays.extend(memory for memory in store.memories.select(author=Author.HUMAN) if memory.id not in matched)
    return made


def carry_out(store: Store, paths: Paths, made: Plan) -> None:
    """Do what the plan says, all of it or nothing of the memories; VersionConflictError where one changed meanwhile."""
    from hippo_core.render.refresh import refresh

    with store.transaction():
        for kept in made.add:
            store.memories.ensure_scope(kept.scope)
            store.memories.add(_draft(kept), _ACTOR)
        for memory, kept in made.change:
            store.memories.ensure_scope(kept.scope)
            store.memories.update(memory.id, memory.version, _ACTOR, Author.HUMAN, **_changes(memory, kept))
    if made.settings:
        settings.write(paths, _settings_now(paths) | {name: then for name, _, then in made.settings})
    if made.projects:
        rows = joined(str(paths.home)) | made.projects
        write_atomic(paths.joined, format_joined(rows))
    refresh(store, paths)


def _there(store: Store, kept: Kept) -> Memory | None:
    """The active memory that a kept one is, by its number or by its words."""
    same = store.memories.fetch([kept.id]).get(kept.id)
    if same and same.status == ACTIVE and abs(same.created_at - kept.created_at) < _SAME_MOMENT:
        return same
    return store.memories.same_text(kept.text, kept.scope.key)


def _equal(memory: Memory, kept: Kept) -> bool:
    return not _changes(memory, kept)


def _changes(memory: Memory, kept: Kept) -> dict[str, object]:
    wanted = {
        "text": kept.text,
        "type": kept.type,
        "scope": kept.scope.key,
        "author": Author.HUMAN,
        "pinned": kept.pinned,
        "always": kept.always,
        "domain": kept.domain,
    }
    changes = {name: value for name, value in wanted.items() if getattr(memory, name) != value}
    if "type" in changes:
        changes |= {"tier": LADDER[kept.type].tier, "importance": LADDER[kept.type].importance}
    if "author" in changes:
        changes["confidence"] = 1.0
    return changes


def _draft(kept: Kept) -> Draft:
    return Draft(
        kept.text,
        kept.type,
        kept.scope.key,
        Author.HUMAN,
        always=kept.always,
        domain=kept.domain,
        pinned=kept.pinned,
        observed_at=kept.confirmed_at,
    )


def _admitted(kept: Kept) -> bool:
    """Whether the guard lets the text in as it stands: the file may have been written by anybody."""
    try:
        return admit(kept.text, users_own=True) == kept.text
    except RefusedError:
        return False


def _settings(paths: Paths, files: Files) -> list[tuple[str, Any, Any]]:
    """(name, now, then) of the settings that differ; what the snapshot does not name stays as it is."""
    then = _object(files.get(CONFIG, b"{}"))
    now = _settings_now(paths)
    if NUDGE in files and "nudge" in now.keys() | then.keys():
        then["nudge"] = files[NUDGE].decode("utf-8", "replace").removesuffix("\n")
    return [(name, now.get(name), value) for name, value in sorted(then.items()) if now.get(name) != value]


def _settings_now(paths: Paths) -> dict[str, Any]:
    """What the file holds; nothing where it cannot be read, so that it gives way to what is restored."""
    return _object(paths.config.read_bytes() if paths.config.is_file() else b"{}")


def _projects(paths: Paths, files: Files) -> dict[str, tuple[str, ...]]:
    """By scope key, what a folder went on as then and does not now."""
    now, then = joined(str(paths.home)), parse_joined(files.get(JOINED, b"").decode("utf-8-sig", "replace"))
    return {key: row for key, row in then.items() if now.get(key) != row}


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
