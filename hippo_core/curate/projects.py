"""Projects that moved: a folder goes on as the project it was, because the user says so.

Keeps that in one small file, by scope key, and moves the memories of the time between. What was archived in that time
stays where it is, the archive being append-only; searches look there, too (recall.where).
"""

from dataclasses import dataclass

from hippo_core import clock
from hippo_core.errors import NotFoundError, UsageError
from hippo_core.model.scope import GLOBAL_SCOPE, Scope, project_scope
from hippo_core.model.types import Author
from hippo_core.paths import Paths, write_atomic
from hippo_core.project import format_joined, identify, joined
from hippo_core.store import Store

_ACTOR = "user"


@dataclass(frozen=True)
class Known:
    """A project that the store knows. joined: it goes on as another one."""

    scope: Scope
    sessions: int
    memories: int
    joined: bool


def known(store: Store, paths: Paths) -> list[Known]:
    """Every project that was worked in or has a memory, those with most sessions first."""
    with store.reading():
        scopes = {**store.archive.projects(), **store.memories.scopes()}
        sessions, memories = store.archive.session_counts(), store.memories.counts()
    moved = joined(str(paths.home))
    found = [
        Known(scope, sessions.get(key, 0), sum(row[3] for row in memories if row[0] == key), key in moved)
        for key, scope in scopes.items()
        if scope.kind == "project"
    ]
    return sorted(found, key=lambda one: (-one.sessions, -one.memories, one.scope.label))


def outside_projects(store: Store) -> tuple[int, int]:
    """(sessions, memories) that belong to no project."""
    with store.reading():
        memories = sum(number for scope, _, _, number in store.memories.counts() if scope == GLOBAL_SCOPE.key)
        return store.archive.session_counts().get(GLOBAL_SCOPE.key, 0), memories


def own_scope(folder: str) -> Scope:
    """The project of `folder` by itself, whatever it was joined to."""
    found = identify(folder)
    return project_scope(*found) if found else GLOBAL_SCOPE


def join(store: Store, paths: Paths, folder: str, name: str) -> tuple[Scope, int]:
    """Let the project around `folder` go on as the known project `name` (label or key); (it, memories moved to it)."""
    from hippo_core.render.refresh import refresh

    here = own_scope(folder)
    if here == GLOBAL_SCOPE:
        raise UsageError(
            f"{folder} is your home folder or above it, which is no project. Do it in the project's folder."
        )
    earlier = _chosen(store, paths, here, name)
    rows = joined(str(paths.home)) | {here.key: (earlier.key, earlier.label, earlier.identity)}
    _write(paths, rows)
    moved = 0
    with store.transaction():
        store.memories.ensure_scope(earlier)
        for memory in store.memories.select(scopes=[here.key]):
            twin = store.memories.same_text(memory.text, earlier.key)
            if twin is not None and (twin.always, twin.domain) == (memory.always, memory.domain):
                store.memories.supersede(memory.id, twin.id, _ACTOR, Author.HUMAN, clock.now())
                continue
            store.memories.update(memory.id, memory.version, _ACTOR, Author.HUMAN, scope=earlier.key)
            moved += 1
    refresh(store, paths)
    return earlier, moved


def part(paths: Paths, folder: str) -> Scope | None:
    """Let the project around `folder` be one of its own again; it, None when it was joined to none."""
    here, rows = own_scope(folder), joined(str(paths.home))
    if rows.pop(here.key, None) is None:
        return None
    _write(paths, rows)
    return here


def _chosen(store: Store, paths: Paths, here: Scope, name: str) -> Scope:
    others = [one.scope for one in known(store, paths) if one.scope.key != here.key and not one.joined]
    found = [scope for scope in others if name.casefold() in (scope.key, scope.label.casefold())]
    if not found:
        raise NotFoundError(f"No other project {name!r} is known. See: hippo projects")
    if len(found) > 1:
        raise UsageError(f"{len(found)} projects are called {name!r}; name one by its key. See: hippo projects")
    return found[0]


def _write(paths: Paths, rows: dict[str, tuple[str, ...]]) -> None:
    write_atomic(paths.joined, format_joined(rows))
