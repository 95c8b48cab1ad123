"""How a command that fails ends: with one line that says what happened, and a code."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

from hippo_core.errors import HippoError

_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)  # by the system: nothing of ours is at fault


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """UTF-8 on both streams, and an error of ours as its one line with its code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us; another file would be opened under its number
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        yield
    except HippoError as error:
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop("Stopped. What was stored before stays stored.", 130)
    except BrokenPipeError:
        _close_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is None or error.errno not in _REFUSED:
            _stop_unforeseen(error)
        reason = f"{error.filename} cannot be read or written ({error.strerror})"
        _stop(f"{reason}. Check that the folder is yours and that its disk is writable.", 1)
    except Exception as error:
        _stop_unforeseen(error)


def _stop_unforeseen(error: Exception) -> NoReturn:
    """Nobody is helped by a page of our source."""
    from hippo_core.log import unforeseen

    _close_output()
    line = " ".join(unforeseen(error).split())
    _stop(f"hippo stopped at an unforeseen error: {line}. What was stored before stays stored.", 1)


def _close_output() -> None:
    """Leave nothing that Python would try, and fail, to write when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(line: str, code: int) -> NoReturn:
    print(line, file=sys.stderr)
    sys.exit(code)
