"""One process at a time for a job, across processes and platforms. The system drops the lock when its holder dies.

Knows nothing of the jobs. The name of the holder is kept beside the lock, for people; the lock itself never trusts it.
"""

import contextlib
import json
import os
from collections.abc import Iterator

from hippo_core import clock
from hippo_core.errors import BusyError, StoreUnavailableError
from hippo_core.paths import Paths, ensure_private, write_atomic


@contextlib.contextmanager
def one_at_a_time(paths: Paths, name: str, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock `name` for the block; BusyError when another process holds it for longer than `wait` seconds."""
    from filelock import FileLock, Timeout

    holder = paths.run / f"{name}.holder"
    try:
        ensure_private(paths.run)
        lock = FileLock(paths.run / f"{name}.lock", timeout=wait, mode=0o600)
        lock.acquire()
    except Timeout:
        raise BusyError(_busy_line(holder, name)) from None
    except OSError as error:
        raise StoreUnavailableError(
            f"{paths.run} cannot be written ({error.strerror or error}). Check that the folder is yours."
        ) from error
    try:
        with contextlib.suppress(OSError):
            write_atomic(holder, json.dumps({"pid": os.getpid(), "since": clock.now()}).encode(), durable=False)
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def _busy_line(holder: "os.PathLike[str]", name: str) -> str:
    """Who holds the lock, as far as that can be told."""
    who = ""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with open(holder, encoding="utf-8") as file:
            note = json.load(file)
        who = f" (pid {int(note['pid'])}, for {max(0, int(clock.now() - note['since']))} s)"
    return f"Another hippo {name}{who} is at work. Nothing was lost; try again when it is done."
