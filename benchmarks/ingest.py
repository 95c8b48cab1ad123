#!/usr/bin/env python3
"""What ingesting transcripts costs, against reading the same files and parsing each line.

    HIPPO_SAMPLES=DIR python benchmarks/ingest.py [--repeats 9]

In one process, taking turns, by processor time, so that a busy machine does not count; nothing is embedded. The archive
step alone goes into a fresh store each time, and once more when nothing is new; the whole pass (archived, learned from,
reconciled, rendered) into a fresh home, with every session taken for finished. Printed: the median of each and the
median of the ratios. Required: at most 3 for the archive step, at most 4 for the whole pass.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hippo_core.ingest.archive import archive_files  # noqa: E402
from hippo_core.ingest.run import run_pass  # noqa: E402
from hippo_core.paths import Paths  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.transcripts.discover import transcript_files  # noqa: E402

MOST_ARCHIVED, MOST_WHOLE = 3.0, 4.0


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def parse(files: Sequence[Path]) -> None:
    """Read every file and json.loads every line of it."""
    for path in files:
        with path.open("rb") as file:
            for line in file:
                try:
                    json.loads(line)
                except (ValueError, RecursionError):
                    pass


def archive(files: Sequence[Path]) -> tuple[float, float, int]:
    """Seconds to archive every file into a fresh store, seconds to do it again, and the messages stored."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        first, again = (seconds(lambda: archive_files(store, files)) for _ in range(2))
        return first, again, store.archive.counts()[0]


def whole_pass(samples: Path) -> tuple[float, int]:
    """Seconds that a whole pass takes in a fresh home, and the memories it learns."""
    with tempfile.TemporaryDirectory() as folder:
        paths, reports = Paths(Path(folder)), []
        taken = seconds(
            lambda: reports.append(run_pass(paths, roots=[samples], embed=False, unfinished=True, thorough=True))
        )
        return taken, reports[0].learned


def told(name: str, times: Sequence[float], parsed: Sequence[float], most: float | None = None) -> bool:
    """Print one row; whether its ratio is as required."""
    ratio = statistics.median(one / base for one, base in zip(times, parsed, strict=True))
    met = most is None or ratio <= most
    verdict = "" if most is None else f", required at most {most:.0f}: {'met' if met else 'MISSED'}"
    print(f"  {name:32}{statistics.median(times) * 1000:6.0f} ms  {ratio:5.2f}{verdict}")
    return met


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=9)
    repeats = options.parse_args().repeats
    samples = os.environ.get("HIPPO_SAMPLES")
    if not samples:
        print("HIPPO_SAMPLES is not set: it names a folder of transcripts to measure with. Nothing was measured.")
        return 0
    files = transcript_files(Path(samples))
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    parse(files), archive(files), whole_pass(Path(samples))  # warm the file cache and the imports
    parsed, archived, again, whole, messages, memories = [], [], [], [], 0, 0
    for _ in range(repeats):
        parsed.append(seconds(lambda: parse(files)))
        first, second, messages = archive(files)
        taken, memories = whole_pass(Path(samples))
        archived.append(first), again.append(second), whole.append(taken)
    print(
        f"{len(files)} files, {megabytes:.1f} MB, {messages} messages, {memories} memories; {repeats} repeats, medians:"
    )
    told("read and json.loads each line", parsed, parsed)
    told("archive step, nothing new", again, parsed)
    met = told("archive step, fresh store", archived, parsed, MOST_ARCHIVED)
    return 0 if told("whole pass, nothing embedded", whole, parsed, MOST_WHOLE) and met else 1


if __name__ == "__main__":
    sys.exit(main())
