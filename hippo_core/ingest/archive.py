"""The archive step: transcript files into the raw archive, each file in one transaction with its watermark.

A file that fails costs only itself: it is tried three times, then set aside until it changes. A store that fails ends
the step. Knows nothing of distilling.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from os.path import exists
from pathlib import Path
from stat import S_ISREG

from hippo_core.errors import StoreError, TranscriptError
from hippo_core.guard.gate import guard
from hippo_core.model.message import Message
from hippo_core.model.scope import GLOBAL_SCOPE, Scope, scope_of
from hippo_core.store import Store
from hippo_core.store.progress import MOST_ATTEMPTS, Source
from hippo_core.transcripts.claude_code import Transcript

_HEAD, _TAIL = 4096, 512
_PORTION = 1_000  # messages in one transaction


@dataclass
class ArchiveReport:
    """files: those read. messages: newly stored ones. failed: (path, error) of files that failed just now.

    set_aside: files left alone because they failed too often. sessions: those that got new messages.
    """

    files: int = 0
    messages: int = 0
    bad_lines: int = 0
    failed: list[tuple[Path, str]] = field(default_factory=list)
    set_aside: int = 0
    sessions: set[str] = field(default_factory=set)


def archive_files(
    store: Store,
    files: Sequence[Path],
    on_progress: Callable[[int, int], None] | None = None,
    *,
    retry: bool = False,
    thorough: bool = False,
) -> ArchiveReport:
    """Bring the archive up to these files. on_progress(done, total) is called after each.

    retry: try those, too, that were set aside. thorough: do not trust an unchanged size and time, but look at the bytes
    as well. Raises StoreError when the store fails; what earlier files gave is kept.
    """
    report = ArchiveReport()
    with store.reading():
        known = store.progress.sources()
    places = _Places(store)
    for done, path in enumerate(files, 1):
        source = known.get(_name(path))
        try:
            if _needs_reading(path, source, report, retry, thorough):
                _archive_file(store, path, source, places, report)
        except StoreError:
            raise
        except Exception as error:  # whatever a foreign file holds, the others must not suffer
            report.failed.append((path, _record_failure(store, path, source, error)))
            places = _Places(store)  # what it learned from a file that was rolled back is not in the store
        if on_progress:
            on_progress(done, len(files))
    _forgive_deleted(store, known, files)
    return report


def prepare_search(store: Store, seconds: float) -> None:
    """Give an older version's archive its episodes, for about `seconds`; count common words when that is due."""
    deadline = time.monotonic() + seconds
    with store.reading():
        behind = store.episodes.behind()
    while behind and time.monotonic() < deadline:
        with store.transaction():
            store.episodes.group(_PORTION)
            behind = store.episodes.behind()
    with store.reading():
        due = store.frequencies.due()
    if due:
        with store.transaction():
            store.frequencies.count()


def _needs_reading(path: Path, source: Source | None, report: ArchiveReport, retry: bool, thorough: bool) -> bool:
    """Whether a file has to be opened; what a pass over unchanged files costs is this."""
    if source is None or (source.size, source.mtime_ns) != _state(os.stat(path)):
        return True
    if source.error is not None:
        if source.set_aside and not retry:
            report.set_aside += 1
            return False
        return True
    return thorough and source.head_digest != _digest(path, source.offset)


def _archive_file(store: Store, path: Path, source: Source | None, places: "_Places", report: ArchiveReport) -> None:
    try:
        stat = path.stat()
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read ({error.strerror or error}).") from error
    if not S_ISREG(stat.st_mode):
        raise TranscriptError(f"{path} is no file.")  # a pipe would never end
    start = 0
    if source and source.head_digest == _digest(path, source.offset):  # else it is new, rewritten or cut off
        start = source.offset
    transcript = Transcript(path, start)
    added = 0
    sessions: set[str] = set()
    with store.transaction():
        source = source or store.progress.begin_source(_name(path))
        for message in transcript:
            guarded = guard(message)
            if guarded is None:
                continue
            scope = places.scope(message)
            if store.archive.append(guarded.message, scope=scope, source_id=source.id, withheld=guarded.withheld):
                added += 1
                sessions.add(message.session_id)
        store.progress.save_source(
            source,
            size=stat.st_size,
            mtime_ns=stat.st_mtime_ns,
            offset=transcript.offset,
            head_digest=_digest(path, transcript.offset),
            bad_lines=transcript.bad_lines + (source.bad_lines if start else 0),
            attempts=0,
            error=None,
        )
    report.files += 1
    report.messages += added
    report.bad_lines += transcript.bad_lines
    report.sessions |= sessions


