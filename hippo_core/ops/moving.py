"""The moving parts as `hippo status` shows them: who starts the jobs, when each ran and did work, the last alert.

Reads; judges nothing but what heartbeats say by themselves; alerts are the monitor's.
"""

import contextlib
from dataclasses import dataclass
from datetime import datetime, timezone

from hippo_core import clock
from hippo_core.paths import Paths

_TAIL = 64 * 1024  # bytes of the alerts' log that are looked through


@dataclass(frozen=True)
class JobState:
    """A job's two times in seconds, None: never. result: how the last run went; error: why it failed; late: overdue."""

    name: str
    last_ran: float | None
    last_worked: float | None
    result: str | None
    error: str | None
    late: bool


@dataclass(frozen=True)
class AlertState:
    """The last alert. standing: it is not over."""

    at: float
    text: str
    standing: bool


@dataclass(frozen=True)
class MovingParts:
    """scheduler: its name, None where the jobs are registered nowhere; switched_off: because the user wants none.

    alert: None when there never was one. standing: how many are not over. muted_until: until when nobody is told.
    """

    scheduler: str | None
    switched_off: bool
    jobs: tuple[JobState, ...]
    alert: AlertState | None
    standing: int
    muted_until: float | None

    @property
    def failed(self) -> list[JobState]:
        return [job for job in self.jobs if job.error]

    @property
    def late(self) -> list[JobState]:
        return [job for job in self.jobs if job.late]


def moving_parts(paths: Paths) -> MovingParts:
    from hippo_core.monitor import alerts, hours
    from hippo_core.monitor.run import read_memo
    from hippo_core.schedule import choose

    scheduler = choose.chosen(paths)
    standing = alerts.standing(read_memo(paths).alerts)
    raised = [AlertState(alert.raised or alert.found, alert.text, True) for alert in standing.values()]
    last = max(raised, key=lambda alert: alert.at) if raised else _logged(paths)
    jobs = _jobs(paths, scheduled=scheduler is not None)
    muted = hours.muted_until(paths, clock.now())
    return MovingParts(scheduler, choose.switched_off(paths), jobs, last, len(standing), muted)


def _jobs(paths: Paths, scheduled: bool) -> tuple[JobState, ...]:
    from hippo_core import heartbeat
    from hippo_core.schedule.jobs import JOBS

    found = []
    for job in JOBS:
        beat = heartbeat.read(paths, job.name)
        late = scheduled and beat is not None and clock.now() - beat.last_ran > job.lateness
        if beat is None:
            found.append(JobState(job.name, None, None, None, None, late))
        else:
            found.append(JobState(job.name, beat.last_ran, beat.last_worked, beat.result, beat.error, late))
    return tuple(found)


def _logged(paths: Paths) -> AlertState | None:
    """The last alert in the alerts' log: a line "2026-11-28T10:00:00Z raised: key: text"."""
    from hippo_core.monitor import alerts, channels

    with contextlib.suppress(OSError, ValueError):
        with (paths.log / channels.LOG).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
        for line in reversed(lines):
            moment, _, rest = line.partition(" ")
            kind, _, said = rest.partition(": ")
            if kind in (alerts.RAISED, alerts.REPEATED):
                at = datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
                return AlertState(at, said.partition(": ")[2], False)
    return None
