"""Claude Code's settings file: what it was before us, and how to leave it so. Standard library only.

The client rewrites the whole file in its own form when it registers a plugin, so a copy of the bytes before is kept. If
the file was edited since, that copy is out of date, and our keys are cut out of the text as it then is. Knows nothing
of how a plugin is registered.
"""

import base64
import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from json.decoder import JSONDecoder, scanstring
from pathlib import Path

from hippo_core.errors import InstallError
from hippo_core.paths import write_atomic
from hippo_core.registration import MARKETPLACE, PLUGIN, values

OUR_KEYS = (("enabledPlugins", PLUGIN), ("extraKnownMarketplaces", MARKETPLACE))

_SPACE = re.compile(r"[ \t\r\n]*")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Before:
    """A settings file before we were registered. data: its bytes, None where there was no file.

    left: digest of the file as our registration left it, None where it was edited since, or not seen.
    """

    data: bytes | None
    left: str | None = None

    def to_json(self) -> dict:
        return {"data": None if self.data is None else base64.b64encode(self.data).decode(), "left": self.left}

    @classmethod
    def from_json(cls, value: dict) -> "Before":
        return cls(None if value["data"] is None else base64.b64decode(value["data"]), value["left"])


def read(path: Path) -> bytes | None:
    """The file's bytes, None where there is none. InstallError where it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstallError(
            f"{path} cannot be read ({error.strerror or error}), so nothing was changed in it. Mend that and run this "
            "again."
        ) from error


def write(path: Path, data: bytes | None) -> None:
    """Make the file hold `data`, or be gone. Keeps its mode, and a link that leads to it."""
    target = Path(os.path.realpath(path))
    if data is None:
        target.unlink(missing_ok=True)
    elif read(target) != data:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        write_atomic(target, data, mode)
        os.chmod(target, mode)  # what the process's umask took away


def digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def names_us(data: bytes | None) -> bool:
    """Whether our plugin or our marketplace is in these settings."""
    value = values(data)
    return any(isinstance(value.get(group), dict) and key in value[group] for group, key in OUR_KEYS)


def restored(found: bytes | None, before: Before | None) -> bytes | None:
    """The settings without us, from how they are `found` now; None: there should be no file.

    As before to the byte if nothing else was changed; else as found without our keys, and without the groups that only
    held those. Settings that cannot be read as JSON are left as found.
    """
    if found is None or (before and before.left is not None and digest(found) == before.left):
        return found if found is None else before.data
    try:
        text = found.decode("utf-8")
        known = values(before.data) if before else {}
        for group, key in OUR_KEYS:
            rest = cut(text, (group, key))
            emptied = rest != text and values(rest.encode("utf-8")).get(group) == {}
            text = cut(rest, (group,)) if emptied and group not in known else rest
    except ValueError:
        return found
    if before and _meaning(text.encode("utf-8")) == _meaning(before.data):
        return before.data
    return text.encode("utf-8")


def cut(text: str, path: tuple[str, ...]) -> str:
    """JSON `text` without the member at `path`, every other character as it was. ValueError if it is no JSON object."""
    while True:
        start = len(text) - len(text.removeprefix(_BYTE_ORDER_MARK))
        span = _find(text, _skip(text, start), path)
        if span is None:
            return text
        text = text[: span[0]] + text[span[1] :]


def _find(text: str, start: int, path: tuple[str, ...]) -> tuple[int, int] | None:
    """What to cut so that the member at `path` of the object at `start` is gone."""
    members, end = _members(text, start)
    for place, (name, key_start, value_start, value_end) in enumerate(members):
        if name != path[0]:
            continue
        if len(path) > 1:
            inner = _find(text, value_start, path[1:]) if text[value_start] == "{" else None
            if inner:
                return inner
        elif place + 1 < len(members):
            return key_start, members[place + 1][1]
        elif place:
            return members[place - 1][3], value_end
        else:
            return start + 1, end
    return None


def _members(text: str, start: int) -> tuple[list[tuple[str, int, int, int]], int]:
    """(name, where its key, its value and its end are) of each member of the object at `start`; its closing brace."""
    if text[start : start + 1] != "{":
        raise ValueError("not a JSON object")
    decoder, members = JSONDecoder(strict=False), []
    at = _skip(text, start + 1)
    while text[at : at + 1] == '"':
        name, colon = scanstring(text, at + 1, False)
        value_start = _skip(text, _skip(text, colon) + 1)
        _, value_end = decoder.raw_decode(text, value_start)
        members.append((name, at, value_start, value_end))
        at = _skip(text, value_end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    if text[at : at + 1] != "}":
        raise ValueError("not a JSON object")
    return members, at


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()


def _meaning(data: bytes | None) -> str:
    """What settings say, however they are written: the client knows no order, and one kind of number (1.0 is 1)."""
    return json.dumps(values(data, parse_int=float, parse_float=float), sort_keys=True)
