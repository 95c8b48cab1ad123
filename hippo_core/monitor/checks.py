"""What is wrong, judged from facts alone: no I/O, no clock, no memory of earlier looks.

Health is measured by output. A job that runs and succeeds while transcripts grow and nothing of them arrives is ill.
Knows nothing of alerts; a finding's text may leave the machine, so it holds numbers, days and names of jobs alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hippo_core import clock
from hippo_core.counting import counted
from hippo_core.heartbeat import Beat
from hippo_core.registration import DISABLED, NOT_INSTALLED, NOT_REGISTERED
from hippo_core.schedule.jobs import Job
from hippo_core.store.room import Room

HOUR = 3_600.0
_AWAKE_ENOUGH = 2 * HOUR  # a job is silent only if the machine was awake for so long meanwhile
_CATCHING_UP = HOUR  # what a machine that just woke up may take to get in order again
_READERS = ("watch", "backstop")  # the jobs whose work is what comes of transcripts
_BARREN = 5  # the newest transcripts, so many in a row, gave nothing
_NEVER = 100 * 365 * clock.DAY


@dataclass(frozen=True)
class Finding:
    """key: what is wrong, the same at each look. grave: memory does not work, or soon will not.

    text: may be sent anywhere. detail: stays in the log. patience: seconds it must stand before anybody is told.
    """

    key: str
    text: str
    grave: bool = True
    detail: str = ""
    patience: float = 0.0


@dataclass(frozen=True)
class Facts:
    """One look at everything. Times in seconds since the epoch.

    jobs: those a scheduler is to run, none without a schedule; scheduled_since: when that was installed.
    awake: for how many seconds the machine ran since a job last did. plugin: how the client has it, as registration.py
    has it; None where no installer ever put it there. room: on the disk, None where that cannot be read.
    store_problem: why the store cannot be used; store_read: whether what follows could be had from it.
    damage: what SQLite's own check said. set_aside: files that failed too often.
    unread: transcripts at rest that hold more than was taken in; unread_since: when the oldest of them changed.
    barren: how many of the newest transcripts, in a row, were read and gave no message; barren_since: likewise.
    waiting: sessions that should have been learned from. unsent_since: from when on a channel has taken nothing.
    """

    now: float
    jobs: Sequence[Job] = ()
    scheduled_since: float = 0.0
    beats: Mapping[str, Beat] = field(default_factory=dict)
    awake: Mapping[str, float] = field(default_factory=dict)
    plugin: str | None = None
    room: Room | None = None
    store_problem: str | None = None
    store_read: bool = False
    damage: Sequence[str] = ()
    set_aside: int = 0
    unread: int = 0
    unread_since: float | None = None
    barren: int = 0
    barren_since: float | None = None
    waiting: int = 0
    unsent_since: float | None = None


# What only the store can tell, so that nothing is known of it while the store cannot be read.
FROM_STORE = ("unread", "barren", "unlearned", "set-aside", "damage")


def findings(facts: Facts) -> list[Finding]:
    """Everything that is wrong, the gravest first."""
    checks = (_store, _disk, _plugin, _output, _silent, _failing, _delivery, _set_aside)
    found = [finding for check in checks for finding in check(facts)]
    return sorted(found, key=lambda finding: not finding.grave)


def _store(facts: Facts) -> Iterator[Finding]:
    if facts.store_problem is not None:
        yield Finding("store", "the store cannot be used", detail=facts.store_problem, patience=_CATCHING_UP / 2)
    if facts.damage:
        yield Finding("damage", "the store is damaged", detail=facts.damage[0])


def _disk(facts: Facts) -> Iterator[Finding]:
    if facts.room is not None and not facts.room.enough:
        free, needed = facts.room.free / 1e6, facts.room.needed / 1e6
        yield Finding("disk", f"the disk is nearly full: {free:,.0f} MB free, {needed:,.0f} needed")


def _plugin(facts: Facts) -> Iterator[Finding]:
    """Whether sessions get what the jobs prepare. Nobody is told of what only the user can have done: it is shown."""
    if facts.plugin in (NOT_REGISTERED, NOT_INSTALLED):
        text = "Claude Code does not have the plugin, so no session gets memory"
        yield Finding("plugin", text, patience=_CATCHING_UP)
    elif facts.plugin == DISABLED:
        yield Finding("plugin-off", "the plugin is switched off in Claude Code", grave=False, patience=_NEVER)


def _output(facts: Facts) -> Iterator[Finding]:
    """Transcripts grow, and what should come of them does not."""
    beats = [beat for name in _READERS if (beat := facts.beats.get(name))]
    worked = [beat.last_worked for beat in beats if beat.last_worked is not None]
    last = f" (last work done on {clock.day(max(worked))})" if worked else ""
    if facts.unread and facts.unread_since is not None:
        span = _since(facts.unread_since, facts.now)
        text = f"{counted(facts.unread, 'transcript')} not stored, the oldest changed {span} ago{last}"
        yield Finding("unread", text, patience=_CATCHING_UP)
    if facts.barren >= _BARREN and facts.barren_since is not None:
        span = _since(facts.barren_since, facts.now)
        text = f"the newest {facts.barren} transcripts were read and gave no message, for {span}"
        yield Finding("barren", text, patience=_CATCHING_UP)
    if facts.waiting:
        text = f"{counted(facts.waiting, 'session')} archived for days and not learned from"
        yield Finding("unlearned", text, patience=_CATCHING_UP)


def _silent(facts: Facts) -> Iterator[Finding]:
    for job in facts.jobs:
        beat = facts.beats.get(job.name)
        last = max(beat.last_ran if beat else 0.0, facts.scheduled_since)
        overdue = facts.now - last > job.lateness
        if overdue and facts.awake.get(job.name, 0.0) >= min(job.lateness, _AWAKE_ENOUGH):
            ran = f"last ran {_since(beat.last_ran, facts.now)} ago" if beat else "has never run"
            yield Finding(f"silent:{job.name}", f"the {job.name} job {ran}, due every {_span(job.every)}")


def _failing(facts: Facts) -> Iterator[Finding]:
    """One failed run may have met a locked store; the next one has met something else."""
    for job in facts.jobs:
        beat = facts.beats.get(job.name)
        if beat and beat.error is not None:
            text = f"the {job.name} job fails"
            yield Finding(f"failing:{job.name}", text, detail=beat.error, patience=1.2 * job.every)


def _delivery(facts: Facts) -> Iterator[Finding]:
    since = facts.unsent_since
    if since is not None and facts.now - since > clock.DAY:
        yield Finding("delivery", f"alerts could not be sent for {_since(since, facts.now)}")


def _set_aside(facts: Facts) -> Iterator[Finding]:
    if facts.set_aside:
        text = f"{counted(facts.set_aside, 'transcript')} failed three times and {_was(facts.set_aside)} set aside"
        yield Finding("set-aside", text, grave=False)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _since(then: float, now: float) -> str:
    return _span(max(0.0, now - then))


def _span(seconds: float) -> str:
    """A length of time as a person says it: 30 minutes, 2 hours, 3 days."""
    for unit, length in (("day", clock.DAY), ("hour", HOUR), ("minute", 60.0)):
        if seconds >= 2 * length or (unit == "minute"):
            return counted(max(1, int(seconds / length)), unit)
        if seconds == length:
            return unit
    return ""
