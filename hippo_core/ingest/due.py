"""Sessions that are known to be over: small notes which outlive the process that left them.

Whoever cannot run a pass, because another is running, leaves a note; the next pass to look, or the one at work when it
ends, distils that session without waiting for it to rest. Losing a note costs only that wait.
"""

import contextlib
from collections.abc import Iterable

from hippo_core.paths import Paths, write_atomic
from hippo_core.project import short_digest


def note_over(paths: Paths, session_id: str) -> None:
    """Leave the note that a session is over."""
    write_atomic(_file(paths, session_id), session_id.encode("utf-8", "surrogatepass"))


def noted(paths: Paths) -> set[str]:
    """The sessions that notes were left for."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for file in (paths.run / "over").iterdir():
            if not file.name.startswith("."):
                found.add(file.read_bytes().decode("utf-8", "surrogatepass"))
    return found


def forget_notes(paths: Paths, sessions: Iterable[str]) -> None:
    """Take away the notes of sessions that were seen to."""
    for session_id in sessions:
        with contextlib.suppress(OSError):
            _file(paths, session_id).unlink(missing_ok=True)


def _file(paths: Paths, session_id: str):
    return paths.run / "over" / short_digest(session_id)
