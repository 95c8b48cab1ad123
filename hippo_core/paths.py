"""Where everything lives. The only module that decides a location; it creates nothing but what `ensure` is asked for.

The data folder is $HIPPO_HOME, else the folder around this virtual environment when the installer made it (so that a
cold command needs no further import), else the user's data folder of the platform.
"""

import contextlib
import os
import sys
import time
from _thread import get_ident  # threading would have to be imported
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hippo_core.errors import UsageError
from hippo_core.project import JOINED

INSTALL_RECORD = "install.json"
_PAUSES = (0.01, 0.05, 0.2, 1.0) if os.name == "nt" else ()


class Paths(NamedTuple):
    """The files of one installation, all below `home`."""

    home: Path

    @property
    def store(self) -> Path:
        return self.home / "memory.db"

    @property
    def config(self) -> Path:
        return self.home / "config.json"

    @property
    def render(self) -> Path:
        """What the hooks read."""
        return self.home / "render"

    @property
    def run(self) -> Path:
        """Locks and time stamps; may be deleted when nothing runs."""
        return self.home / "run"

    @property
    def spool(self) -> Path:
        """Notes of what was shown, until a job counts them."""
        return self.home / "spool"

    @property
    def usage(self) -> Path:
        """How much was asked of services that cost, a file a month."""
        return self.home / "usage"

    @property
    def queries(self) -> Path:
        """Vectors of questions asked before, without their words."""
        return self.home / "queries.cache"

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def alerts(self) -> Path:
        """What the monitor knows and still has to tell."""
        return self.home / "alerts"

    @property
    def joined(self) -> Path:
        """Which moved folders go on as which earlier project."""
        return self.home / JOINED

    @property
    def snapshot(self) -> Path:
        """The git repository of what shapes the memory."""
        return self.home / "snapshot"

    @property
    def venv(self) -> Path:
        return self.home / "venv"

    @property
    def plugin(self) -> Path:
        """The staged plugin, which is also the marketplace folder."""
        return self.home / "plugin"

    @property
    def schedule_record(self) -> Path:
        """Which scheduler starts the jobs, and what was put into it."""
        return self.home / "schedule.json"

    @property
    def install_record(self) -> Path:
        return self.home / INSTALL_RECORD


def data_home() -> Path:
    """The data folder in force."""
    named = os.environ.get("HIPPO_HOME")
    if named:
        return Path(os.path.expanduser(named)).absolute()
    around = Path(sys.prefix).parent
    if (around / INSTALL_RECORD).exists():
        return around
    try:
        from platformdirs import user_data_dir  # 18 ms, so only when nothing nearer answers
    except ImportError:  # the installer asks before anything is installed
        return default_home()
    try:
        return _with_home(Path(user_data_dir("hippocampus", appauthor=False)))
    except RuntimeError:  # it found no home folder either
        return default_home()


def default_home() -> Path:
    """What platformdirs answers, without it."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "hippocampus"
    named = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):
        return Path(named) / "hippocampus"
    below = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    return _with_home(Path(os.path.expanduser("~"))) / below / "hippocampus"


def _with_home(path: Path) -> Path:
    """`path`, unless there was no home folder to begin it with, which would make it a folder named ~ right here."""
    if not path.is_absolute():
        raise UsageError(
            "There is no home folder here: neither HOME nor the system names one. Set HIPPO_HOME to a data folder, and "
            "CLAUDE_CONFIG_DIR to Claude Code's."
        )
    return path


def current() -> Paths:
    """The paths of the installation in force."""
    home = data_home()
    try:
        os.fspath(home).encode()
    except UnicodeEncodeError:  # SQLite takes no other names
        raise UsageError(f"The name of the data folder {home} is not UTF-8. Set HIPPO_HOME to one that is.") from None
    return Paths(home)


def client_home() -> Path:
    """Claude Code's own configuration folder."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(os.path.expanduser(named)) if named else _with_home(Path(os.path.expanduser("~"))) / ".claude"


def ensure_private(folder: Path) -> Path:
    """Create `folder` readable by its owner alone, and return it."""
    if not folder.parent.exists():
        ensure_private(folder.parent)  # mkdir's own `parents` would leave it to the umask
    folder.mkdir(mode=mode_of(folder), exist_ok=True)
    return folder


def mode_of(folder: Path, system: str = os.name) -> int:
    """With which mode a folder is made so that its user gets in, and nobody else.

    0o700 is for the owner, which on Windows are the administrators where a terminal with their rights made it: its user
    would be shut out. Their profile lets in nobody else as it is.
    """
    inside = system == "nt" and folder.is_relative_to(os.path.expanduser("~"))
    return 0o777 if inside else 0o700


def for_shell(path: Path | str) -> str:
    """A path as it is typed, or written into a command line for a shell."""
    if os.name == "nt":
        return f'"{path}"'
    import shlex

    return shlex.quote(str(path))


def for_agent(program: Path | str, system: str = os.name) -> str:
    """A program as it begins a command line of the agent's, whose shell on Windows is Git's Bash or PowerShell.

    The one takes a bare backslash for nothing, the other a quoted word for a text: so neither, where that can be.
    """
    import re

    plain = str(program).replace("\\", "/")
    return plain if system == "nt" and re.fullmatch(r"[\w:/.~-]+", plain) else for_shell(program)


def remove_tree(folder: Path) -> None:
    """Delete a folder, read-only files too: git makes such files, and Windows does not let them go."""
    import shutil

    if os.name == "nt":
        for parent, _, names in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(parent, name), 0o600)
    shutil.rmtree(folder)


def write_atomic(path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True) -> None:
    """Replace `path` by `data` so that a reader sees the old bytes or the new ones, never a part.

    durable: also after the power failed; the other way is for what is made anew when it is missing, cut off or older.
    """
    ensure_private(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.tmp")  # the tool server has threads
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        move(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
            del error.filename2  # nobody asked for the other name, and None would be printed as one
        raise


def move(source: Path, target: Path, pauses: Sequence[float] = _PAUSES) -> None:
    """os.replace; patient on Windows, which refuses it while anybody reads the target, or what is in a folder."""
    for pause in pauses:
        try:
            return os.replace(source, target)
        except PermissionError:
            time.sleep(pause)
    os.replace(source, target)
