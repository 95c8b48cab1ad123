"""One pass over the transcripts: lock, archive, distil what is finished, embed, render. Every caller runs this one.

Knows the order of the steps and nothing of how each is done. Nothing depends on a pass being started: whatever one
leaves undone, the next one finds.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hippo_core import clock
from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.errors import VectorsUnavailableError
from hippo_core.ops.lock import one_at_a_time
from hippo_core.paths import Paths
from hippo_core.store import Store

LOCK = "ingest"
Progress = Callable[[str, int, int], None]


@dataclass
class PassReport:
    """What one pass did. messages: newly archived. learned: new memories; confirmed: known ones that were said again.

    notes: lines for the user about what could not be done.
    """

    files: int = 0
    messages: int = 0
    bad_lines: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    sessions: int = 0
    learned: int = 0
    confirmed: int = 0
    embedded: int = 0
    notes: list[str] = field(default_factory=list)


def run_pass(
    paths: Paths,
    *,
    roots: Sequence[Path],
    sessions_done: Collection[str] = (),
    archive_only: bool = False,
    embed: bool = True,
    unfinished: bool = False,
    wait: float = 0.0,
    on_progress: Progress | None = None,
) -> PassReport:
    """Bring the store up to date with the transcripts below `roots`.

    sessions_done: sessions that are over, whatever their files' age; unfinished: take all sessions for finished.
    on_progress(step, done, total) is called with the steps "read", "learn" and "embed". Raises BusyError when another
    pass holds the lock for longer than `wait` seconds.
    """
    config = settings.load(paths)
    report = PassReport()
    with one_at_a_time(paths, LOCK, wait=wait), Store.open(paths.store) as store:
        _archive(store, roots, report, on_progress)
        if not archive_only:
            _distil(store, config, sessions_done, unfinished, report, on_progress)
            if embed:
                _embed(store, config, report, on_progress)
        _render(store, paths)
    return report


def _archive(store: Store, roots: Sequence[Path], report: PassReport, on_progress: Progress | None) -> None:
    from hippo_core.ingest.archive import archive_files
    from hippo_core.transcripts.discover import transcript_files

    files = list(dict.fromkeys(file for root in roots for file in transcript_files(root)))
    archived = archive_files(store, files, _step("read", on_progress))
    report.files, report.messages, report.bad_lines = archived.files, archived.messages, archived.bad_lines
    report.failed = list(archived.failed)


def _distil(
    store: Store,
    config: Config,
    sessions_done: Collection[str],
    unfinished: bool,
    report: PassReport,
    on_progress: Progress | None,
) -> None:
    from hippo_core.distill.offline import OfflineDistiller
    from hippo_core.ingest.distil import distil_sessions
    from hippo_core.ingest.reconcile import Outcome

    now = clock.now()
    with store.reading():
        waiting = store.progress.undistilled(None)
        rested = set(waiting if unfinished else store.progress.undistilled(now - config.idle_minutes * 60))
    due = [session for session in waiting if session in rested or session in sessions_done]
    distilled = distil_sessions(store, OfflineDistiller(), due, _step("learn", on_progress))
    report.sessions, report.learned = distilled.sessions, distilled.learned
    report.confirmed = distilled.outcomes[Outcome.REINFORCE]


def _embed(store: Store, config: Config, report: PassReport, on_progress: Progress | None) -> None:
    from hippo_core.embed.choose import open_embedder
    from hippo_core.ingest.embed import embed_pending

    if config.embedder == "off":
        return
    try:
        report.embedded = embed_pending(store, open_embedder(config), _step("embed", on_progress))
    except VectorsUnavailableError as error:
        report.notes.append(f"No vectors, so recall works by keywords only: {error}")


def _render(store: Store, paths: Paths) -> None:
    from hippo_core.render.refresh import refresh

    refresh(store, paths)


def _step(name: str, on_progress: Progress | None) -> Callable[[int, int], None] | None:
    if on_progress is None:
        return None
    return lambda done, total: on_progress(name, done, total)
