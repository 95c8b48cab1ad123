"""The log of what ran unseen: one line an event, redacted, bounded in size. Never raises, never prints."""

import contextlib
import os
from datetime import datetime, timezone

from hippo_core import clock
from hippo_core.paths import Paths, ensure_private

MOST_BYTES = 256 * 1024  # then the file becomes hippo.log.1, and the one before that is gone
LONGEST_LINE = 2_000
LINE_BREAK = "·"  # stands in a line of the log where what was said had a line's end


def log(paths: Paths, job: str, text: str, name: str = "hippo.log") -> None:
    """Append one line about `job` to the log of that name."""
    from hippo_core.guard.redact import redact

    parts = (" ".join(part.split()) for part in redact(text).splitlines())
    line = f" {LINE_BREAK} ".join(filter(None, parts))[:LONGEST_LINE]
    moment = _moment(clock.now())
    file = paths.log / name
    with contextlib.suppress(OSError):
        ensure_private(paths.log)
        with contextlib.suppress(OSError):  # Windows lets no file go that somebody reads; the next line tries again
            if file.stat().st_size > MOST_BYTES:
                os.replace(file, file.with_suffix(".log.1"))
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(f"{moment} {job}: {line}\n")


def _moment(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):  # a clock beyond the year 9999
        return f"{at:.0f}s"


def log_error(paths: Paths, job: str, error: BaseException) -> None:
    """One line for an error: ours in its own words, any other with the place it came from."""
    from hippo_core.errors import HippoError

    log(paths, job, str(error) if isinstance(error, HippoError) else unforeseen(error))


def unforeseen(error: BaseException) -> str:
    """What an error that is none of ours says, and where it came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}: {error}"
