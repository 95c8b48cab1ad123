"""The ways out: the alerts' own log, always, and whatever addresses the user gave, through apprise.

apprise is an option of the installation and is loaded only to send. Knows nothing of what is sent, or when.
"""

import contextlib
import io
import logging
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import unquote

from hippo_core.log import log
from hippo_core.paths import Paths
from hippo_core.record import installer

LOG = "alerts.log"
DEADLINE = 20.0  # seconds for one letter, whatever a server or a desktop does with the connection


@dataclass(frozen=True)
class Channel:
    """An address. key: stands for it in files, which must not hold its password. name: its kind, for people."""

    address: str

    @property
    def key(self) -> str:
        return blake2b(self.address.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

    @property
    def name(self) -> str:
        kind, given, _ = self.address.partition("://")
        return kind[:20] if given else "?"


def channels(addresses: Sequence[str]) -> list[Channel]:
    """Each address once, in the order given."""
    return [Channel(address) for address in dict.fromkeys(addresses) if address.strip()]


def write_log(paths: Paths, about: str, text: str) -> None:
    """One line in the alerts' log: redacted, bounded, never failing."""
    log(paths, about, text, LOG)


def send(channel: Channel, title: str, body: str, urgent: bool, deadline: float = DEADLINE) -> str | None:
    """Deliver through one channel; None when it took it, else why not, in words that hold nothing of the address."""
    try:
        import apprise
    except ImportError:
        return f"what alerts need is not installed: {installer(' --with alerts')}"
    service = apprise.Apprise(asset=apprise.AppriseAsset(app_id="Hippocampus", async_mode=False))
    said = io.StringIO()
    with _complaints(said):
        if not service.add(channel.address):
            return f"apprise does not understand this {channel.name} address"
        kind = apprise.NotifyType.WARNING if urgent else apprise.NotifyType.INFO
        taken = _within(deadline, lambda: service.notify(body=body, title=title, notify_type=kind))
    if taken is None:
        return f"no answer within {deadline:.0f} seconds"
    if taken:
        return None
    return _without(channel.address, said.getvalue().strip().rpartition("\n")[2]) or "it was not taken"


def _without(address: str, said: str) -> str:
    """What was said, with a mark for each part of the address in it: whoever knows a topic or a token reads along."""
    rest = address.partition("://")[2]
    parts = {part for text in (rest, unquote(rest)) for part in re.split(r"[/:@?&=#,]+", text) if len(part) > 2}
    longest_first = "|".join(map(re.escape, sorted(parts, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{longest_first})(?!\w)", "***", said, flags=re.IGNORECASE) if parts else said


def _within(seconds: float, call: Callable[[], bool | None]) -> bool | None:
    """The call's answer; None when there is none in time. A thread that hangs dies with this process."""
    answer: list[bool] = []

    def work() -> None:
        try:
            answer.append(bool(call()))
        except Exception:  # a plugin's own failure
            answer.append(False)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else None


@contextlib.contextmanager
def _complaints(into: io.StringIO):
    """What apprise's own log says meanwhile; nothing of it reaches a terminal."""
    logger, handler = logging.getLogger("apprise"), logging.StreamHandler(into)
    before, level = logger.propagate, logger.level
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
        logger.setLevel(level)
