"""The real client at a pinned version, from npm into a cache folder, once for all test processes.

Which version, and the hash of every file, stand in npm/package-lock.json (which names no registry: npm's own setting
decides). Its native binary is run directly: no install script, no Node at run time. Knows nothing of plugins or tests.
$HIPPO_CLIENT names another executable to run instead, to try the proofs on an older or a newer client.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

_PINNED = Path(__file__).parent / "npm"
_PACKAGE = "@anthropic-ai/claude-code"
_INSTALL_TIMEOUT = 600  # seconds; the client is about 400 MB


class ClientUnavailableError(Exception):
    """The client cannot be had here: no npm, no network, no binary for this platform."""


def pinned_version() -> str:
    return json.loads((_PINNED / "package.json").read_text(encoding="utf-8"))["dependencies"][_PACKAGE]


def cache_folder() -> Path:
    """$HIPPO_CLIENT_CACHE, else the user's cache folder."""
    named = os.environ.get("HIPPO_CLIENT_CACHE")
    return Path(named) if named else user_cache_path("hippocampus-tests", appauthor=False)


def client_binary() -> Path:
    """The client's executable, installed first where the cache has none. Raises ClientUnavailableError."""
    if named := os.environ.get("HIPPO_CLIENT"):
        return Path(named)
    folder = cache_folder() / f"claude-code-{pinned_version()}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            _install(folder)
    return _working_binary(folder)


def _install(folder: Path) -> None:
    """Fetch the pinned packages beside `folder` and rename: a half-finished installation is never mistaken for one."""
    npm = shutil.which("npm")
    if npm is None:
        raise ClientUnavailableError("npm is not on PATH, so the real client cannot be installed")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="installing-") as scratch:
        fresh = Path(scratch) / "client"
        shutil.copytree(_PINNED, fresh)
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
        try:
            done = subprocess.run(
                command, cwd=fresh, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired as error:
            raise ClientUnavailableError(f"npm took longer than {_INSTALL_TIMEOUT} s to fetch the client") from error
        if "EINTEGRITY" in done.stderr:
            raise AssertionError(f"the registry serves other bytes than the lock file pins:\n{done.stderr}")
        if done.returncode:
            raise ClientUnavailableError(f"npm could not fetch the client: {done.stderr.strip()[-500:]}")
        fresh.rename(folder)


def _working_binary(folder: Path) -> Path:
    """The platform package's binary that runs here (an npm without libc support unpacks the musl build as well)."""
    scope = folder / "node_modules" / _PACKAGE.split("/")[0]
    for candidate in sorted(scope.glob("claude-code-*/claude*")):
        if candidate.name not in ("claude", "claude.exe"):
            continue
        try:
            version = subprocess.run([candidate, "--version"], capture_output=True, text=True, timeout=60).stdout
        except OSError:
            continue
        if version.startswith(pinned_version()):
            return candidate
    raise ClientUnavailableError(f"no client in {folder} runs on this machine")
