"""What is read of a transcript's record: the fields from which speech and identity are made.

All others, most of a transcript's bytes, are passed over as they are decoded. A field may hold anything, since a
foreign file may: these types refuse no JSON. Knows nothing of what a field means, but for which records say nothing.
"""

from typing import Any, TypedDict

try:
    import msgspec
except ImportError:  # where it has no wheel; each line is decoded whole then
    msgspec = None

_Plain = str | int | float | bool | None


class _Block(TypedDict, total=False):
    type: Any
    text: Any


_Content = list[_Block | list | _Plain] | _Block | _Plain


class _Message(TypedDict, total=False):
    model: Any
    content: _Content


class _Attachment(TypedDict, total=False):
    type: Any
    commandMode: Any
    prompt: _Content
    origin: Any
    turnOrigin: Any


class _Unread(TypedDict):
    """An object of which only matters that it is there."""


class _Record(TypedDict, total=False):
    type: Any
    uuid: Any
    sessionId: Any
    agentId: Any
    leafUuid: Any
    timestamp: Any
    cwd: Any
    gitBranch: Any
    origin: Any
    turnOrigin: Any
    promptSource: Any
    operation: Any
    summary: Any
    isSidechain: Any
    isMeta: Any
    isCompactSummary: Any
    isVisibleInTranscriptOnly: Any
    isApiErrorMessage: Any
    toolUseResult: _Unread | list[_Unread | list | _Plain] | _Plain
    message: _Message | list[_Block | list | _Plain] | _Plain
    content: _Content
    attachment: _Attachment | list | _Plain


_decode = msgspec.json.Decoder(_Record).decode if msgspec else None
_SPEAKING = ("user", "assistant", "summary", "queue-operation", "attachment")


def heard(body: bytes) -> list[dict[str, Any]] | None:
    """The record on a line, in a list, which is empty where it says nothing; None as `recorded` has it."""
    records = recorded(body)
    return [] if records and says_nothing(records[0]) else records


def recorded(body: bytes) -> list[dict[str, Any]] | None:
    """The record on a line, in a list, whatever it says.

    None where the line is anything else than one record: it may be damaged, and only that, or two of them.
    """
    if _decode is None:
        return None
    try:
        return [_decode(body)]
    except (ValueError, RecursionError):
        return None


def says_nothing(record: dict[str, Any]) -> bool:
    """Whether a record is certainly no speech: most are what tools were given and gave back."""
    kind = record.get("type")
    if kind == "user":
        return record.get("toolUseResult") is not None and not record.get("isCompactSummary")
    return kind not in _SPEAKING
