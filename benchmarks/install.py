#!/usr/bin/env python3
"""What an installation costs: seconds and megabytes of `install.py` in an empty home, packages fetched anew.

    python benchmarks/install.py [--from TRANSCRIPTS] [--python INTERPRETER]

Transcripts are those of --from, else of $HIPPO_SAMPLES; without either there is nothing to read, and that is said. pip
starts without a cache, so the time holds the downloads and depends on the network; the processor time is given beside
it. The size is all that the installation writes: environment, store, plugin, logs.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS, MEGABYTES = 60, 350


def measure(python: str, transcripts: str | None) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        home, data, cache = Path(folder) / "home", Path(folder) / "data", Path(folder) / "cache"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "HIPPO_HOME": str(data), "PIP_CACHE_DIR": str(cache)}
        environment["CLAUDE_CONFIG_DIR"] = str(home / ".claude")
        environment["PATH"] = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not _has_client(p))
        command = [python, str(ROOT / "install.py"), *(["--from", transcripts] if transcripts else [])]
        seconds = {name: _timed(command, environment) for name in ("first", "again")}
        size = _megabytes(data)
        within = seconds["first"][0] <= SECONDS and size <= MEGABYTES
        for name, (wall, processor) in seconds.items():
            target = f"   target: at most {SECONDS} s" if name == "first" else ""
            print(f"{name:<8}{wall:6.1f} s wall, {processor:5.1f} s of processor time{target}")
        packages = _megabytes(data / "venv")
        print(f"size    {size:6.0f} MB, {packages:.0f} of it packages   target: at most {MEGABYTES} MB")
        print("transcripts:", transcripts or "none; name a folder with --from or HIPPO_SAMPLES")
    return within


def _has_client(folder: str) -> bool:
    """A real client on PATH would be told of an installation that is gone a moment later."""
    return any((Path(folder) / name).exists() for name in ("claude", "claude.cmd", "claude.exe"))


def _timed(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """(seconds by the clock, seconds of processor time) of a command and all it started."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _megabytes(folder: Path) -> float:
    """Disk space of all files below `folder`."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*")) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="transcripts", default=os.environ.get("HIPPO_SAMPLES"))
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    return 0 if measure(options.python, options.transcripts) else 1


if __name__ == "__main__":
    sys.exit(main())
