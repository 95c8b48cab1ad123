"""When each scheduler starts each job: one table, held against what is written for every one of them."""

import plistlib
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hippo_core.schedule import cron, launchd, systemd, windows
from hippo_core.schedule.jobs import JOBS, job_named
from hippo_core.schedule.scheduler import target_of

HOURS = range(24)
PLANNED = {
    # job: every time of a day at which it starts, hour and minute
    "watch": {(hour, 7) for hour in HOURS},
    "backstop": {(12, 47)},
    "dream": {(3, 17)},
    "snapshot": {(3, 47)},
    "monitor": {(hour, minute) for hour in HOURS for minute in (2, 32)},
}
IN_WORDS = {
    "watch": "hourly, :07",
    "backstop": "daily, 12:47",
    "dream": "nightly, 03:17",
    "snapshot": "nightly, 03:47",
    "monitor": "half-hourly, :02 and :32",
}
_TASK = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


@pytest.fixture
def target(tmp_path):
    return target_of(tmp_path / "data", Path(sys.executable))


def fields_of(pattern: str, text: str) -> set[tuple[int, int]]:
    """Times of a day from an hour and minutes as both systemd and cron write them: `*` or numbers with commas."""
    hours, minutes = (
        HOURS if field == "*" else [int(number) for number in field.split(",")]
        for field in re.search(pattern, text, re.M).group("hours", "minutes")
    )
    return {(hour, minute) for hour in hours for minute in minutes}


def by_systemd(target, job):
    timer = systemd.units(target, job)[f"{target.name(job)}.timer"]
    assert len(re.findall("^On", timer, re.M)) == 1
    return fields_of(r"^OnCalendar=\*-\*-\* (?P<hours>[\d*]+):(?P<minutes>[\d,]+):00$", timer)


def by_launchd(target, job):
    """A part that is missing means every one, as launchd.plist(5) has it."""
    agent = plistlib.loads(plistlib.dumps(launchd.agent(target, job)))
    assert "StartInterval" not in agent, "which makes up for nothing that was slept through"
    times = agent["StartCalendarInterval"]
    return {(hour, time["Minute"]) for time in times for hour in ([time["Hour"]] if "Hour" in time else HOURS)}


def by_windows(target, job):
    trigger = ElementTree.fromstring(windows.task(target, job).encode("utf-16")).find(f"{_TASK}Triggers/*")
    text = {element.tag.removeprefix(_TASK): element.text for element in trigger.iter()}
    assert text["DaysInterval"] == "1" and text["Enabled"] == "true"
    moment = datetime.fromisoformat(text["StartBoundary"])
    assert moment < datetime(2026, 2, 1), "a trigger does nothing before its start"
    step = timedelta(minutes=int(text["Interval"][2:-1])) if "Interval" in text else timedelta(days=1)
    return {((moment + n * step).hour, (moment + n * step).minute) for n in range(timedelta(days=1) // step)}


def by_cron(target, job):
    return fields_of(r"^(?P<minutes>[\d,]+) (?P<hours>[\d*]+) \* \* \* /", cron.line(target, job))


def by_the_table_of_jobs(target, job):
    """What a job that is made up for, or run by hooks, goes by."""
    day = datetime(2026, 3, 11)
    moments = {job.planned((day + timedelta(minutes=minute)).timestamp()) for minute in range(24 * 60)}
    found = [datetime.fromtimestamp(moment) for moment in moments]
    return {(moment.hour, moment.minute) for moment in found if moment >= day - timedelta(days=1)}


@pytest.mark.parametrize("job", PLANNED)
@pytest.mark.parametrize("read", [by_systemd, by_launchd, by_windows, by_cron, by_the_table_of_jobs])
def test_each_scheduler_starts_each_job_at_the_times_of_the_table(target, read, job):
    assert read(target, job_named(job)) == PLANNED[job]


def test_the_documents_say_so_and_no_job_is_missing_from_the_table():
    text = (Path(__file__).parent.parent / "docs" / "schedule.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*:[^|]*) \| `([^`]*)` \|", text, re.M)
    said = {job: planned for job, planned, _ in rows}
    assert list(said) == list(PLANNED) == [job.name for job in JOBS]
    assert said == IN_WORDS
    assert [command for _, _, command in rows] == [" ".join(["hippo", *job.command]) for job in JOBS]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_what_was_slept_through_is_made_up_for_on_battery_too(target, job):
    """cron's lines do it themselves (test_schedule_tick.py), launchd by itself for times of a calendar."""
    assert "\nPersistent=true\n" in systemd.units(target, job)[f"{target.name(job)}.timer"]
    task = ElementTree.fromstring(windows.task(target, job).encode("utf-16"))
    text = {element.tag.removeprefix(_TASK): element.text for element in task.find(f"{_TASK}Settings")}
    assert text["StartWhenAvailable"] == "true" and text["Enabled"] == "true"
    assert text["DisallowStartIfOnBatteries"] == text["StopIfGoingOnBatteries"] == "false"
    assert text["MultipleInstancesPolicy"] == "IgnoreNew"
    repeats = task.find(f"{_TASK}Triggers/{_TASK}CalendarTrigger/{_TASK}Repetition")
    if repeats is not None:  # all day, and what runs at its end is not stopped
        assert [repeats.findtext(f"{_TASK}{name}") for name in ("Duration", "StopAtDurationEnd")] == ["P1D", "false"]
