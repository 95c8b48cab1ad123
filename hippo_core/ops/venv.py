"""Makes and mends a virtual environment and fills it from lock files. Standard library only: nothing is installed yet.

What is installed is decided by the lock alone: exact versions, checked hashes, ready-made wheels, no resolving. Where
it comes from is the user's own pip configuration (index, mirror, proxy, certificates). Knows nothing of memory.
"""

import contextlib
import csv
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from hippo_core.errors import InstallError, OfflineError, WheelMissingError

OLDEST_PYTHON = (3, 10)

# pip's settings that say how a package is reached. All others (target, user, prefix, constraint, ..) say where or what
# to install, which is not the environment's to decide here.
_PIP_REACH = frozenset(
    "PIP_" + name
    for name in (
        "CACHE_DIR CERT CLIENT_CERT CONFIG_FILE DEFAULT_TIMEOUT EXTRA_INDEX_URL FIND_LINKS INDEX_URL KEYRING_PROVIDER "
        "NO_CACHE_DIR NO_INDEX PROXY TIMEOUT TRUSTED_HOST"
    ).split()
)
_NETWORK_FAILED = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError|ConnectionResetError|"
    r"NameResolutionError|ProtocolError|IncompleteRead|connection broken by|Max retries exceeded|"
    r"Network is unreachable|HTTP error 5\d\d"
)
_NO_WHEEL = re.compile(r"No matching distribution found for ([A-Za-z0-9._-]+)")
_OTHER_FILE = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s*(\S+)")
_PACKAGE_SEEN = re.compile(r"(Collecting|Requirement already satisfied:|Ignoring) ")


def base_interpreter() -> str:
    """The interpreter that environments are made from: the real one, also when a shim or an environment runs us."""
    return os.path.abspath(getattr(sys, "_base_executable", None) or sys.executable)


def refuse_incomplete_python() -> None:
    """InstallError when this Python cannot make a virtual environment; Debian ships it in two parts."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        raise InstallError(
            f"{sys.executable} cannot make a virtual environment ({error}). Install what is missing (Debian, Ubuntu: "
            f"sudo apt-get install python{version}-venv) and run this again."
        ) from error


def clean_environment() -> dict[str, str]:
    """This process's environment without what would bend another Python or pip."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("PYTHON", "PIP_", "VIRTUAL_ENV", "__PYVENV")) or name.upper() in _PIP_REACH
    }
    # Said aloud, because pip's configuration files may say otherwise.
    return {**kept, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1", "PYTHONIOENCODING": "utf-8"}


def interpreter_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def works(folder: Path) -> bool:
    """Whether the environment's interpreter starts, is new enough and has pip."""
    probe = f"import sys, pip; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    try:
        return _quiet([interpreter_of(folder), "-I", "-c", probe]) == 0
    except OSError:
        return False


def ensure(folder: Path, log: Path) -> bool:
    """Make the environment, or make it anew where it does not work (half made, or its Python is gone). True if made."""
    if works(folder):
        return False
    refuse_incomplete_python()
    failed, said = _run([base_interpreter(), "-I", "-m", "venv", "--clear", str(folder)], log)
    if failed or not works(folder):
        raise InstallError(
            f"The virtual environment {folder} could not be made: {_reason(said)}. Everything said is in {log}; when "
            "it is mended, run this again."
        )
    return True


def install_lock(folder: Path, lock: Path, log: Path, on_package: Callable[[int, int], None] | None = None) -> None:
    """Install exactly what `lock` names for this platform. on_package(seen, all) is called as pip gets along.

    OfflineError: the index was not reached. WheelMissingError: the lock has nothing for this platform.
    """
    command = ["install", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-warn-script-location"]
    total = sum(line[:1].isalnum() for line in lock.read_text(encoding="utf-8").splitlines())
    seen = 0

    def count(line: str) -> None:
        nonlocal seen
        if on_package and _PACKAGE_SEEN.match(line):
            seen += 1
            on_package(min(seen, total), total)

    _pip(folder, [*command, "--requirement", str(lock)], log, count)


def install_folder(folder: Path, source: Path, log: Path) -> None:
    """Install the package in `source`, built by the backend that the environment already holds: no network at all."""
    _pip(
        folder,
        ["install", "--no-index", "--no-deps", "--no-build-isolation", "--force-reinstall", str(source)],
        log,
    )


def mend(folder: Path) -> list[str]:
    """Take every package that is not wholly there off the books, so that pip installs it again; returns their names.

    A killed pip leaves a package half written, which it would later take for installed.
    """
    broken = []
    for packages in _site_packages(folder):
        for left_over in packages.glob("~*"):
            shutil.rmtree(left_over, ignore_errors=True)
        for information in packages.glob("*.dist-info"):
            if not _is_whole(packages, information):
                broken.append(information.name.split("-")[0])
                shutil.rmtree(information)
    return sorted(broken)


def _is_whole(packages: Path, information: Path) -> bool:
    """Whether every file of a package's record is there, and at its size unless it is a script, which may be ours."""
    try:
        record = (information / "RECORD").read_text(encoding="utf-8")
        rows = list(csv.reader(io.StringIO(record)))
        # Rows without a size are what is written after the installation: byte code, the record itself.
        sizes = [(name, os.stat(packages / name).st_size, int(size)) for name, _, size in rows if size]
        return all(found == size or name.startswith("../") for name, found, size in sizes)
    except (OSError, ValueError):
        return False


def _site_packages(folder: Path) -> list[Path]:
    return [*folder.glob("lib/python*/site-packages"), *folder.glob("Lib/site-packages")][:1]


def _pip(folder: Path, arguments: list[str], log: Path, on_line: Callable[[str], None] | None = None) -> None:
    command = [str(interpreter_of(folder)), "-I", "-m", "pip", "--disable-pip-version-check", *arguments]
    # Without a retry pip does not say that it failed to connect, only that it found nothing.
    failed, said = _run([*command, "--progress-bar", "off", "--retries", "3"], log, on_line)
    if not failed:
        return
    if _NETWORK_FAILED.search(said):
        raise OfflineError(
            "The packages could not be fetched: the package index was not reached. What arrived is kept; run this "
            f"again when you are online (pip's words are in {log})."
        )
    other = _OTHER_FILE.search(said)
    if other:
        raise InstallError(
            f"What was fetched for {other[1]} is not the file that the lock names, so it was not installed. Something "
            "on the way, or the index itself, served another one; try another network or index."
        )
    missing = _NO_WHEEL.search(said)
    if missing:
        raise WheelMissingError(
            f"The index that pip uses has no ready-made package of {missing[1]} for this Python and system "
            f"({sys.version.split()[0]}, {sys.platform})."
        )
    raise InstallError(f"pip failed: {_reason(said)} (all of it is in {log}). Run this again to carry on.")


def _reason(said: str) -> str:
    """The line of a failed command's words that says why."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no reason given"])[-1]


def _run(command: list[str], log: Path, on_line: Callable[[str], None] | None = None) -> tuple[bool, str]:
    """(failed, everything said) of a command whose words also go to `log` and, line by line, to `on_line`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    said = []
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(command)}\n")
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            env=clean_environment(),
        ) as process:
            try:
                for line in process.stdout:
                    file.write(line)
                    said.append(line)
                    if on_line:
                        on_line(line)
            except BaseException:  # stopped: do not leave it working on its own
                process.terminate()
                raise
    return process.returncode != 0, "".join(said)


def _quiet(command: list) -> int:
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=clean_environment(), timeout=60
        ).returncode
    return 1
