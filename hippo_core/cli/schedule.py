"""`hippo schedule`: which jobs run by themselves, who starts them, and how they went."""

import dataclasses
import os
import sys
from pathlib import Path

import click

from hippo_core import clock
from hippo_core import paths as places
from hippo_core.cli.example import examples
from hippo_core.cli.group import Group
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import on_terminal
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import ScheduleError
from hippo_core.heartbeat import BUSY, OK, Beat, read
from hippo_core.schedule import choose
from hippo_core.schedule.jobs import JOBS, NAMES, Job, job_named

_COUNTS = {
    # what a heartbeat counts: (of what, what was done with it)
    "files": ("transcript", "read"),
    "messages": ("message", "archived"),
    "learned": ("memory", "learned"),
    "confirmed": ("memory", "confirmed"),
    "embedded": ("text", "made findable by meaning"),
    "embedded_messages": ("message", "made findable by meaning"),
    "waiting": ("session", "perhaps still running"),
    "failed": ("file", "failed"),
    "set_aside": ("file", "set aside"),
    "bad_lines": ("line", "unreadable"),
    "retired": ("memory", "retired"),
    "left": ("memory", "left to later nights"),
    "counted": ("time", "a memory was shown"),
    "mended": ("fault", "mended"),
    "rebuilt": ("keyword index", "rebuilt"),
    "cleared": ("half-written file", "removed"),
    "added": ("file", "added"),
    "changed": ("file", "changed"),
    "removed": ("file", "removed"),
    "standing": ("problem", "there"),
    "told": ("problem", "told of"),
    "sent": ("alert", "sent"),
}


@click.group("schedule", cls=Group)
def schedule_command() -> None:
    """What runs by itself: five jobs, started by a scheduler of this machine."""


@schedule_command.command("install", epilog=examples("hippo schedule install", "hippo schedule install --with cron"))
@click.option(
    "--with",
    "wanted",
    type=click.Choice(choose.NAMES),
    help="This one. hooks: none of the system's, sessions start them. Default: the best that works here.",
)
def install_command(wanted: str | None) -> None:
    """Register the jobs, in place of those that are registered."""
    done = choose.install(places.current(), Path(sys.executable), wanted)
    say(f"{done.jobs} jobs registered with {done.scheduler.title}.")
    for reason in done.passed_over:
        say(f"  passed over  {reason}")


@schedule_command.command("remove")
def remove_command() -> None:
    """Take the jobs out of the scheduler."""
    paths = places.current()
    before = choose.chosen(paths)
    notes = choose.remove(paths, stay_off=True)
    if notes:
        raise ScheduleError(notes[0])
    back = "To register them again: hippo schedule install"
    say(f"The jobs are taken out of {choose.named(before).title}. {back}" if before else "No jobs were registered.")


@schedule_command.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_command(as_json: bool) -> None:
    """The jobs, when they last ran, and when they last did work."""
    paths = places.current()
    name, problem = choose.chosen(paths), None
    try:
        there = choose.registered(paths)
    except ScheduleError as error:  # how the jobs went can be told all the same
        there, problem = [], str(error)
    beats = {job.name: read(paths, job.name) for job in JOBS}
    if as_json:
        click.echo(to_json({"with": name, "jobs": [_as_json(job, beats[job.name], there) for job in JOBS]}))
        return
    title = choose.named(name).title if name else "nobody; to have them run: hippo schedule install"
    say(f"  started by {title}")
    say(on_terminal("head", f"  {'job':<10}{'planned':<18}{'last ran':<18}{'last did work':<18}result"))
    for job in JOBS:
        say(_row(job, beats[job.name], job.name in there))
    if problem:
        say(problem)


@schedule_command.command("run", epilog=examples("hippo schedule run", "hippo schedule run dream"))
@click.argument("name", metavar="[JOB]", required=False, type=click.Choice(NAMES))
@click.option("--scheduled", is_flag=True, help="As a scheduler calls it: print nothing, make up for missed jobs.")
def run_command(name: str | None, scheduled: bool) -> None:
    """Run a job now; without a name, every job that is due."""
    from hippo_core.schedule.tick import run_due, run_job

    if os.environ.get("HIPPO_CHILD"):
        return
    paths = places.current()
    if scheduled:
        sys.exit(_run_scheduled(paths, name))
    if name is None:
        ran = run_due(paths)
        say("\n".join(f"{job}: {_outcome(beat)}" for job, beat in ran.items()) or "No job is due.")
        return
    beat = run_job(paths, job_named(name))
    if beat is None:
        say(f"{name} is at work in another process.")
    elif beat.error:
        raise ScheduleError(f"{name} failed: {beat.error}")
    else:
        say(f"{name}: {_outcome(beat)}")


def _run_scheduled(paths: places.Paths, name: str | None) -> int:
    """The exit status; whatever goes wrong is in the log and in the heartbeats."""
    from hippo_core.log import log_error
    from hippo_core.schedule.tick import run_due, run_job

    try:
        beat = run_job(paths, job_named(name)) if name else None
        run_due(paths, overdue=name is not None)
    except Exception as error:
        log_error(paths, "schedule", error)
        return 1
    return 1 if beat and beat.error else 0


def _row(job: Job, beat: Beat | None, registered: bool) -> str:
    ran = clock.recently(beat.last_ran) if beat else "never"
    worked = clock.recently(beat.last_worked) if beat and beat.last_worked else "never"
    outcome = _outcome(beat) if beat else ""
    row = f"  {job.name:<10}{_plan(job):<18}{ran:<18}{worked:<18}{outcome}"
    return (row if registered else f"{row:<68} (not registered)").rstrip()


def _plan(job: Job) -> str:
    if job.hour is not None:
        return f"daily {job.hour:02d}:{job.minutes[0]:02d}"
    return "hourly" if len(job.minutes) == 1 else "half-hourly"


def _outcome(beat: Beat) -> str:
    if beat.error:
        return f"{beat.result}: {beat.error}"
    if beat.result == BUSY:
        return "another process was at it"
    counts = ", ".join(_counted(name, number) for name, number in beat.counts.items() if number)
    if beat.result == OK:
        return counts or "nothing new"
    return f"{beat.result}; {counts}" if counts else beat.result


def _counted(name: str, number: int) -> str:
    noun, done = _COUNTS.get(name, ("", name.replace("_", " ")))
    return f"{counted(number, noun) if noun else f'{number:,}'} {done}"


def _as_json(job: Job, beat: Beat | None, registered: list[str]) -> dict:
    planned = {"every": job.every, "hour": job.hour, "minutes": job.minutes}
    return {
        "name": job.name,
        **planned,
        "registered": job.name in registered,
        "due": job.is_due(beat, clock.now()),
        "beat": dataclasses.asdict(beat) if beat else None,
    }
