"""The archive step: transcript files into the raw archive, all of a file in one transaction with its watermark.

A file that fails costs only itself: it is tried three times, then set aside until it changes. A store that fails ends
the step. Knows nothing of distilling.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os.path import exists, isdir
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from hippo_core import clock
from hippo_core.errors import StoreError, TranscriptError
from hippo_core.guard.gate import Guarded, guard
from hippo_core.ingest.places import Places
from hippo_core.ingest.unchanged import Content, State, due_on, unreadable
from hippo_core.model.scope import Scope
from hippo_core.store import Store
from hippo_core.store.archive import MOST_AT_ONCE, Entry
from hippo_core.store.progress import Source
from hippo_core.transcripts.claude_code import Transcript
from hippo_core.transcripts.discover import session_of
from hippo_core.transcripts.lines import storable

_LARGE = 8 << 20  # bytes of transcripts in one transaction, about: others want to write, too
PORTION = 1_000  # messages, or files, in one transaction


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

    retry: try those, too, that were set aside. thorough: compare the bytes of today's share of the files that look
    unchanged. Raises StoreError when the store fails; what earlier files gave is kept.
    """
    report = ArchiveReport()
    with store.reading():
        known = store.progress.sources()
    sizes = {path: source.offset for path, source in known.items()} if thorough else {}
    new = [storable(session_of(path)) for path in files if _name(path) not in known]
    step = _Step(store, report, retry, due_on(int(clock.now() // 86_400), sizes), new)
    for done, path in enumerate(files, 1):
        step.take(path, known.get(_name(path)))
        if on_progress:
            on_progress(done, len(files))
    step.write()
    _forgive_deleted(store, known, files)
    return report


def prepare_search(store: Store, seconds: float) -> None:
    """Give an older version's archive its episodes, for about `seconds`; count common words when that is due."""
    deadline = time.monotonic() + seconds
    with store.reading():
        behind = store.episodes.behind()
    while behind and time.monotonic() < deadline:
        with store.transaction():
            store.episodes.group(PORTION)
            behind = store.episodes.behind()
    with store.reading():
        due = store.frequencies.due()
    if due:
        with store.transaction():
            store.frequencies.count()


class _Reading:
    """A transcript file, a portion at a time, from the byte at which its news begin to the state in which it is left.

    source: what is stored of it, if anything. spoken: what the portion says, and where.
    """

    def __init__(self, path: Path, source: Source | None):
        try:
            stat = os.stat(path)
            if S_ISDIR(stat.st_mode):
                os.scandir(path).close()  # that this failed is why it is among the files
        except OSError as error:
            raise unreadable(path, error) from error
        if not S_ISREG(stat.st_mode):
            raise TranscriptError(f"{path} is no file.")  # a pipe would never end
        start, self._content = 0, Content(path)
        if source and source.offset:
            if self._content.digest_to(source.offset) == source.digest:
                start = source.offset
            else:  # rewritten or cut off
                self._content = Content(path)
        self.path, self.source = path, source
        self.spoken: list[tuple[Guarded, Scope]] = []
        self._found = State.of(stat)
        self._transcript = Transcript(path, start)
        self._transcript.passed = self._content.add
        self._portions = self._transcript.portions(_LARGE, PORTION)
        self._earlier = source.bad_lines if source and start else 0

    @property
    def ended(self) -> bool:
        return self._transcript.ended

    @property
    def bad_lines(self) -> int:
        return self._transcript.bad_lines

    def hear(self, places: Places) -> int:
        """Read the next portion; how many bytes it is of."""
        before = self._transcript.offset
        self.spoken = []
        for message in next(self._portions):
            guarded = guard(message)
            if guarded is not None:
                self.spoken.append((guarded, places.scope(message)))
        return self._transcript.offset - before

    def state(self) -> dict[str, Any]:
        """What is to be saved of the file when all that is spoken in it so far is stored."""
        found = self._found if self.ended else self._found._replace(size=0)  # so that whoever comes next looks
        return {
            **found._asdict(),
            "offset": self._transcript.offset,
            "digest": self._content.digest_at(self._transcript.offset),
            "bad_lines": self._earlier + self.bad_lines,
            "attempts": 0,
            "error": None,
        }


class _Step:
    """Files on their way into the store: small ones are written together, a large one in portions."""

    def __init__(self, store: Store, report: ArchiveReport, retry: bool, due: Collection[str], new: Iterable[str]):
        """due: files whose bytes are to be compared. new: the sessions of files that were never read."""
        self._store, self._report = store, report
        self._retry, self._due = retry, due
        self._places = Places(store, new)
        self._read: list[_Reading] = []
        self._bytes = self._messages = 0

    def take(self, path: Path, source: Source | None) -> None:
        """Read what is new in a file, if anything; when it fails, that costs only itself."""
        try:
            if not self._needs_reading(path, source):
                return
            reading = _Reading(path, source)
            while True:
                self._bytes += reading.hear(self._places)
                self._messages += len(reading.spoken)
                self._read.append(reading)
                full = self._bytes > _LARGE or max(self._messages, len(self._read)) >= PORTION
                if reading.ended and not full:
                    return
                if reading in self.write() or reading.ended:
                    return
                source = reading.source
        except StoreError:
            raise
        except Exception as error:  # whatever a foreign file holds, the others must not suffer
            self._fail(path, source, error)

    def write(self) -> list[_Reading]:
        """Write what was read; one by one, if that fails together, to tell whose fault it is. Returns who failed."""
        read, self._read = self._read, []
        self._bytes = self._messages = 0
        failed = []
        try:
            self._write(read)
        except StoreError:
            raise
        except Exception:
            for reading in read:
                try:
                    self._write([reading])
                except StoreError:
                    raise
                except Exception as error:
                    self._fail(reading.path, reading.source, error)
                    failed.append(reading)
        return failed

    def _needs_reading(self, path: Path, source: Source | None) -> bool:
        """Whether a file has to be opened; what a pass over unchanged files costs is this."""
        if source is None:
            return True
        # A store of an older version knows no identity.
        known, now = State(source.size, source.mtime_ns, source.identity), State.now(path)
        if known != (now if source.identity is not None else now._replace(identity=None)):
            return True
        if source.error is not None:
            if source.set_aside and not self._retry:
                self._report.set_aside += 1
                return False
            return True
        return source.path in self._due and source.digest != Content(path).digest_to(source.offset)

    def _fail(self, path: Path, source: Source | None, error: Exception) -> None:
        self.write()
        self._report.failed.append((path, _record_failure(self._store, path, source, error)))
        self._places = Places(self._store)  # what it learned from a file that is not stored does not hold

    def _write(self, read: Sequence[_Reading]) -> None:
        """Rows and watermarks of these files in one transaction."""
        if not read:
            return
        store, messages, sessions = self._store, 0, set()
        with store.transaction():
            begun = store.progress.begin_sources([_name(reading.path) for reading in read if reading.source is None])
            sources = [reading.source or begun[_name(reading.path)] for reading in read]
            entries = (
                Entry(guarded.message, scope, source.id, guarded.withheld)
                for reading, source in zip(read, sources, strict=True)
                for guarded, scope in reading.spoken
            )
            while some := list(islice(entries, MOST_AT_ONCE)):
                added = store.archive.append_all(some)
                messages += len(added)
                sessions.update(entry.message.session_id for entry in added)
            saved = [source._replace(**reading.state()) for reading, source in zip(read, sources, strict=True)]
            store.progress.save_sources(saved)
        for reading, source in zip(read, saved, strict=True):
            reading.source = source
        ended = [reading for reading in read if reading.ended]
        self._report.files += len(ended)
        self._report.messages += messages
        self._report.bad_lines += sum(reading.bad_lines for reading in ended)
        self._report.sessions |= sessions


def _record_failure(store: Store, path: Path, source: Source | None, error: Exception) -> str:
    """Note in the store that a file could not be taken in, and return why. A file that has changed starts anew."""
    # An unforeseen error may quote what it failed on, which the guard has not seen: only its name is kept.
    reason = str(error) if isinstance(error, TranscriptError) else _unforeseen(path, error)
    state = State.now(path)
    with store.transaction():
        failed = source or store.progress.begin_source(_name(path))
        again = failed.error is not None and (failed.size, failed.mtime_ns) == (state.size, state.mtime_ns)
        attempts = failed.attempts + 1 if again else 1
        store.progress.save_source(failed, **state._asdict(), attempts=attempts, error=reason)
    return reason


def _unforeseen(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path} cannot be read ({error.strerror or type(error).__name__})."
    return f"{path} could not be taken in ({type(error).__name__})."


def _forgive_deleted(store: Store, known: Mapping[str, Source], files: Sequence[Path]) -> None:
    """A file that failed and is gone needs nobody's attention any more; should it come back, it is read."""
    failed = [source for source in known.values() if source.error is not None]
    names = {_name(path) for path in files} if failed else ()
    for source in failed:
        if source.path not in names and _gone(source.path):
            with store.transaction():
                store.progress.save_source(source, size=0, mtime_ns=0, attempts=0, error=None)


def _gone(name: str) -> bool:
    """Whether nothing fails there any more: it was deleted, or is a folder that can be read again."""
    if not isdir(name):
        return not exists(name)
    try:
        os.scandir(name).close()
    except OSError:
        return False
    return True


def _name(path: Path) -> str:
    """The path as the store can keep it, whatever bytes the file system allowed."""
    return str(path).encode("utf-8", "backslashreplace").decode()
