"""The product as a user has it: a data folder, the `hippo` command, the plugin staged for the client.

Knows how it is called and how to look into its store, not what a test wants to find there.
"""

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hippo_core.errors import StoreError
from hippo_core.model.memory import Memory
from hippo_core.paths import Paths
from hippo_core.store import Store

T = TypeVar("T")
_WAIT = 120.0  # seconds that a detached job gets on a busy machine; waiting ends as soon as it has done its work


@dataclass(frozen=True)
class Product:
    """home: the data folder. scripts: the folder of the virtual environment's executables."""

    home: Path
    scripts: Path

    @property
    def paths(self) -> Paths:
        return Paths(self.home)

    @property
    def plugin(self) -> Path:
        """The folder to name with --plugin-dir."""
        return self.paths.plugin

    def hippo(self, *arguments: str, cwd: Path, status: int = 0) -> str:
        """Run the command as the user would in `cwd`; its standard output."""
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ},
            "HIPPO_HOME": str(self.home),
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            [self.scripts / "hippo", *arguments],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode == status, f"hippo {' '.join(arguments)}: {done.returncode}, {done.stdout}{done.stderr}"
        return done.stdout

    def memories(self) -> list[Memory]:
        with Store.open(self.paths.store, readonly=True) as store:
            return store.memories.select()

    def archived(self, session: str) -> list[str]:
        """The texts that the archive holds of a session."""
        with Store.open(self.paths.store, readonly=True) as store:
            return [message.text for message in store.archive.session(session)]

    def briefings(self) -> str:
        """What sessions in any known project will start with: the last thing that a pass brings up to date."""
        files = (self.paths.render / "project").glob("p*.json")
        return "".join(file.read_text(encoding="utf-8") for file in files)

    def wait_for(self, look: Callable[[], T]) -> T:
        """The first true value that `look` gives. For detached jobs, whose end nobody is told."""
        deadline = time.monotonic() + _WAIT
        while True:
            try:
                seen = look()
            except StoreError:
                seen = None
            if seen:
                return seen
            assert time.monotonic() < deadline, f"not seen within {_WAIT:.0f} s"
            time.sleep(0.05)
