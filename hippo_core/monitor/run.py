"""One look from start to end: gather, judge, tell, render. Also what a person is shown of it.

Knows the order of the steps. What it remembers from look to look is one small file; without it, it begins anew.
"""

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hippo_core import clock, heartbeat
from hippo_core import config as settings
from hippo_core.errors import UsageError
from hippo_core.lock import one_at_a_time
from hippo_core.monitor import alerts, channels, hours, outbox
from hippo_core.monitor.alerts import Alert, Notice
from hippo_core.monitor.checks import FROM_STORE, Facts, Finding, findings
from hippo_core.monitor.facts import gather
from hippo_core.paths import Paths, write_atomic
from hippo_core.render import health
from hippo_core.schedule import choose
from hippo_core.schedule.jobs import JOBS, Job

JOB = "monitor"
_LONGEST_GAP = 2_700.0  # seconds between two looks that the machine can have been awake for
_THOROUGH_EVERY = clock.DAY
_TITLES = {alerts.RAISED: "memory needs you", alerts.REPEATED: "memory still needs you", alerts.OVER: "over again"}


@dataclass(frozen=True)
class Schedule:
    """What is to run by itself. jobs: none without a schedule. since: when it was installed.

    by_clock: a scheduler starts them, not the client's hooks, which do so only while there are sessions.
    """

    jobs: tuple[Job, ...] = ()
    since: float = 0.0
    by_clock: bool = True


def schedule_of(paths: Paths) -> Schedule:
    """What was registered here."""
    name = choose.chosen(paths)
    if name is None:
        return Schedule()
    return Schedule(JOBS, paths.schedule_record.stat().st_mtime, name != choose.HookTicks.name)


@dataclass
class Memo:
    """What a look leaves to the next one. awake: seconds that the machine was seen awake, ever.

    ran: for each job, its last run and how far `awake` was then. unsent_since: from when on a channel took nothing.
    checked: the last thorough look; damaged: its answer.
    """

    looked: float = 0.0
    awake: float = 0.0
    ran: dict[str, list[float]] = field(default_factory=dict)
    unsent_since: float | None = None
    checked: float = 0.0
    damaged: bool = False
    alerts: dict[str, Alert] = field(default_factory=dict)


@dataclass(frozen=True)
class Look:
    """What a look found and did. failed: why a channel took nothing, by its kind. waiting: letters still to be sent."""

    found: list[Finding]
    standing: dict[str, Alert]
    told: list[Notice]
    sent: int
    failed: dict[str, str]
    waiting: int
    muted_until: float | None


def run_once(paths: Paths, schedule: Schedule, roots: Sequence[Path]) -> Look:
    """Look, tell whom it concerns, and leave the heartbeat. BusyError while another monitor looks."""
    with heartbeat.running(paths, JOB) as run, one_at_a_time(paths, JOB):
        try:
            look = _look_and_tell(paths, schedule, roots)
        except Exception:
            health.render(paths, [] if hours.muted_until(paths, clock.now()) else ["the monitor itself fails"])
            raise
        run.worked = bool(look.told or look.sent)
        run.counts = {"standing": len(look.standing), "told": len(look.told), "sent": look.sent}
    return look


def look_only(paths: Paths, schedule: Schedule, roots: Sequence[Path]) -> Look:
    """What stands now. Nobody is told, and nothing is written."""
    now, memo = clock.now(), read_memo(paths)
    facts = _facts(paths, schedule, memo, roots, thorough=memo.damaged)
    found = [*_settings(paths)[2], *findings(facts)]
    waiting = len(outbox.waiting(paths))
    return Look(found, alerts.standing(memo.alerts), [], 0, {}, waiting, hours.muted_until(paths, now))


def read_memo(paths: Paths) -> Memo:
    """What the last look left; an empty one where there is none or it cannot be read."""
    try:
        raw = json.loads(_memo_file(paths).read_bytes())
        raw["alerts"] = {str(key): Alert(**alert) for key, alert in raw["alerts"].items()}
        memo = Memo(**raw)
        return memo if _is_whole(memo) else Memo()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Memo()


def _is_whole(memo: Memo) -> bool:
    """Whether every number is one, as another version's need not be: no look may stop at it, the next would as well."""
    numbers, perhaps = [memo.looked, memo.awake, memo.checked], [memo.unsent_since]
    for last, at in memo.ran.values():
        numbers += last, at
    for alert in memo.alerts.values():
        numbers += alert.found, alert.told
        perhaps += alert.raised, alert.gone
    numbers += (number for number in perhaps if number is not None)
    return all(map(_is_number, numbers)) and all(isinstance(alert.text, str) for alert in memo.alerts.values())


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and -sys.float_info.max <= value <= sys.float_info.max


def render(paths: Paths, schedule: Schedule, standing: Mapping[str, Alert], now: float) -> None:
    """What a session's start says of it from now on, and what it says when no look follows: nothing while muted."""
    muted = hours.muted_until(paths, now)
    health.render(paths, [] if muted else [alert.text for alert in standing.values() if alert.grave])
    mine = next((job for job in schedule.jobs if job.name == JOB), None)
    if mine and schedule.by_clock:
        health.expect(paths, mine.lateness + (muted - now if muted else 0.0), mine.every)
    else:
        health.expect_nothing(paths)


