"""The one clock. Times are seconds since the epoch, UTC, as floats; tests set HIPPO_NOW to stop it.

What a person or a model reads is by the clock on the user's wall, as are the times that a question names; JSON is UTC.
"""

import os
import time

from hippo_core.counting import counted

DAY = 86_400.0


def now() -> float:
    """The current time in seconds since the epoch."""
    fixed = os.environ.get("HIPPO_NOW")
    return float(fixed) if fixed else time.time()


def ago(then: float, at: float | None = None) -> str:
    """`then` as a person says it: "today", "yesterday", "3 weeks", "5 months"."""
    days = ((now() if at is None else at) - then) / DAY
    if days < 1:
        return "today"
    if days < 2:
        return "yesterday"
    for unit, length in (("year", 365.0), ("month", 30.4), ("week", 7.0), ("day", 1.0)):
        if days >= 2 * length or (unit == "year" and days >= length):
            return counted(int(days / length), unit)
    return "today"


def since(then: float, at: float | None = None) -> str:
    """The same as a phrase of its own: "today", "3 weeks ago"."""
    age = ago(then, at)
    return age if age in ("today", "yesterday") else f"{age} ago"


def recently(then: float) -> str:
    """`since`, to the minute or the hour while that matters."""
    seconds = now() - then
    if seconds <= -60:
        return "in the future"
    if seconds < 60:
        return "just now"
    if seconds < 2 * 3_600:
        return f"{counted(int(seconds / 60), 'minute')} ago"
    return f"{counted(int(seconds / 3_600), 'hour')} ago" if seconds < DAY else since(then)


def day(at: float) -> str:
    """The day of `at`: "7 Nov 2026"."""
    return time.strftime("%d %b %Y", time.localtime(at)).lstrip("0")


def minute(at: float) -> str:
    """`at` to the minute: "2026-11-07 14:13"."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
