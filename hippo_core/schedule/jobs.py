"""The table of what runs by itself: five jobs, when each is planned, and when one is due or overdue.

All times are the wall clock's of this machine, so that a night is a night where the user is. Knows no scheduler, and of
a job only its command.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from hippo_core import clock
from hippo_core.errors import UsageError
from hippo_core.heartbeat import BUSY, Beat

_HOUR = 3600.0
_AHEAD = 300.0  # seconds by which a heartbeat may be later than now before the clock is taken to have been put back


@dataclass(frozen=True)
class Job:
    """command: the arguments of `hippo`. every: seconds from one run to the next.

    minutes: of the hour at which it is planned; hour: that of the day, None for every hour.
    """

    name: str
    what: str
    command: tuple[str, ...]
    every: float
    minutes: tuple[int, ...]
    hour: int | None = None

    @property
    def grace(self) -> float:
        """Seconds after a planned time during which somebody else may still be about to run it."""
        return min(self.every / 2, _HOUR)

    @property
    def lateness(self) -> float:
        """Seconds without a run after which it is taken for silent."""
        return 2 * self.every

    def planned(self, now: float) -> float:
        """The last planned time that is not after `now`."""
        return max(moment for moment in self._shortly_before(now) if moment <= now)

    def is_due(self, beat: Beat | None, now: float) -> bool:
        """Whether a planned time has passed since it last ran. One that never did, or was kept out, is due any time."""
        return self._missed(beat, now, now)

    def is_overdue(self, beat: Beat | None, now: float) -> bool:
        """Whether it has been due for longer than its grace: the machine slept, or its scheduler is out of order."""
        return self._missed(beat, now, now - self.grace)

    def _missed(self, beat: Beat | None, now: float, until: float) -> bool:
        """Whether it has not run since the last planned time before `until`."""
        if beat is None or beat.result == BUSY:
            return True
        return beat.last_ran > now + _AHEAD or beat.last_ran < self.planned(until)

    def _shortly_before(self, now: float) -> Iterator[float]:
        """Planned times of this day and the two before it; for an hourly job, of this hour and the two before it."""
        step = timedelta(hours=1) if self.hour is None else timedelta(days=1)
        for count in range(3):
            then = datetime.fromtimestamp(now) - count * step
            for minute in self.minutes:
                hour = then.hour if self.hour is None else self.hour
                yield then.replace(hour=hour, minute=minute, second=0, microsecond=0).timestamp()


JOBS = (
    Job("watch", "reads new transcripts", ("watch", "--once"), _HOUR, (7,)),
    Job("backstop", "reads what the hourly pass left", ("watch", "--once", "--backstop"), clock.DAY, (47,), 12),
    Job("dream", "tidies the memories", ("dream",), clock.DAY, (17,), 3),
    Job("snapshot", "keeps a copy of what shapes the memory", ("snapshot", "take"), clock.DAY, (47,), 3),
    Job("monitor", "looks whether all of this works", ("monitor",), _HOUR / 2, (2, 32)),
)
NAMES = tuple(job.name for job in JOBS)


def job_named(name: str) -> Job:
    for job in JOBS:
        if job.name == name:
            return job
    raise UsageError(f"There is no job {name!r}. The jobs are: {', '.join(NAMES)}.")
