#!/usr/bin/env python3
"""How long archiving transcripts takes, against reading the same files and parsing each line.

    HIPPO_SAMPLES=DIR python benchmarks/ingest.py [--repeats 9]

Both in this process, taking turns, the archive step into a fresh store each time, nothing embedded. Printed: the median
of each and the median of the ratios. Required: at most 4. A third figure is a second pass over the same files,
when nothing is new.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hippo_core.ingest.archive import archive_files  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.transcripts.discover import transcript_files  # noqa: E402

MOST = 4.0


def parse_everything(files: Sequence[Path]) -> float:
    """Seconds to read every file and json.loads every line of it."""
    began = time.perf_counter()
    for path in files:
        with path.open("rb") as file:
            for line in file:
                try:
                    json.loads(line)
                except (ValueError, RecursionError):
                    pass
    return time.perf_counter() - began


def archive_everything(files: Sequence[Path]) -> tuple[float, float, int]:
    """Seconds to archive every file into a fresh store, seconds to do it again, and the messages stored."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        began = time.perf_counter()
        report = archive_files(store, files)
        first = time.perf_counter()
        archive_files(store, files)
        return first - began, time.perf_counter() - first, report.messages


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
    parse_everything(files), archive_everything(files)  # warm the file cache and the imports
    parsed, archived, again, ratios, messages = [], [], [], [], 0
    for _ in range(repeats):
        parsed.append(parse_everything(files))
        first, second, messages = archive_everything(files)
        archived.append(first)
        again.append(second)
        ratios.append(first / parsed[-1])
    ratio = statistics.median(ratios)
    print(f"{len(files)} files, {megabytes:.1f} MB, {messages} messages, {repeats} repeats, medians:")
    print(f"  read and json.loads each line  {statistics.median(parsed) * 1000:7.0f} ms")
    print(f"  archive step, fresh store      {statistics.median(archived) * 1000:7.0f} ms")
    print(f"  archive step, nothing new      {statistics.median(again) * 1000:7.0f} ms")
    print(f"  ratio {ratio:.2f}, required at most {MOST:.0f}: {'met' if ratio <= MOST else 'MISSED'}")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
