"""The line a session starts with when memory is not well, rendered so that the hook only prints bytes.

render/health.json is the line itself, empty when all is well. render/late is what the hook says once that file is too
old: how old it may be, for how long the machine had been awake at its writing, and the line.
Every look that comes to its end writes it, so a monitor that starts and fails is late as well. No schedule, no such
file. Knows nothing of findings.
"""

import contextlib
from collections.abc import Sequence

from hippo_core import clock
from hippo_core.awake import awake
from hippo_core.paths import Paths, write_atomic
from hippo_core.render.document import context_document
from hippo_core.render.fence import one_line

_EVENT = "SessionStart"
_LONGEST = 240


def render(paths: Paths, troubles: Sequence[str]) -> None:
    """Put the foremost of `troubles` before every session that starts; none: say nothing."""
    document = context_document(_EVENT, _line(troubles)) if troubles else b""
    with contextlib.suppress(OSError):
        if (paths.render / "health.json").read_bytes() == document:
            return
    write_atomic(paths.render / "health.json", document)


def expect(paths: Paths, lateness: float, interval: float) -> None:
    """A session that starts `lateness` seconds from now or later is told, unless this was called again until then."""
    since, due = clock.day(clock.now()), f"due every {interval / 60:.0f} minutes"
    text = _line([f"nothing has watched over it since {since} ({due})"])
    head = b"%d %d\n" % (lateness, awake())  # rounded down: the clock never seems to have begun anew
    write_atomic(paths.render / "late", head + context_document(_EVENT, text))


def expect_nothing(paths: Paths) -> None:
    """There is no schedule, so nothing can be late."""
    (paths.render / "late").unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        paths.render.rmdir()  # where nothing was rendered yet, this leaves no trace


def _line(troubles: Sequence[str]) -> str:
    more = f"; and {len(troubles) - 1} more" if len(troubles) > 1 else ""
    return f"Memory health: {one_line(troubles[0], _LONGEST)}{more}. Tell the user: hippo doctor."
