"""One pass over the transcripts: lock, archive, distil what is finished, render, embed. Every caller runs this one.

Knows the order of the steps and nothing of how each is done. Nothing depends on a pass being started or ending well:
whatever one leaves undone, the next one finds.
"""

import contextlib
import errno
import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hippo_core import clock
from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.counting import counted
from hippo_core.errors import BusyError, StoreFullError, StoreUnavailableError, VectorsUnavailableError
from hippo_core.ingest.due import forget_notes, noted
from hippo_core.lock import one_at_a_time
from hippo_core.paths import Paths
from hippo_core.store import Store

LOCK = "ingest"
MOST_ROUNDS = 5  # for notes that arrive while a pass is at work
GROUPING_SECONDS = 20.0  # for an archive of an older version
_SELDOM = 50_000  # new objects until Python looks for garbage among them; its own is 700
Progress = Callable[[str, int, int], None]


@dataclass
class PassReport:
    """What a pass did. messages: newly archived. learned: new memories; confirmed: known ones that were said again.

    failed: files that failed just now; set_aside: how many were left alone because they failed too often before.
    sessions: distilled now; waiting: due once they have rested. notes: lines for the user about what could not be done.
    """

    files: int = 0
    messages: int = 0
    bad_lines: int = 0
    failed: list[tuple[Path, str]] = field(default_factory=list)
    set_aside: int = 0
    sessions: int = 0
    waiting: int = 0
    learned: int = 0
    confirmed: int = 0
    embedded: int = 0
    embedded_messages: int = 0
    notes: list[str] = field(default_factory=list)


def run_pass(
    paths: Paths,
    *,
    roots: Sequence[Path],
    sessions_done: Collection[str] = (),
    archive_only: bool = False,
    embed: bool = True,
    unfinished: bool = False,
    retry: bool = False,
    thorough: bool = False,
    wait: float = 0.0,
    on_progress: Progress | None = None,
) -> PassReport:
    """Bring the store up to date with the transcripts below `roots`.

    sessions_done: sessions that are over, whatever their files' age; unfinished: take all sessions for finished.
    archive_only: learn from no session but those that ended meanwhile, and load no model for them either.
    retry, thorough: as archive_files has them.
    on_progress(step, done, total) is called with the steps "read", "learn" and "embed". Raises BusyError when another
    pass holds the lock for longer than `wait` seconds, and a StoreError when the store cannot be written.
    """
    embed = embed and not archive_only
    run = _Pass(paths, settings.load(paths), set(sessions_done), unfinished, embed, retry, thorough, on_progress)
    run.once(roots, archive_only, wait)
    for _ in range(MOST_ROUNDS):
        if not noted(paths):
            break
        try:  # a session ended while this pass kept its own catch-up out
            run.once(roots, archive_only=False, wait=0.0)
        except BusyError:
            break
    if embed:
        run.embed_archive()
    return run.report


@dataclass
class _Pass:
    paths: Paths
    config: Config
    over: set[str]
    unfinished: bool
    embed: bool
    retry: bool
    thorough: bool
    on_progress: Progress | None
    report: PassReport = field(default_factory=PassReport)

    def once(self, roots: Sequence[Path], archive_only: bool, wait: float) -> None:
        from hippo_core.ingest.archive import prepare_search

        with _plain_errors(self.paths), one_at_a_time(self.paths, LOCK, wait=wait), _few_collections():
            notes = noted(self.paths)
            with Store.open(self.paths.store) as store:
                self._archive(store, roots)
                if not archive_only:
                    prepare_search(store, GROUPING_SECONDS)
                    self._distil(store, self.over | notes)
                    forget_notes(self.paths, notes)
                self._render(store)  # before the slow part, so that a session that starts now is shown what is new
                if self.embed:
                    self._embed(store)

    def _archive(self, store: Store, roots: Sequence[Path]) -> None:
        from hippo_core.ingest.archive import archive_files
        from hippo_core.transcripts.discover import transcript_files

        files = list(dict.fromkeys(file for root in roots for file in transcript_files(root)))
        archived = archive_files(store, files, self._step("read"), retry=self.retry, thorough=self.thorough)
        self.report.files += archived.files
        self.report.messages += archived.messages
        self.report.bad_lines += archived.bad_lines
        self.report.failed = list(archived.failed)
        self.report.set_aside = archived.set_aside

    def _distil(self, store: Store, over: Collection[str]) -> None:
        from hippo_core.distill.offline import OfflineDistiller
        from hippo_core.ingest.distil import distil_sessions
        from hippo_core.ingest.reconcile import Outcome

        with store.reading():
            unread = store.progress.undistilled(None)
            rested = unread
            if unread and not self.unfinished:
                rested = store.progress.undistilled(clock.now() - self.config.idle_minutes * 60)
        ready = {*rested, *over}
        due = [session for session in unread if session in ready]
        distilled = distil_sessions(store, OfflineDistiller(), due, self._step("learn"))
        self.report.sessions += distilled.sessions
        self.report.waiting = len(unread) - len(due)
        self.report.learned += distilled.learned
        self.report.confirmed += distilled.outcomes[Outcome.REINFORCE]
        if distilled.failed:
            session, reason = distilled.failed[0]
            self.report.notes.append(
                f"{counted(len(distilled.failed), 'session')} could not be learned from, first {session[:8]}: "
                f"{reason}. What was said there is archived, and the next pass tries again."
            )

    def _embed(self, store: Store) -> None:
        from hippo_core.embed.choose import open_embedder
        from hippo_core.ingest.embed import embed_pending

        if self.config.embedder == "off":
            return
        try:
            self.report.embedded += embed_pending(store, open_embedder(self.config), self._step("embed"))
        except VectorsUnavailableError as error:
            self.report.notes.append(f"Recall works by keywords only: {error}")

    def embed_archive(self) -> None:
        """For a while, what was said; without the lock of the pass, so that nothing waits for it."""
        from hippo_core.ingest.embed_archive import embed_archive_for_a_while

        with _plain_errors(self.paths), contextlib.suppress(BusyError):
            self.report.embedded_messages += embed_archive_for_a_while(self.paths, self.config)

    def _render(self, store: Store) -> None:
        from hippo_core.curate.forget import finish
        from hippo_core.render.refresh import refresh

        refresh(store, self.paths)
        finish(store, self.paths, patience=0)  # what an interrupted forget left to do

    def _step(self, name: str) -> Callable[[int, int], None] | None:
        report = self.on_progress
        return None if report is None else lambda done, total: report(name, done, total)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Python looks for garbage in circles less often, for next to none arises: a thirtieth of the whole."""
    often = gc.get_threshold()
    gc.set_threshold(_SELDOM, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)


@contextlib.contextmanager
def _plain_errors(paths: Paths) -> Iterator[None]:
    """What the system refuses outside the store (locks, renders), in plain words."""
    try:
        yield
    except OSError as error:
        where = error.filename or paths.home
        if error.errno == errno.ENOSPC:
            raise StoreFullError(
                f"The disk that holds {where} is full. Nothing stored before was lost; free some space and try again."
            ) from error
        raise StoreUnavailableError(
            f"{where} cannot be written ({error.strerror or error}). Check that the folder is there and is yours."
        ) from error
