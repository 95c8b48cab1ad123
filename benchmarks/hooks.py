#!/usr/bin/env python3
"""What a hook costs: its whole process, as a multiple of the same interpreter doing nothing (`python -I -S -c pass`).

    python benchmarks/hooks.py [--runs 60]

All are run in turn, so that whatever else the machine does meets all of them; a figure is the median of its runs over
that of the empty interpreter. The data folder holds 10,000 memories, standing rules to the brim and 12 domains.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rendered_store import ROOT, make

from hippo_core.paths import Paths
from hippo_core.render import health

_SETTLE = 0.25  # seconds for a started catch-up to end before the next run


@dataclass(frozen=True)
class Case:
    """budget: the most the ratio may be. before: puts the data folder into the state that the case is about."""

    name: str
    script: str
    event: dict
    budget: float
    before: Callable[[Path], None] = lambda home: None
    starts: bool = False


def _forget_told(home: Path) -> None:
    for file in (home / "run" / "reflexes").glob("*"):
        file.unlink()


def _no_stamp(home: Path) -> None:
    (home / "run" / "stop").unlink(missing_ok=True)


def _well(home: Path) -> None:
    health.render(Paths(home), [])
    health.expect(Paths(home), 3_600, 1_800)


def _unwell(home: Path) -> None:
    health.render(Paths(home), ["the watch job last ran 3 days ago, due every hour"])


_PROMPT = "Please look at the flaky tests of the parser and tell me what changed since last week. " * 8
CASES = (
    Case("every turn", "user_prompt", {"prompt": _PROMPT}, 1.6),
    Case("every turn, three reflexes", "user_prompt", {"prompt": _PROMPT + "git sql css"}, 1.6, _forget_told),
    Case("session start, rules", "session_rules", {"source": "startup"}, 2.5),
    Case("session start, memory", "session_memory", {"source": "startup"}, 2.5, _well),
    Case("session start, memory not well", "session_memory", {"source": "startup"}, 2.5, _unwell),
    Case("sub-agent start", "subagent_start", {"agent_type": "Explore"}, 2.5),
    Case("stop, soon after another", "stop", {"stop_hook_active": False}, 3.0),
    Case("stop, starting an archive run", "stop", {"stop_hook_active": False}, 3.0, _no_stamp, starts=True),
    Case("session end", "session_end", {"reason": "other"}, 3.0, starts=True),
)


def timed(arguments: list[str], stdin: bytes, environment: dict[str, str], folder: Path) -> float:
    """Seconds from starting the interpreter with `arguments` to its end."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-I", "-S", *arguments], input=stdin, capture_output=True, env=environment, cwd=folder
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0 and not done.stderr, done
    return seconds


def measure(runs: int, home: Path, project: Path) -> bool:
    """Print each ratio; whether all are within budget."""
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(home / "no client"), "CLAUDE_PROJECT_DIR": str(project)}
    empty: list[float] = []
    taken: dict[str, list[float]] = {case.name: [] for case in CASES}
    for run in range(-2, runs):  # the first two only warm the file cache
        for case in CASES:
            event = {"session_id": "0c9a3f6e-1111", "cwd": str(project), **case.event}
            case.before(home)
            nothing = timed(["-c", "pass"], b"", environment, project)
            script = [str(ROOT / "hooks" / f"{case.script}.py"), str(home)]
            seconds = timed(script, json.dumps(event, separators=(",", ":")).encode(), environment, project)
            if case.starts:
                time.sleep(_SETTLE)
            if run >= 0:
                empty.append(nothing)
                taken[case.name].append(seconds)
    base, within = statistics.median(empty), True
    print(f"empty interpreter (python -I -S -c pass): {base * 1e3:.1f} ms, median of {len(empty)}")
    for case in CASES:
        seconds = statistics.median(taken[case.name])
        ratio = seconds / base
        within &= ratio <= case.budget
        cost = f"{case.name.ljust(30)} {seconds * 1e3:5.1f} ms   ratio {ratio:.2f}"
        print(f"{cost}   target: at most {case.budget}{'' if ratio <= case.budget else '   OVER'}")
    return within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        (project / ".git").mkdir(parents=True)
        home = Path(folder) / "data"
        make(home, memories=10_000, rules=100, project=project)
        return 0 if measure(arguments.runs, home, project) else 1


if __name__ == "__main__":
    sys.exit(main())
