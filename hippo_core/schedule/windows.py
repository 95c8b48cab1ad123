"""Windows Task Scheduler: a task a job, described in its XML. Standard library only.

A task cannot set environment variables; the command knows its data folder by the environment it is installed in.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from subprocess import list2cmdline
from xml.sax.saxutils import escape

from hippo_core.errors import ScheduleError
from hippo_core.schedule.jobs import Job
from hippo_core.schedule.scheduler import LAST_RESORT, Target, ask, require

_TASK = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Hippocampus {name}: {what}</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <Enabled>true</Enabled>
      <StartBoundary>{start}</StartBoundary>{repetition}
      <ScheduleByDay>
        <DaysInterval>1</DaysInterval>
      </ScheduleByDay>
    </CalendarTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">{user}
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Enabled>true</Enabled>
    <ExecutionTimeLimit>PT{limit}S</ExecutionTimeLimit>
    <Priority>7</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
_REPETITION = """
      <Repetition>
        <Interval>PT{minutes}M</Interval>
        <Duration>P1D</Duration>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>"""


class TaskScheduler:
    name, title, place, system = "windows", "Windows Task Scheduler", None, "win32"

    def problem(self) -> str | None:
        # Not asked for its tasks, which fails while one of anybody's is damaged: whether it takes ours is seen then.
        there = sys.platform == self.system and shutil.which("schtasks")
        return None if there else "there is no Windows Task Scheduler here"

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for job in jobs:
                file = Path(folder, f"{job.name}.xml")
                file.write_text(task(target, job), encoding="utf-16")
                require(["schtasks", "/Create", "/TN", target.name(job), "/XML", str(file), "/F"])

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        for job in jobs:
            status, _, said = _look_for(f"{prefix}-{job.name}")
            if status < 0:  # it may well be there
                raise ScheduleError(f"schtasks cannot be asked ({said})")
            if status == 0:
                require(["schtasks", "/Delete", "/TN", f"{prefix}-{job.name}", "/F"])

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        return "; ".join(f"schtasks /Delete /TN {prefix}-{job.name} /F" for job in jobs)

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        return [job.name for job in jobs if _look_for(f"{prefix}-{job.name}")[0] == 0]


def _look_for(task: str) -> tuple[int, bytes, str]:
    return ask(["schtasks", "/Query", "/TN", task])


def task(target: Target, job: Job) -> str:
    """The XML of a job's task."""
    windowless = target.python.with_name("pythonw.exe")  # no console flashes up every half hour
    user = os.environ.get("USERNAME")
    domain = os.environ.get("USERDOMAIN")
    account = f"{domain}\\{user}" if domain and domain != "WORKGROUP" else user  # SSH's word for none
    return _TASK.format(
        name=job.name,
        what=escape(job.what),
        repetition="" if job.hour is not None else _REPETITION.format(minutes=int(job.every // 60)),
        start=f"2026-01-01T{job.hour or 0:02d}:{job.minutes[0]:02d}:00",
        user=f"\n      <UserId>{escape(account)}</UserId>" if user else "",
        limit=LAST_RESORT,
        command=escape(str(windowless if windowless.exists() else target.python)),
        arguments=escape(list2cmdline(target.command(job)[1:])),
    )
