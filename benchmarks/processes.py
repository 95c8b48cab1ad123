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

Times = tuple[float, float]  # seconds by the clock, seconds of processor time


def timed(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Times:
    """From the start of a process to its end; it must succeed."""
    worked, started = children(), time.perf_counter()
    subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started, children() - worked


def children() -> float:
    """Seconds of processor time of all processes that were waited for."""
    if resource is None:
        times = os.times()
        return times.children_user + times.children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than the ticks above
    return used.ru_utime + used.ru_stime
