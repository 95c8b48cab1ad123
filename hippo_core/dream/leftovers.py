"""Half-written files of processes that were killed while they wrote. They belong to nobody, and may hold old words."""

import contextlib
import os
import time
from pathlib import Path

from hippo_core.paths import Paths

_ABANDONED = 3_600.0  # seconds after which nobody is still writing


def half_written(paths: Paths) -> list[Path]:
    """Those in the data folder that are old enough to be nobody's; the programs' own folders are left alone."""
    found, apart, oldest = [], {paths.venv, paths.plugin}, time.time() - _ABANDONED
    for folder, below, names in os.walk(paths.home):
        below[:] = [name for name in below if Path(folder, name) not in apart]
        for name in names:
            if name.startswith(".") and name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    path = Path(folder, name)
                    if path.lstat().st_mtime < oldest:
                        found.append(path)
    return found


def clear(paths: Paths) -> int:
    """Delete them; returns how many there were."""
    files = half_written(paths)
    for path in files:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(files)
