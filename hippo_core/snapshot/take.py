"""Taking a snapshot: the state as it is now, as the newest commit; nothing when nothing changed.

Knows where the parts of the state are. How they are written down is `documents`, how they are kept is `repository`.
"""

from dataclasses import dataclass

from hippo_core import clock, heartbeat
from hippo_core import config as settings
from hippo_core.counting import counted
from hippo_core.errors import UsageError
from hippo_core.lock import one_at_a_time
from hippo_core.model.types import Author
from hippo_core.paths import Paths
from hippo_core.snapshot.documents import Files, compared, documents, plugin_files
from hippo_core.snapshot.repository import Repository, git_program
from hippo_core.store import Store

JOB = "snapshot"
PATIENCE = 60.0  # seconds to wait for another process that is at the repository
NO_GIT = "no git on this machine, so nothing is kept"


@dataclass(frozen=True)
class Taken:
    """What became of it. added, changed, removed: files since the one before. note: what a person should know."""

    new: bool
    added: int = 0
    changed: int = 0
    removed: int = 0
    note: str | None = None


def take(paths: Paths) -> Taken:
    """Take a snapshot, and leave the job's heartbeat."""
    with heartbeat.running(paths, JOB) as run:
        if git_program() is None:
            run.result = NO_GIT
            return Taken(False, note=NO_GIT)
        with one_at_a_time(paths, JOB, wait=PATIENCE):
            taken = take_locked(paths)
        run.worked = taken.new
        run.counts = {"added": taken.added, "changed": taken.changed, "removed": taken.removed}
        run.result = taken.note or run.result
    return taken


def take_locked(paths: Paths) -> Taken:
    """Take a snapshot while this process holds the lock."""
    repository, note = Repository(paths.snapshot), None
    if not repository.open():
        left = repository.rebuild(lambda path, data: True)
        note = f"the repository was damaged and is rebuilt; {counted(left, 'earlier snapshot')} could be kept"
    files = state(paths)
    before = repository.newest()
    counts = compared(before.tree if before else {}, repository.tree(files))
    new = repository.add(files, clock.now())
    return Taken(new, *counts, note)


def state(paths: Paths) -> Files:
    """Everything that shapes the memory, as the files of a snapshot."""
    with Store.open(paths.store, readonly=True) as store, store.reading():
        memories = store.memories.select(author=Author.HUMAN)
        scopes = store.memories.scopes()
    as_they_are = {file.name: file.read_bytes() for file in (paths.config, paths.joined) if file.is_file()}
    return documents(memories, scopes, as_they_are, _nudge(paths), plugin_files(paths))


def _nudge(paths: Paths) -> str | None:
    """None where the settings cannot be read, so that restoring such a night changes none."""
    try:
        return settings.load(paths).nudge
    except UsageError:
        return None
