"""Room on the disk: how much there is, and how much the store may need. Opens nothing."""

import shutil
from pathlib import Path
from typing import NamedTuple

LEAST = 500e6  # bytes; with less, whatever else writes on this disk soon fills it
REWRITING = 2.2  # of its size: the file written anew lies beside it, and goes through the log (measured: 1.0 each)


class Room(NamedTuple):
    """Bytes. free: on the disk; taken: by the store, its log included."""

    free: int
    taken: int

    @property
    def needed(self) -> float:
        """What must be free, or a forget cannot write the file anew and a pass may stop half-way."""
        return max(LEAST, REWRITING * self.taken)

    @property
    def enough(self) -> bool:
        return self.free >= self.needed


def room(store: Path) -> Room:
    """How it stands where the store lies. Raises an OSError where that cannot be read."""
    return Room(shutil.disk_usage(store.parent).free, taken(store))


def taken(store: Path) -> int:
    """What the store takes, 0 where there is none."""
    files = (store.with_name(store.name + suffix) for suffix in ("", "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
