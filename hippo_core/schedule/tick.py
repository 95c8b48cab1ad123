"""Running a job, and whatever is due: what schedulers call, and what the hooks' catch-up calls where there is none.

Each job is a process of its own: one that hangs or dies takes nothing along and is stopped in time. Never prints; what
jobs say goes to the log. Knows jobs by the table alone.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from typing import IO

from hippo_core import clock
from hippo_core.errors import BusyError
from hippo_core.heartbeat import FAILED, OK, Beat, beat, read
from hippo_core.lock import one_at_a_time
from hippo_core.log import log
from hippo_core.paths import Paths
from hippo_core.schedule.jobs import JOBS, Job
from hippo_core.schedule.scheduler import LONGEST_RUN

_MOST_SAID = 4_000  # bytes of a job's words that reach the log


def run_job(paths: Paths, job: Job, *, if_due: bool = False, limit: float = LONGEST_RUN) -> Beat | None:
    """Run a job to its end and return its heartbeat; None when another process is at it, or it is no longer due."""
    try:
        with one_at_a_time(paths, f"job-{job.name}"):
            before = read(paths, job.name)
            if if_due and not job.is_due(before, clock.now()):
                return None  # somebody else was quicker
            return _run(paths, job, before, limit)
    except BusyError:
        return None


def run_due(paths: Paths, *, overdue: bool = False) -> dict[str, Beat]:
    """Run every job that is due, or only those that a scheduler should have run long ago; their heartbeats by name."""
    ran = {}
    for job in JOBS:
        last, now = read(paths, job.name), clock.now()
        if (job.is_overdue if overdue else job.is_due)(last, now):
            done = run_job(paths, job, if_due=True)
            if done is not None:
                ran[job.name] = done
    return ran


def _run(paths: Paths, job: Job, before: Beat | None, limit: float) -> Beat:
    status, said = _call(paths, job, limit)
    after = read(paths, job.name)
    if after is None or after == before:  # it could not speak for itself
        error = None if status == 0 else said.splitlines()[-1] if said else f"it ended with status {status}"
        with contextlib.suppress(OSError):
            beat(paths, job.name, worked=False, counts={}, error=error, result=FAILED if error else OK)
        after = read(paths, job.name) or Beat(clock.now(), None, FAILED if error else OK, {}, error)
    if after.last_worked == after.last_ran or after.error or status:
        log(paths, job.name, said or after.error or after.result)
    return after


def _call(paths: Paths, job: Job, limit: float) -> tuple[int, str]:
    """Run the job's command: (status, the end of what it said)."""
    isolated = ["-I"] if sys.flags.isolated else []
    python = re.sub(r"(?i)pythonw(?=\.exe$)", "python", sys.executable)  # the other one never has a console
    command = [python, *isolated, "-m", "hippo_core.cli.main", *job.command]
    # A console that has no window, and goes on to all that the job starts: git, without one, would open its own.
    group = {"start_new_session": True} if os.name == "posix" else {"creationflags": subprocess.CREATE_NO_WINDOW}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=paths.home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HIPPO_HOME": str(paths.home)},
            **group,
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            _stop(process)
            return -1, f"It did not end within {limit:.0f} seconds and was stopped; nothing stored before was lost."
        except BaseException:
            _stop(process)
            raise
        return status, _end_of(output)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a job and all that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        stop = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(stop, capture_output=True, creationflags=subprocess.CREATE_NO_WINDOW)
    process.wait()


def _end_of(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _MOST_SAID))
    return output.read().decode("utf-8", "replace").strip()
