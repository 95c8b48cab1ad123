#!/usr/bin/env python3
"""The one test command: `python3 tests/run.py [pytest arguments]`. Sets up what it needs by itself.

The tests' own virtual environment is .venv in the checkout, or a folder in the user's cache where the checkout cannot
be written. It is filled from the lock files and kept until one of them changes. Written so that an old Python, too,
reads as far as the line that says it is too old.
"""

import hashlib
import os
import shutil
import subprocess
import sys

if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("The tests need Python 3.10 or newer, and this is " + sys.version.split()[0])

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from hippo_core.errors import HippoError, WheelMissingError  # noqa: E402
from hippo_core.ops import venv  # noqa: E402

LOCKS = ("core", "vectors", "openai", "alerts", "dev")
KEPT = ("HIPPO_SAMPLES", "HIPPO_BENCH_DATA", "HIPPO_REQUIRE_CLIENT", "HIPPO_CLIENT_CACHE", "HIPPO_CLIENT")
STRAY = ("HIPPO_", "CLAUDE", "ANTHROPIC_", "OPENAI_", "PYTEST_", "XDG_")


def main(arguments):
    try:
        python = prepare(home())
    except HippoError as error:
        print(error, file=sys.stderr)
        return 1
    environment = {
        name: value for name, value in venv.clean_environment().items() if name in KEPT or not name.startswith(STRAY)
    }
    environment["PYTHONPATH"] = str(REPOSITORY)
    command = [str(python), "-m", "pytest", "-n", "2", "-rs", *arguments]  # -rs: what was skipped, and why
    try:
        return subprocess.run(command, cwd=REPOSITORY, env=environment).returncode
    except KeyboardInterrupt:
        return 130


def home():
    """Where the tests' environment is kept."""
    if os.access(REPOSITORY, os.W_OK):
        return REPOSITORY / ".venv"
    cache = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(cache) / "hippocampus-tests" / hashlib.sha256(str(REPOSITORY).encode()).hexdigest()[:12]


def prepare(folder):
    """Make the environment and fill it where that is not done yet for this Python; returns its interpreter."""
    log, stamp = folder.with_name(folder.name + ".log"), folder / "filled-for-tests.txt"
    locks = [REPOSITORY / "requirements" / (name + ".lock") for name in LOCKS]
    python = "{}.{}".format(*sys.version_info)
    wanted = python + " " + hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()
    filled = stamp.read_text(encoding="utf-8") if stamp.exists() else ""
    if filled and filled.split()[0] != python:
        shutil.rmtree(folder)
    if venv.ensure(folder, log):
        print("made", folder, flush=True)
    if filled != wanted:
        venv.mend(folder)
        for lock in locks:
            install(folder, lock, log)
        stamp.write_text(wanted, encoding="utf-8")
    return venv.interpreter_of(folder)


def install(folder, lock, log):
    print("installing", lock.relative_to(REPOSITORY), flush=True)
    try:
        venv.install_lock(folder, lock, log)
    except WheelMissingError as error:
        if lock.stem != "vectors":
            raise
        print(error, "Tests of vectors will be skipped.", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
