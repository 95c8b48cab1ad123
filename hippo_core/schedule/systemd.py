"""systemd user timers: a service and a timer a job, in the user's own unit folder. Standard library only.

Timers are Persistent, so a run that was slept through is made up for. Without lingering they run while the user is
logged in, which is when transcripts arrive.
"""

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from hippo_core.paths import default_home, write_atomic
from hippo_core.schedule.jobs import Job
from hippo_core.schedule.scheduler import LAST_RESORT, Target, ask, require

_SERVICE = """\
[Unit]
Description=Hippocampus {name}: {what}
ConditionFileIsExecutable={python}

[Service]
Type=oneshot
ExecStart={command}
{environment}
UMask=0077
Nice=10
IOSchedulingClass=idle
TimeoutStartSec={limit}
StandardInput=null
StandardOutput=null
"""
_TIMER = """\
[Unit]
Description=Hippocampus {name}, timer

[Timer]
OnCalendar={calendar}
RandomizedDelaySec=120
AccuracySec=60
Persistent=true

[Install]
WantedBy=timers.target
"""


class SystemdTimers:
    name, title, system = "systemd", "systemd user timers", "linux"

    @property
    def place(self) -> Path:
        named = os.environ.get("XDG_CONFIG_HOME", "")
        config = Path(named) if os.path.isabs(named) else Path.home() / ".config"
        return config / "systemd" / "user" / "timers.target.wants"

    @property
    def _units(self) -> Path:
        return self.place.parent

    @property
    def _stamps(self) -> Path:
        """Where systemd itself notes when a timer that is Persistent last ran."""
        return default_home().parent / "systemd" / "timers"

    def problem(self) -> str | None:
        if sys.platform != self.system or shutil.which("systemctl") is None:
            return "there is no systemd here"
        _, output, said = ask(["systemctl", "--user", "show", "--property=Version"])
        answers = output.startswith(b"Version=")  # in a chroot it ignores whatever it is told, with success
        return None if answers else f"systemd does not serve this user ({said})"

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        for job in jobs:
            for file, text in units(target, job).items():
                write_atomic(self._units / file, text.encode(), mode=0o644)
        timers = [f"{target.name(job)}.timer" for job in jobs]
        require(["systemctl", "--user", "daemon-reload"])
        require(["systemctl", "--user", "enable", *timers])
        require(["systemctl", "--user", "restart", *timers])  # one that runs already would keep its old times

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        timers = [f"{prefix}-{job.name}.timer" for job in jobs if (self._units / f"{prefix}-{job.name}.timer").exists()]
        if not timers:
            return
        ask(["systemctl", "--user", "disable", "--now", *timers])  # where systemd is gone, so is what it had started
        for timer in timers:
            for file in (*self._files(timer), self.place / timer):
                with contextlib.suppress(FileNotFoundError):
                    file.unlink()
        for folder in (self._stamps, self._stamps.parent):
            with contextlib.suppress(OSError):  # somebody else's are in it
                folder.rmdir()
        ask(["systemctl", "--user", "daemon-reload"])

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        timers = [f"{prefix}-{job.name}.timer" for job in jobs]
        files = [str(file) for timer in timers for file in self._files(timer)]
        return f"systemctl --user disable --now {shlex.join(timers)}; rm -f {shlex.join(files)}"

    def _files(self, timer: str) -> list[Path]:
        unit = self._units / timer
        return [unit, unit.with_suffix(".service"), self._stamps / f"stamp-{timer}"]

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        names = {f"{prefix}-{job.name}.timer": job.name for job in jobs}
        _, output, _ = ask(["systemctl", "--user", "is-enabled", *names])
        return [job for job, state in zip(names.values(), output.split(), strict=False) if state == b"enabled"]


def units(target: Target, job: Job) -> dict[str, str]:
    """The unit files of a job, by name."""
    service = _SERVICE.format(
        name=job.name,
        what=job.what,
        python=str(target.python).replace("%", "%%"),
        command=_command(target.command(job)),
        environment="\n".join(f"Environment={_quoted(f'{key}={value}')}" for key, value in target.environment.items()),
        limit=LAST_RESORT,
    )
    timer = _TIMER.format(name=job.name, calendar=_calendar(job))
    return {f"{target.name(job)}.service": service, f"{target.name(job)}.timer": timer}


def _calendar(job: Job) -> str:
    hour = "*" if job.hour is None else f"{job.hour:02d}"
    return f"*-*-* {hour}:{','.join(f'{minute:02d}' for minute in job.minutes)}:00"


def _command(words: Sequence[str]) -> str:
    """A command line. As its first word systemd takes no path with quotes in it, as an argument it does."""
    return " ".join(["/usr/bin/env", *(_quoted(word).replace("$", "$$") for word in words)])


def _quoted(text: str) -> str:
    """A word of a unit file: no specifiers, no escapes, no end at a space."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
