"""launchd agents: a property list a job in the user's LaunchAgents folder. Standard library only.

launchd makes up for planned times that the machine slept through, once, when it wakes.
"""

import errno
import os
import plistlib
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hippo_core.paths import write_atomic
from hippo_core.schedule.jobs import Job
from hippo_core.schedule.scheduler import Target, ask, require

_PAUSES = (0.2, 0.5, 1.0, 2.0)  # seconds


class LaunchAgents:
    name, title, system = "launchd", "launchd agents", "darwin"

    @property
    def place(self) -> Path:
        return Path.home() / "Library" / "LaunchAgents"

    def problem(self) -> str | None:
        if sys.platform != self.system or shutil.which("launchctl") is None:
            return "there is no launchd here"
        status, _, said = ask(["launchctl", "print", _domain()])
        return f"launchd has no session of this user ({said})" if status else None

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        for job in jobs:
            file = self.place / f"{target.name(job)}.plist"
            ask(["launchctl", "bootout", f"{_domain()}/{target.name(job)}"])  # a loaded agent cannot be loaded again
            write_atomic(file, plistlib.dumps(agent(target, job)), mode=0o644)
            _load(file)

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        for job in jobs:
            file = self.place / f"{prefix}-{job.name}.plist"
            if file.exists():
                ask(["launchctl", "bootout", f"{_domain()}/{prefix}-{job.name}"])
                file.unlink()

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        names = [f"{prefix}-{job.name}" for job in jobs]
        files = shlex.join(str(self.place / f"{name}.plist") for name in names)
        return "; ".join([*(f"launchctl bootout {_domain()}/{name}" for name in names), f"rm -f {files}"])

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        return [job.name for job in jobs if not ask(["launchctl", "print", f"{_domain()}/{prefix}-{job.name}"])[0]]


def agent(target: Target, job: Job) -> dict[str, Any]:
    """The property list of a job."""
    times = [{"Minute": minute, **({} if job.hour is None else {"Hour": job.hour})} for minute in job.minutes]
    return {
        "Label": target.name(job),
        "ProgramArguments": target.command(job),
        "EnvironmentVariables": target.environment,
        "StartCalendarInterval": times,
        "RunAtLoad": False,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 10,
        "Umask": 0o077,
        "StandardInPath": os.devnull,
        "StandardOutPath": os.devnull,
        "StandardErrorPath": os.devnull,
    }


def _load(file: Path) -> None:
    """Give launchd an agent; patient, for it may still be clearing away the one of that name that was taken out."""
    command = ["launchctl", "bootstrap", _domain(), str(file)]
    for pause in _PAUSES:
        status, _, _ = ask(command)
        if status == 0:
            return
        if status != errno.EIO:
            break
        time.sleep(pause)
    require(command)


def _domain() -> str:
    return f"gui/{os.getuid()}"
