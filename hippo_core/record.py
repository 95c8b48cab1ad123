"""What the installer did: one JSON file in the data folder, which also marks that folder as an installation.

Standard library only. Knows the file, not the steps.
"""

import json
import os
from pathlib import Path
from typing import Any

from hippo_core.errors import HippoError, InstallError
from hippo_core.paths import Paths, current, for_shell, write_atomic


class Record:
    """The record as last written. `get` and `put` by name; `put` writes at once, so that a killed installer resumes."""

    def __init__(self, paths: Paths):
        self._path = paths.install_record
        self._values = self._read()

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name, default)

    def put(self, **values: Any) -> None:
        """Set values; None removes one."""
        merged = {**self._read(), **values}  # another process of the same installation may have written meanwhile
        self._values = {name: value for name, value in merged.items() if value is not None}
        write_atomic(self._path, json.dumps(self._values, indent=2, sort_keys=True).encode() + b"\n")

    def _read(self) -> dict[str, Any]:
        try:
            values = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InstallError(
                f"{self._path} cannot be read ({error}). Delete it and run this again; memories are not in it."
            ) from error
        return values if isinstance(values, dict) else {}


def installer(options: str = "") -> str:
    """What installs, upgrades and mends, as it is typed in any folder; `options` start with a space."""
    try:
        script = Path(Record(current()).get("source", ""), "install.py")
    except HippoError:
        script = Path("install.py")
    if script.is_absolute() and script.is_file():
        return f"{python_by_hand()} {for_shell(script)}{options}"
    return f"{python_by_hand()} install.py{options} (in a clone of Hippocampus)"


def python_by_hand(system: str = os.name) -> str:
    """How Python is called by hand: on Windows python3 is at best a program that opens the store's page of it.

    -3, or the launcher there would look into the script, and for the python3 that its first line names.
    """
    if system != "nt":
        return "python3"
    import shutil

    return "py -3" if shutil.which("py") else "python"
