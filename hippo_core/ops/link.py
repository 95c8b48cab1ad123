"""The `hippo` command on the user's PATH: one link in ~/.local/bin, ours alone. Standard library only.

Windows has no such folder; there the command is called by its full path.
"""

import os
import shutil
from pathlib import Path

from hippo_core.ops import venv
from hippo_core.ops.record import Record
from hippo_core.paths import Paths


def program(paths: Paths) -> Path:
    """The command in the installation's own environment."""
    return venv.interpreter_of(paths.venv).with_name("hippo.exe" if os.name == "nt" else "hippo")


def place(paths: Paths, record: Record) -> None:
    """Link the command into ~/.local/bin, unless something else has that name there."""
    if os.name == "nt":
        return
    link = Path.home() / ".local" / "bin" / "hippo"
    if os.path.lexists(link):
        return
    missing = [str(folder) for folder in (link.parent, link.parent.parent) if not folder.exists()]
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(program(paths))
    except OSError:
        return  # a home that cannot be written: the full path serves as well
    record.put(link={"path": str(link), "made": missing})


def remove(paths: Paths, record: Record) -> None:
    """Take our link away, and the folders that were made for it if they are empty."""
    placed = record.get("link")
    if not placed:
        return
    link = Path(placed["path"])
    if link.is_symlink() and os.readlink(link) == str(program(paths)):
        link.unlink()
    for folder in placed["made"]:
        try:
            Path(folder).rmdir()
        except OSError:
            break


def typed(paths: Paths) -> str:
    """What the user types to call the command."""
    found = shutil.which("hippo")
    if found and os.path.realpath(found) == os.path.realpath(program(paths)):
        return "hippo"
    path = str(program(paths))
    return f'"{path}"' if " " in path else path