def _record_failure(store: Store, path: Path, source: Source | None, error: Exception) -> str:
    """Note in the store that a file could not be taken in, and return why. A file that has changed starts anew."""
    # An unforeseen error may quote what it failed on, which the guard has not seen: only its name is kept.
    reason = str(error) if isinstance(error, TranscriptError) else _unforeseen(path, error)
    try:
        size, mtime_ns = _state(os.stat(path))
    except OSError:
        size, mtime_ns = 0, 0
    with store.transaction():
        failed = source or store.progress.begin_source(_name(path))
        again = failed.error is not None and (failed.size, failed.mtime_ns) == (size, mtime_ns)
        attempts = min(failed.attempts, MOST_ATTEMPTS - 1) + 1 if again else 1
        store.progress.save_source(failed, size=size, mtime_ns=mtime_ns, attempts=attempts, error=reason)
    return reason


def _unforeseen(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path} cannot be read ({error.strerror or type(error).__name__})."
    return f"{path} could not be taken in ({type(error).__name__})."


def _forgive_deleted(store: Store, known: Mapping[str, Source], files: Sequence[Path]) -> None:
    """A file that failed and is gone needs nobody's attention any more."""
    failed = [source for source in known.values() if source.error is not None]
    names = {_name(path) for path in files} if failed else ()
    for source in failed:
        if source.path not in names and not exists(source.path):
            with store.transaction():
                store.progress.save_source(source, attempts=0, error=None)


def _state(stat: os.stat_result) -> tuple[int, int]:
    """What tells a changed file from an unchanged one without opening it."""
    return stat.st_size, stat.st_mtime_ns


def _name(path: Path) -> str:
    """The path as the store can keep it, whatever bytes the file system allowed."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _digest(path: Path, offset: int) -> bytes:
    """Of the file's first bytes and of the last ones before `offset`: appending keeps it, rewriting does not."""
    try:
        with open(path, "rb", buffering=0) as file:
            known = file.read(min(_HEAD, offset))
            if offset > _HEAD:
                file.seek(offset - _TAIL)
                known += file.read(_TAIL)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read ({error.strerror or error}).") from error
    return blake2b(known, digest_size=16).digest()


class _Places:
    """Which project a message belongs to: its folder's; where that is gone, or a sub-agent's, its session's."""

    def __init__(self, store: Store):
        self._store = store
        self._folders: dict[str, tuple[Scope, bool]] = {}
        self._sessions: dict[str, tuple[Scope, str | None]] = {}

    def scope(self, message: Message) -> Scope:
        session = self._sessions.get(message.session_id) or self._store.archive.session_place(message.session_id)
        own, there = self._folder(message.cwd)
        if session is None:
            session = own, message.cwd
        self._sessions[message.session_id] = session
        scope, cwd = session
        if message.cwd is None or message.agent_id is not None or (not there and _below(message.cwd, cwd)):
            return scope
        return own

    def _folder(self, cwd: str | None) -> tuple[Scope, bool]:
        if cwd is None:
            return GLOBAL_SCOPE, False
        if cwd not in self._folders:
            self._folders[cwd] = scope_of(cwd), exists(cwd)
        return self._folders[cwd]


def _below(folder: str, parent: str | None) -> bool:
    return parent is not None and folder.startswith((parent.rstrip("/\\") + "/", parent.rstrip("/\\") + "\\"))
