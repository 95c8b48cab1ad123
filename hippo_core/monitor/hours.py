"""When not to disturb: the user's quiet hours, and the switch that mutes everything until a time.

Quiet hours are local time. Knows nothing of what would be said.
"""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

from hippo_core.errors import UsageError
from hippo_core.paths import Paths, write_atomic

_QUIET = re.compile(r"\s*(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})\s*")
_DURATION = re.compile(r"(\d+)\s*([mhdw])")
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LONGEST_MUTE = 90 * 86_400  # a switch that is forgotten must not be for ever


def quiet_until(setting: str, now: float) -> float | None:
    """When the quiet hours end that `now` falls into; None outside them. UsageError for a setting that is no span."""
    if not setting.strip():
        return None
    match = _QUIET.fullmatch(setting)
    if not match or int(match[1]) > 23 or int(match[3]) > 23 or int(match[2]) > 59 or int(match[4]) > 59:
        raise UsageError(f'quiet_hours must look like "22:00-07:00", or be "" for none; it is {setting!r}.')
    start, end = (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))
    local = datetime.fromtimestamp(now)
    at = (local.hour, local.minute)
    within = start <= at < end if start <= end else at >= start or at < end
    if not within:
        return None
    morning = local.replace(hour=end[0], minute=end[1], second=0, microsecond=0)
    return (morning if morning > local else morning + timedelta(days=1)).timestamp()


def muted_until(paths: Paths, now: float) -> float | None:
    """Until when everything is muted; None when it is not, or when the switch cannot be read."""
    try:
        until = float(json.loads(_switch(paths).read_bytes())["until"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return until if now < until <= now + LONGEST_MUTE else None


def mute(paths: Paths, until: float) -> None:
    write_atomic(_switch(paths), json.dumps({"until": until}).encode())


def unmute(paths: Paths) -> None:
    _switch(paths).unlink(missing_ok=True)


def parse_duration(text: str) -> float:
    """Seconds of "30m", "4h", "2d" or "1w"."""
    match = _DURATION.fullmatch(text.strip().lower())
    if not match or not int(match[1]):
        raise UsageError(f"{text!r} is no length of time: write 30m, 4h, 2d or 1w.")
    return float(int(match[1]) * _SECONDS[match[2]])


def parse_moment(text: str, now: float) -> float:
    """The local time that "18:30" (the next one), "2026-12-01" or "2026-12-01 18:30" names."""
    words, local = text.strip(), datetime.fromtimestamp(now)
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}", words):
            clock_time = datetime.strptime(words, "%H:%M")
            moment = local.replace(hour=clock_time.hour, minute=clock_time.minute, second=0, microsecond=0)
            return (moment if moment > local else moment + timedelta(days=1)).timestamp()
        return datetime.fromisoformat(words).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f'{text!r} is no time: write 18:30, 2026-12-01 or "2026-12-01 18:30".') from None


def _switch(paths: Paths) -> Path:
    return paths.alerts / "mute.json"
