"""The `hippo` command on the user's PATH: one link in ~/.local/bin, ours alone. Standard library only.

Windows has no such folder; there the command is called by its full path.
"""

import os
import shutil
from pathlib import Path

from hippo_core.ops import venv
from hippo_core.paths import Paths, for_shell
from hippo_core.record import Record

_EXPORT = "echo 'export PATH=\"$HOME/.local/bin:$PATH\"' >> ~/"
_ON_PATH = {  # by shell: what puts ~/.local/bin on PATH for good
    "zsh": _EXPORT + ".zshrc",  # the shell of macOS
    "bash": _EXPORT + ".bashrc",
    "sh": _EXPORT + ".profile",
    "fish": "fish_add_path ~/.local/bin",
}


def program(paths: Paths) -> Path:
    """The command in the installation's own environment."""
    return venv.interpreter_of(paths.venv).with_name("hippo.exe" if os.name == "nt" else "hippo")


def make_startable(paths: Paths) -> None:
    """Write the command anew where pip's own cannot start: it has its path inside a shell's double quotes."""
    if os.name == "posix" and set(str(paths.venv)) & set('$`"\\'):
        line = f'exec {for_shell(venv.interpreter_of(paths.venv))} -I -m hippo_core.cli.entry "$@"\n'
        program(paths).write_bytes(b"#!/bin/sh\n" + os.fsencode(line))


def place(paths: Paths, record: Record) -> None:
    """Link the command into ~/.local/bin, unless something else has that name there."""
    if os.name == "nt":
        return
    link = _link()
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
    if _answers(paths, shutil.which("hippo")):
        return "hippo"
    path = str(_link() if _answers(paths, str(_link())) else program(paths))
    plain = os.name == "nt" and " " not in path  # PowerShell takes a quoted program for a text
    return path if plain else for_shell(path)


def advice(paths: Paths, shell: str | None = None) -> str:
    """How the command is called here, and what to do so that `hippo` is enough. shell: that of the user's, $SHELL."""
    command = typed(paths)
    if command == "hippo":
        return command
    if os.name == "nt":
        return f"{command}; to type just `hippo` in PowerShell, add to $PROFILE: Set-Alias hippo {command}"
    link = _link()
    if not _answers(paths, str(link)):
        return f"{command}, in full: {link} is not ours, or could not be made"
    if shutil.which("hippo"):
        return f"{link}, in full: another program named hippo comes first on PATH"
    line = _ON_PATH.get(Path(shell or os.environ.get("SHELL", "")).name, _ON_PATH["sh"])
    return f"{link}; to type just `hippo`, run this and open a new terminal: {line}"


def _link() -> Path:
    return Path.home() / ".local" / "bin" / "hippo"


def _answers(paths: Paths, path: str | None) -> bool:
    return path is not None and os.path.realpath(path) == os.path.realpath(program(paths))
