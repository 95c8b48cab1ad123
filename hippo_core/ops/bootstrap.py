"""install.py's work: the virtual environment, the packages, then `hippo_core.ops.setup` inside it.

Standard library only, since it runs before anything is installed. A step that is done already is skipped, so running it
again carries on after an interruption, mends what is broken, and upgrades. Knows nothing of what memory is.
"""

import argparse
import contextlib
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from hippo_core import __version__
from hippo_core.errors import BusyError, HippoError, InstallError, UsageError, WheelMissingError
from hippo_core.ops import link, venv
from hippo_core.ops.steps import step, use_utf8
from hippo_core.ops.uninstall import uninstall
from hippo_core.paths import Paths, current, ensure_private
from hippo_core.record import Record, python_by_hand

SOURCE = Path(__file__).resolve().parents[2]
_PACKAGE_PARTS = ("hippo_core", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
_TITLES = {
    "core": "packages",
    "vectors": "packages for vectors",
    "openai": "packages for OpenAI",
    "alerts": "packages for alerts",
}
_STOPPED = "Stopped. What is done stays done; run install.py again to carry on."


def main(arguments: Sequence[str]) -> int:
    """Install, upgrade or uninstall; the process's exit status."""
    use_utf8()
    options = _options(arguments)
    os.umask(0o077)  # whatever is written here, by us or by pip, is this user's alone
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that a stopped installer says so, too
    try:
        paths = Paths(_real(current().home))
        return uninstall(paths, purge=options.purge) if options.uninstall else install(paths, options)
    except HippoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(_STOPPED, file=sys.stderr)
        return 130
    except OSError as error:
        print(f"{error}. What is done stays done; when that is mended, run install.py again.", file=sys.stderr)
        return 1


def install(paths: Paths, options: argparse.Namespace) -> int:
    """Do what is not done yet, then set up memory with the new environment's Python."""
    venv.refuse_incomplete_python()
    for folder in options.folders:
        if not os.path.isdir(folder):
            raise UsageError(f"--from {folder}: there is no such folder, so nothing was done.")
    record = Record(paths)
    if paths.venv.exists() and not record.exists:
        raise InstallError(f"{paths.venv} was not made by this installer. Move it away, or set HIPPO_HOME.")
    print(f"Hippocampus {__version__} in {paths.home}", flush=True)
    record.put(version=__version__, source=str(SOURCE), extras=sorted({*record.get("extras", []), *options.extra}))
    log = paths.log / "install.log"
    with _alone(paths):
        _ready_environment(paths, record, log)
        _install_lock("core", paths, record, log)
        _install_vectors(paths, record, log)
        for extra in record.get("extras"):
            _install_lock(extra, paths, record, log)
        _install_itself(paths, record, log)
    return _set_up(paths, options)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message}. Nothing was done. See: {python_by_hand()} install.py --help\n")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="install.py",
        description="Install Hippocampus for this user, or upgrade it: run it again. Everything lives in one folder: "
        f"{current().home} (set HIPPO_HOME for another).",
    )
    parser.add_argument(
        "--from",
        dest="folders",
        metavar="DIR",
        action="append",
        default=[],
        help="read the transcripts in this folder instead of Claude Code's own; may be given several times",
    )
    parser.add_argument(
        "--with",
        dest="extra",
        metavar="EXTRA",
        action="append",
        default=[],
        choices=["openai", "alerts"],
        help="also install what an option needs: openai (embeddings by OpenAI), alerts (ntfy, e-mail, chat, desktop)",
    )
    parser.add_argument("--uninstall", action="store_true", help="remove it from Claude Code and this machine")
    parser.add_argument("--purge", action="store_true", help="with --uninstall: delete the memory and settings as well")
    options = parser.parse_args(arguments)
    if options.purge and not options.uninstall:
        parser.error("--purge deletes the memory for good; it goes with --uninstall only")
    return options


def _real(home: Path) -> Path:
    """Windows' Store Python writes elsewhere than it says; what others are told must be the place that is."""
    return Path(os.path.realpath(ensure_private(home))) if os.name == "nt" else home


@contextlib.contextmanager
def _alone(paths: Paths) -> Iterator[None]:
    """Two installers at once would spoil each other's environment. The system drops the lock when its holder dies."""
    with (ensure_private(paths.run) / "install.lock").open("a") as file:
        try:
            if os.name == "nt":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(f"Another install.py is at work in {paths.home}. Wait until it is done.") from error
        yield


def _ready_environment(paths: Paths, record: Record, log: Path) -> None:
    with step("Python environment") as running:
        made = venv.ensure(paths.venv, log)
        broken = [] if made else venv.mend(paths.venv)
        if made or broken:
            record.put(done={})
        running.note = "made" if made else f"mended: {', '.join(broken)}" if broken else "in order"


def _install_lock(name: str, paths: Paths, record: Record, log: Path) -> None:
    lock = SOURCE / "requirements" / f"{name}.lock"
    with step(_TITLES[name]) as running:
        digest = _digest([lock])
        running.note = "up to date"
        if record.get("done", {}).get(name) != digest:
            venv.install_lock(paths.venv, lock, log, running.at)
            record.put(done={**record.get("done", {}), name: digest})
            running.note = "installed, hashes checked"


def _install_vectors(paths: Paths, record: Record, log: Path) -> None:
    try:
        _install_lock("vectors", paths, record, log)
    except WheelMissingError as error:
        print(f"  Recall works by keywords, without vectors: {error}", flush=True)


def _install_itself(paths: Paths, record: Record, log: Path) -> None:
    with step("hippo") as running:
        files = [file for part in _PACKAGE_PARTS for file in sorted([SOURCE / part, *(SOURCE / part).rglob("*")])]
        digest = _digest([file for file in files if file.is_file() and "__pycache__" not in file.parts])
        running.note = "up to date"
        if record.get("done", {}).get("hippo") != digest:
            venv.install_folder(paths.venv, SOURCE, log)
            link.make_startable(paths)
            record.put(done={**record.get("done", {}), "hippo": digest})
            running.note = "installed"


def _digest(files: Sequence[Path]) -> str:
    """One digest for the names and contents of `files`."""
    total = hashlib.sha256()
    for file in files:
        total.update(
            f"{file.relative_to(SOURCE).as_posix()}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode()
        )
    return total.hexdigest()


def _set_up(paths: Paths, options: argparse.Namespace) -> int:
    """What needs the packages: run by the environment's own Python, whose output is this process's output."""
    command = [str(venv.interpreter_of(paths.venv)), "-I", "-m", "hippo_core.ops.setup", "--source", str(SOURCE)]
    command += [argument for folder in options.folders for argument in ("--from", os.path.abspath(folder))]
    return subprocess.call(command, stdin=subprocess.DEVNULL, env={**os.environ, "HIPPO_HOME": str(paths.home)})
