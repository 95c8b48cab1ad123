"""The peak memory of a process, told by itself: the figure that its parent gets begins with the parent's own."""

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
_TELL = """
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1000 for line in status if line.startswith("VmHWM"))
    except OSError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # bytes, on macOS
"""


def peak_of(code: str, *arguments: str) -> list[float]:
    """The megabytes that a process prints which runs `code`, where peak() is the most it took so far."""
    if sys.platform not in ("linux", "darwin"):
        pytest.skip("this system tells no process how much memory it took")
    command = [sys.executable, "-c", _TELL + code, *arguments]
    done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]
