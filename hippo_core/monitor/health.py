"""The line a session starts with when memory is not well, rendered so that the hook only prints bytes.

render/health.json is the line itself, empty when all is well. render/late is what the hook says when the monitor does
not run any more: how late it may be, this process's monotonic clock (which stands still while the machine sleeps), and
the line. No schedule, no such file. Knows nothing of findings.
"""

import contextlib
import time
from collections.abc import Sequence

from hippo_core import clock
from hippo_core.paths import Paths, write_atomic
from hippo_core.render.document import context_document
from hippo_core.render.fence import one_line

_EVENT = "SessionStart"
_LONGEST = 240


def render(paths: Paths, troubles: Sequence[str]) -> None:
    """Put the foremost of `troubles` before every session that starts; none: say nothing."""
    _write(paths, "health.json", context_document(_EVENT, _line(troubles)) if troubles else b"")


def expect(paths: Paths, lateness: float, interval: float) -> None:
    """From now on a session says when the monitor has not run for `lateness` seconds."""
    since, due = clock.day(clock.now()), f"due every {interval / 60:.0f} minutes"
    text = _line([f"nothing has watched over it since {since} ({due})"])
    head = f"{lateness:.0f} {time.monotonic():.0f}\n".encode()
    _write(paths, "late", head + context_document(_EVENT, text))


def expect_nothing(paths: Paths) -> None:
    """There is no schedule, so nothing can be late."""
    (paths.render / "late").unlink(missing_ok=True)


def _line(troubles: Sequence[str]) -> str:
    more = f"; and {len(troubles) - 1} more" if len(troubles) > 1 else ""
    return f"Memory health: {one_line(troubles[0], _LONGEST)}{more}. Tell the user: hippo doctor."


def _write(paths: Paths, name: str, data: bytes) -> None:
    with contextlib.suppress(OSError):
        if (paths.render / name).read_bytes() == data:
            return
    write_atomic(paths.render / name, data)
