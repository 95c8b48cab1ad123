"""What was asked of services that somebody pays for: requests and tokens by month, never a word of what was sent.

Each answer adds one line to the file of its month (usage/2026-11.jsonl), by whoever asked: a search may not write the
store. A month that is over is summed up in its own file: the lines go, the sums stay, and as both add up to the same,
no crash between them counts anything twice. Knows no price: what a token costs is between the user and the service.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hippo_core import clock
from hippo_core.errors import HippoError
from hippo_core.paths import Paths, current, ensure_private, write_atomic

_FILE = re.compile(r"\d{4}-\d\d\.jsonl")
_SETTLED = 2 * clock.DAY  # after which a month is over in every time zone
_MOST = 10**15  # tokens; whoever says more is not to be believed


@dataclass(frozen=True)
class Used:
    """What one model of one service was asked: in the month that runs, by the user's clock, and in all.

    tokens: as the service counted them in its answers, 0 where these do not say.
    """

    service: str
    model: str
    tokens_this_month: int = 0
    requests_this_month: int = 0
    tokens: int = 0
    requests: int = 0


def service_at(url: str | None, name: str) -> str:
    """The name of a service: its own, or the host's that the settings put in its place."""
    with contextlib.suppress(ValueError):  # what is no address is for whoever calls it to say
        return urlsplit(url or "").hostname or name
    return name


def note(service: str, model: str, tokens: object) -> None:
    """One request was answered. tokens: as the answer has them. Whatever goes wrong here costs the answer nothing."""
    count = tokens if _is_count(tokens) else 0
    line = json.dumps({"service": service, "model": model, "requests": 1, "tokens": count}, ensure_ascii=False)
    with contextlib.suppress(OSError, ValueError, OverflowError, HippoError):
        file = ensure_private(current().usage) / f"{_month(clock.now())}.jsonl"
        # One write of a line to a file opened for appending: writers at the same time do not mix. It begins with the
        # line's end, so that what a full disk cut off before it spoils nothing else.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.write(descriptor, f"\n{line}".encode())
        finally:
            os.close(descriptor)


def used(paths: Paths) -> list[Used]:
    """What every service was asked so far, those of this month first."""
    this_month = f"{_month(clock.now())}.jsonl"
    found: dict[tuple[str, str], Used] = {}
    for file in _files(paths):
        for (service, model), (requests, tokens) in _sums(_read(file)).items():
            before = found.get((service, model), Used(service, model))
            now = file.name == this_month
            found[service, model] = Used(
                service,
                model,
                before.tokens_this_month + now * tokens,
                before.requests_this_month + now * requests,
                before.tokens + tokens,
                before.requests + requests,
            )
    return sorted(found.values(), key=lambda use: (-use.requests_this_month, use.service, use.model))


def sum_up(paths: Paths) -> None:
    """Make one line for each model of every month that is over."""
    running = f"{_month(clock.now() - _SETTLED)}.jsonl"
    for file in _files(paths):
        if file.name < running:
            with contextlib.suppress(OSError):
                before = file.read_bytes()
                lines = [
                    json.dumps({"service": service, "model": model, "requests": requests, "tokens": tokens},
                               ensure_ascii=False)
                    for (service, model), (requests, tokens) in _sums(before).items()
                ]  # fmt: skip
                data = "".join(f"\n{line}" for line in lines).encode()
                if data != before:
                    write_atomic(file, data)


def _sums(data: bytes) -> dict[tuple[str, str], tuple[int, int]]:
    """(requests, tokens) by (service, model) in one month's file; a line that is damaged is passed over."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for service, model, requests, tokens in _lines(data):
        before = sums.get((service, model), (0, 0))
        sums[service, model] = (before[0] + requests, before[1] + tokens)
    return sums


def _lines(data: bytes) -> Iterator[tuple[str, str, int, int]]:
    for line in data.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            note = json.loads(line)
            service, model, requests, tokens = (note[name] for name in ("service", "model", "requests", "tokens"))
            if isinstance(service, str) and isinstance(model, str) and _is_count(requests) and _is_count(tokens):
                yield service, model, requests, tokens


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _files(paths: Paths) -> Sequence[Path]:
    try:
        return sorted(file for file in paths.usage.iterdir() if _FILE.fullmatch(file.name))
    except OSError:
        return []


def _month(at: float) -> str:
    return time.strftime("%Y-%m", time.localtime(at))
