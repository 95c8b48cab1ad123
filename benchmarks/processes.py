"""Whole processes, timed by the clock and by the processor time they took, which a busy machine blurs less."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

ROOT = Path(__file__).resolve().parent.parent
Times = tuple[float, float]  # seconds by the clock, seconds of processor time


def timed(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Times:
    """From the start of a process to its end; it must succeed."""
    worked, started = children(), time.perf_counter()
    subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started, children() - worked


def as_installed(home: Path, scratch: Path) -> dict[str, str]:
    """The environment of a process of ours: compiled, as an installation is, whatever the one around it forbids."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "HIPPO_HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(scratch / "compiled")}


def children() -> float:
    """Seconds of processor time of all processes that were waited for."""
    if resource is None:
        times = os.times()
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than the ticks above
    return used.ru_utime + used.ru_stime


def worked_by(process: int) -> float | None:
    """Seconds of processor time of the threads of a process that runs; None where the system does not tell."""
    try:
        spent = [int(file.read_text().split()[0]) for file in Path(f"/proc/{process}/task").glob("*/schedstat")]
    except OSError:
        return None
    return sum(spent) / 1e9 if spent else None