def _look_and_tell(paths: Paths, schedule: Schedule, roots: Sequence[Path]) -> Look:
    now, memo = clock.now(), read_memo(paths)
    ways, quiet_hours, trouble = _settings(paths)
    _stay_awake(memo, schedule, paths, now)
    thorough = memo.damaged or not 0 <= now - memo.checked < _THOROUGH_EVERY
    facts = _facts(paths, schedule, memo, roots, thorough)
    if thorough and facts.store_read:
        memo.checked, memo.damaged = now, bool(facts.damage)
    found = [*trouble, *findings(facts)]
    muted = hours.muted_until(paths, now)
    before = memo.alerts
    unknown = () if facts.store_read else FROM_STORE
    memo.alerts, told = alerts.step(before, found, now, muted=muted is not None, unknown=unknown)
    _log_changes(paths, before, memo.alerts, {finding.key: finding for finding in found}, muted is not None)
    _post(paths, told, ways or [], quiet_hours, now)
    memo.looked = now
    _write_memo(paths, memo)  # before anything is sent: a crash while sending must not raise the same alert again
    standing = alerts.standing(memo.alerts)
    render(paths, schedule, standing, now)
    sent, failed = 0, {}
    if ways is not None and not muted:
        sent, failed = _send(paths, ways, now)
        if (memo.unsent_since is None) == bool(failed):
            memo.unsent_since = now if failed else None
            _write_memo(paths, memo)
    return Look(found, standing, told, sent, failed, len(outbox.waiting(paths)), muted)


def _facts(paths: Paths, schedule: Schedule, memo: Memo, roots: Sequence[Path], thorough: bool) -> Facts:
    return gather(
        paths,
        schedule.jobs,
        roots,
        awake={job: memo.awake - at for job, (_, at) in memo.ran.items()},
        scheduled_since=schedule.since,
        unsent_since=memo.unsent_since,
        thorough=thorough,
    )


def _stay_awake(memo: Memo, schedule: Schedule, paths: Paths, now: float) -> None:
    """Count how long the machine has been awake: a gap between two looks that is too long was mostly sleep.

    Not since the monitor's own last run: this is one, and that none comes is for a session's start to say.
    """
    if memo.looked:
        memo.awake += min(max(0.0, now - memo.looked), _LONGEST_GAP)
    ran = {}
    for job in (job for job in schedule.jobs if job.name != JOB):
        beat = heartbeat.read(paths, job.name)
        last = beat.last_ran if beat else 0.0
        before = memo.ran.get(job.name)
        ran[job.name] = before if before and before[0] == last else [last, memo.awake]
    memo.ran = ran


def _settings(paths: Paths) -> tuple[list[channels.Channel] | None, str, list[Finding]]:
    """Where alerts go, None where that cannot be read; the quiet hours; and what is wrong with the settings."""
    ways, quiet_hours = None, ""
    try:
        config = settings.load(paths)
        ways = channels.channels(config.alerts)
        hours.quiet_until(config.quiet_hours, clock.now())
        quiet_hours = config.quiet_hours
    except UsageError as error:
        return ways, quiet_hours, [Finding("settings", "the settings cannot be read", detail=str(error))]
    return ways, quiet_hours, []


def _post(paths: Paths, told: Sequence[Notice], ways: Sequence[channels.Channel], quiet_hours: str, now: float) -> None:
    """Put every notice into the outbox, what can wait with the time until which it does."""
    morning = hours.quiet_until(quiet_hours, now)
    letters = []
    for notice in told:
        held = now if notice.urgent or morning is None else morning
        until = f"; held until {clock.minute(held)}" if held > now and ways else ""
        channels.write_log(paths, notice.kind, f"{notice.key}: {notice.text}{until}")
        title = f"Hippocampus on {platform.node() or 'this machine'}: {_TITLES[notice.kind]}"
        text = f"{notice.text[:1].upper()}{notice.text[1:]}."
        body = f"It is over: {notice.text}." if notice.kind == alerts.OVER else f"{text} Next: hippo doctor"
        letters.append(outbox.Letter(now, title, body, notice.urgent, held, tuple(way.key for way in ways)))
    if ways and (dropped := outbox.put(paths, letters)):
        channels.write_log(paths, "outbox", f"full: the {dropped} oldest were dropped")


def _send(paths: Paths, ways: Sequence[channels.Channel], now: float) -> tuple[int, dict[str, str]]:
    by_key = {way.key: way for way in ways}

    def send(key: str, letter: outbox.Letter) -> str | None:
        return channels.send(by_key[key], letter.title, letter.body, letter.urgent)

    drained = outbox.drain(paths, list(by_key), send, now)
    failed = {by_key[key].name: problem for key, problem in drained.failed.items()}
    for name, problem in failed.items():
        channels.write_log(paths, "unsent", f"{name}: {problem}; kept for the next look")
    return drained.sent, failed


def _log_changes(
    paths: Paths, before: Mapping[str, Alert], after: Mapping[str, Alert], found: Mapping[str, Finding], muted: bool
) -> None:
    """What appears is logged at once, with what must stay on this machine, whether anybody is told or not."""
    for key in after.keys() - before.keys():
        finding = found[key]
        detail = f" ({finding.detail})" if finding.detail else ""
        channels.write_log(paths, "found", f"{key}: {finding.text}{detail}{'; muted' if muted else ''}")
    for key in before.keys() - after.keys():
        if before[key].raised is None:
            channels.write_log(paths, "passed", f"{key}: {before[key].text}")


def _write_memo(paths: Paths, memo: Memo) -> None:
    write_atomic(_memo_file(paths), json.dumps(asdict(memo), ensure_ascii=False).encode())


def _memo_file(paths: Paths) -> Path:
    return paths.alerts / "memo.json"
