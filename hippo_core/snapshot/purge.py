"""Forgetting reaches the snapshots: what was forgotten is in no object of the repository afterwards.

Knows nothing of what else has to go.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator

from hippo_core.errors import SnapshotError
from hippo_core.lock import one_at_a_time
from hippo_core.paths import Paths
from hippo_core.snapshot.documents import memory_in
from hippo_core.snapshot.repository import Repository, git_program
from hippo_core.snapshot.take import JOB


@contextlib.contextmanager
def kept_out(paths: Paths, wait: float) -> Iterator[None]:
    """No snapshot is taken inside the block: it would bring back what is just being forgotten."""
    if not Repository(paths.snapshot).exists:
        yield
        return
    with one_at_a_time(paths, JOB, wait=wait):
        yield


def held(paths: Paths, holds: Callable[[bytes], bool]) -> bool:
    """Whether a snapshot has a file that holds what must go. Inside `kept_out`."""
    repository = Repository(paths.snapshot)
    if not repository.exists:
        return False
    try:
        return git_program() is None or repository.holds(lambda path, data: _told(path, data, holds))
    except SnapshotError:
        return True  # unreadable: it may be in there


def purge(paths: Paths, numbers: Collection[int], holds: Callable[[bytes], bool]) -> None:
    """Take every file out of every snapshot that is one of these memories, in any wording, or holds what must go.

    Inside `kept_out`. Where the history cannot be read, because git is gone or says so, all of it goes: better no
    snapshot than one that remembers.
    """
    repository = Repository(paths.snapshot)
    if not repository.exists:
        return

    def doomed(path: str, data: bytes) -> bool:
        return memory_in(path) in numbers or _told(path, data, holds)

    if git_program() is None:
        repository.discard()
        return
    try:
        if repository.holds(doomed):
            repository.rebuild(lambda path, data: not doomed(path, data))
    except SnapshotError:
        repository.discard()


def _told(path: str, data: bytes, holds: Callable[[bytes], bool]) -> bool:
    return holds(data) or holds(path.encode("utf-8", "surrogateescape"))
