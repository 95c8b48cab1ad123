"""One night: count the spool, check and rebuild indexes, retire what is due, render, embed more of what was said.

Each step is one transaction or several that stand by themselves: whatever a night leaves undone, the next one finds.
Knows the order of the steps and nothing of how each is done.
"""

import contextlib
from dataclasses import dataclass, field

from hippo_core import config as settings
from hippo_core.dream.leftovers import clear
from hippo_core.dream.retire import Retirement, retire_due
from hippo_core.dream.selfcheck import check_indexes
from hippo_core.dream.spool import fold
from hippo_core.errors import BusyError, StoreCorruptError
from hippo_core.ingest.embed_archive import NIGHT_SECONDS, embed_archive_for_a_while
from hippo_core.lock import one_at_a_time
from hippo_core.paths import Paths
from hippo_core.store import Store
from hippo_core.store.upkeep import CURATED
from hippo_core.usage import sum_up

JOB = "dream"


@dataclass
class DreamReport:
    """counted: how many times a memory was shown or used. embedded: archived messages that got their vectors.

    mended: lines about indexes that differed from their rows. rebuilt: keyword indexes made anew. cleared: half-written
    files of killed processes.
    """

    retirement: Retirement = Retirement()
    counted: int = 0
    embedded: int = 0
    mended: list[str] = field(default_factory=list)
    rebuilt: int = 0
    cleared: int = 0

    @property
    def worked(self) -> bool:
        done = (self.retirement.retired, self.counted, self.embedded, self.mended, self.rebuilt, self.cleared)
        return any(map(bool, done))

    def counts(self) -> dict[str, int]:
        return {
            "retired": len(self.retirement.retired),
            "left": self.retirement.left,
            "counted": self.counted,
            "embedded": self.embedded,
            "mended": len(self.mended),
            "rebuilt": self.rebuilt,
            "cleared": self.cleared,
        }


def dream(paths: Paths) -> DreamReport:
    """Do the night's work and write the job's heartbeat. BusyError while another dream is at work; StoreErrors."""
    from hippo_core.heartbeat import running

    with running(paths, JOB) as run, one_at_a_time(paths, JOB):
        report = _night(paths)
        run.worked, run.counts = report.worked, report.counts()
    return report


def _night(paths: Paths) -> DreamReport:
    from hippo_core.curate.forget import finish
    from hippo_core.render.refresh import refresh

    config = settings.load(paths)
    report = DreamReport()
    sum_up(paths)
    with Store.open(paths.store, create=False) as store:
        report.counted = fold(store, paths)
        report.mended = check_indexes(store)  # before rows change: a trigger relies on its index
        with store.transaction():
            report.retirement = retire_due(store, config)
        report.rebuilt = rebuild_curated(store)
        refresh(store, paths)
        finish(store, paths, patience=0)  # what an interrupted forget left to do
    with contextlib.suppress(BusyError):  # a pass is at it
        report.embedded = embed_archive_for_a_while(paths, config, NIGHT_SECONDS)
    report.cleared = clear(paths)
    return report


def rebuild_curated(store: Store) -> int:
    """Make the curated keyword indexes anew where memories have changed since; returns how many were made."""
    with store.reading():
        end = store.upkeep.journal_end()
        if store.upkeep.rebuilt_to() == end:
            return 0
    for index in CURATED:
        with store.transaction():
            store.upkeep.rebuild(index)
            if not store.upkeep.is_sound(index, against_rows=True):
                raise StoreCorruptError(
                    f"The index {index} of {store.path} is unsound right after it was rebuilt, so it was left as it "
                    "was. Run: hippo doctor"
                )
    with store.transaction():
        store.upkeep.save_rebuilt_to(end)
    return len(CURATED)
