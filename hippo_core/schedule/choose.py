"""Which scheduler starts the jobs here: the first that really works, or the one the user names. Standard library only.

Remembers in the data folder what was registered where, so that removal needs no guess. Knows no scheduler's ways.
"""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hippo_core.errors import ScheduleError, UsageError
from hippo_core.paths import Paths, write_atomic
from hippo_core.render import health
from hippo_core.schedule.cron import Crontab
from hippo_core.schedule.jobs import JOBS, Job, job_named
from hippo_core.schedule.launchd import LaunchAgents
from hippo_core.schedule.scheduler import Scheduler, Target, target_of
from hippo_core.schedule.systemd import SystemdTimers
from hippo_core.schedule.windows import TaskScheduler

_OFF = "off"  # in the place of a scheduler's name: the user wants none


class HookTicks:
    """No scheduler at all: the hooks' detached catch-up runs what is due. Always there, and works while sessions do."""

    name, title, place, system = "hooks", "the client's hooks, which work while there are sessions", None, None

    def problem(self) -> str | None:
        return None

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        pass

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        pass

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        return ""

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        return [job.name for job in jobs]


SCHEDULERS: tuple[Scheduler, ...] = (SystemdTimers(), LaunchAgents(), TaskScheduler(), Crontab(), HookTicks())
NAMES = tuple(scheduler.name for scheduler in SCHEDULERS)


@dataclass(frozen=True)
class Registered:
    """What was registered. passed_over: the schedulers of this system that do not work here, and why."""

    scheduler: Scheduler
    jobs: int
    passed_over: tuple[str, ...] = ()


def named(name: str) -> Scheduler:
    for scheduler in SCHEDULERS:
        if scheduler.name == name:
            return scheduler
    raise UsageError(f"There is no scheduler {name!r}. It is one of: {', '.join(NAMES)}.")


def chosen(paths: Paths) -> str | None:
    """The name of the scheduler that starts the jobs; None when there is none."""
    name = _record(paths).get("with")
    return name if name in NAMES else None


def switched_off(paths: Paths) -> bool:
    """Whether the user took the jobs out and has not put them back."""
    return _record(paths).get("with") == _OFF


def install(paths: Paths, python: Path, wanted: str | None = None) -> Registered:
    """Register all jobs with the first scheduler that works; with `wanted` or $HIPPO_SCHEDULER, with that or none.

    What was registered elsewhere before is taken out. Raises ScheduleError when the wanted one does not work here.
    """
    asked_by = "--with" if wanted else "HIPPO_SCHEDULER"
    wanted = wanted or os.environ.get("HIPPO_SCHEDULER")
    candidates = [named(wanted)] if wanted else SCHEDULERS
    target, passed_over = target_of(paths.home, python), []
    for scheduler in candidates:
        reason = scheduler.problem()
        if reason is None:
            reason = _try(paths, scheduler, target)
        if reason is None:
            _expect_the_monitor(paths, scheduler)
            return Registered(scheduler, len(JOBS), tuple(passed_over))
        if wanted or scheduler.system in (None, sys.platform):
            passed_over.append(f"{scheduler.name}: {reason}")
    why = "; ".join(passed_over)
    raise ScheduleError(f"The jobs are not registered; {why}. Without {asked_by}, one that works is looked for.")


def remove(paths: Paths, *, stay_off: bool = False) -> list[str]:
    """Take the jobs out wherever they are registered; lines about what could not be done.

    stay_off: remember that the user wants none, so that an upgrade does not register them again.
    """
    record = _record(paths)
    if record.get("with") in NAMES:
        scheduler = named(record["with"])
        try:
            scheduler.remove(record["prefix"], JOBS)
        except (ScheduleError, OSError) as error:
            by_hand, reason = scheduler.by_hand(record["prefix"], JOBS), str(error).rstrip(".")
            return [f"The jobs could not be taken out of {scheduler.title}: {reason}. By hand: {by_hand}"]
    for folder in record.get("made", []):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()
    health.expect_nothing(paths)
    if stay_off:
        _write(paths, {"with": _OFF, "prefix": ""})
    else:
        paths.schedule_record.unlink(missing_ok=True)
    return []


def registered(paths: Paths) -> list[str]:
    """The jobs that the chosen scheduler really has just now."""
    record = _record(paths)
    return named(record["with"]).registered(record["prefix"], JOBS) if record.get("with") in NAMES else []


def run_missed(paths: Paths) -> None:
    """What the hooks' catch-up does for the jobs: where no scheduler is, run what is due; else only what was missed."""
    from hippo_core.schedule.tick import run_due

    scheduler = chosen(paths)
    if scheduler is not None:
        run_due(paths, overdue=scheduler != HookTicks.name)


def _expect_the_monitor(paths: Paths, scheduler: Scheduler) -> None:
    """From now on sessions say when the monitor is late; not where hooks run it, which they do only in sessions."""
    monitor = job_named("monitor")
    if scheduler.name == HookTicks.name:
        health.expect_nothing(paths)
    else:
        health.expect(paths, monitor.lateness, monitor.every)


def _try(paths: Paths, scheduler: Scheduler, target: Target) -> str | None:
    """Register with this one; why that failed, else None. Never leaves the jobs in two places, nor half in one."""
    before = _record(paths)
    if before and (before["with"], before["prefix"]) != (scheduler.name, target.prefix):
        notes = remove(paths)
        if notes:
            return notes[0]
        before = {}
    made = before.get("made", []) or _missing(scheduler.place)
    # Noted first: whoever is killed half-way leaves something that can be found and removed.
    _write(paths, {"with": scheduler.name, "prefix": target.prefix, "made": made})
    try:
        scheduler.install(target, JOBS)
    except (ScheduleError, OSError) as error:
        remove(paths)
        return str(error)
    return None


def _missing(place: Path | None) -> list[str]:
    """The folders that will be made on the way to `place`, innermost first."""
    folders = [place, *place.parents] if place else []
    return [str(folder) for folder in folders if not folder.exists()]


def _write(paths: Paths, record: dict) -> None:
    write_atomic(paths.schedule_record, json.dumps(record, indent=2).encode() + b"\n")


def _record(paths: Paths) -> dict:
    try:
        record = json.loads(paths.schedule_record.read_bytes())
        return record if isinstance(record["with"], str) and isinstance(record["prefix"], str) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
