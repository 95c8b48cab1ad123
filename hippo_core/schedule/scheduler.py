"""What every scheduler has in common: what it is told to start, and how it is asked. Standard library only.

Knows no scheduler by name.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hippo_core.errors import ScheduleError
from hippo_core.paths import client_home
from hippo_core.project import short_digest
from hippo_core.schedule.jobs import Job

PRODUCT = "hippocampus"
LONGEST_RUN = 3 * 3600  # seconds until a job that hangs is stopped
LAST_RESORT = 2 * LONGEST_RUN  # until the scheduler stops what stops it: later, or no heartbeat would say what happened
_PATIENCE = 30  # seconds for a scheduler's own command
# All that a job may find: git, and programs that the user installed for all.
_PATH = ("/usr/local/bin", "/usr/bin", "/bin", *(("/opt/homebrew/bin",) if sys.platform == "darwin" else ()))


@dataclass(frozen=True)
class Target:
    """Which installation the jobs belong to.

    prefix: of the names of all its units. python: the absolute interpreter. environment: all that its jobs get.
    """

    prefix: str
    python: Path
    environment: dict[str, str]

    def name(self, job: Job) -> str:
        return f"{self.prefix}-{job.name}"

    def command(self, job: Job) -> list[str]:
        return [str(self.python), "-I", "-m", "hippo_core.cli.main", "schedule", "run", "--scheduled", job.name]


def target_of(home: Path, python: Path) -> Target:
    """The target for the data folder `home`, whose names no other has: one user may have several, and so may a machine.

    A plain name for the usual folder would be shared, as what is usual is for HOME and XDG_DATA_HOME to say.
    """
    prefix = f"{PRODUCT}-{short_digest(str(home))[:8]}"
    environment = {"HIPPO_HOME": str(home), "PATH": os.pathsep.join(_PATH)}
    if "CLAUDE_CONFIG_DIR" in os.environ:
        environment["CLAUDE_CONFIG_DIR"] = str(client_home())
    for value in (str(python), *environment.values()):
        if any(ord(character) < 32 for character in value):
            raise ScheduleError(f"{value!r} holds a control character, which no scheduler takes. Move it elsewhere.")
    return Target(prefix, python, environment)


class Scheduler(Protocol):
    """One way of starting jobs.

    place: the folder that its files go to, None where it has none. system: the one it belongs to, as sys.platform has
    it; None when it may be on several.
    """

    name: str
    title: str
    place: Path | None
    system: str | None

    def problem(self) -> str | None:
        """Why it cannot be used here, found out by trying; None when it works."""

    def install(self, target: Target, jobs: Sequence[Job]) -> None:
        """Register the jobs, in place of any that are registered for this target. ScheduleError when it refuses."""

    def remove(self, prefix: str, jobs: Sequence[Job]) -> None:
        """Take the jobs of that prefix out without a trace; nothing where there are none."""

    def by_hand(self, prefix: str, jobs: Sequence[Job]) -> str:
        """What a user types who takes the jobs of that prefix out without us."""

    def registered(self, prefix: str, jobs: Sequence[Job]) -> list[str]:
        """The names of the jobs that it really has."""


def ask(command: Sequence[str], stdin: bytes | None = None) -> tuple[int, bytes, str]:
    """Run a scheduler's own command: (status, output, its complaint in one line). Status -1: it cannot be run."""
    try:
        done = subprocess.run(
            command,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, b"", str(error)
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return done.returncode, done.stdout, " ".join(said.split())[:300] or f"status {done.returncode}"


def require(command: Sequence[str], stdin: bytes | None = None) -> bytes:
    """Run it and insist on success."""
    status, output, said = ask(command, stdin)
    if status:
        raise ScheduleError(f"{os.path.basename(command[0])} refused ({said})")
    return output
