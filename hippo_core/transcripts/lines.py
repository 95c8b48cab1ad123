"""A JSON Lines file as lines and objects, however it is damaged: encodings, padding, broken and over-long lines.

Streams; keeps one line in memory. Knows nothing of what the objects mean.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

# The client's API takes no request over 32 MB, so a longer line holds nothing that anybody said.
LONGEST_LINE = 32 << 20
_PADDING = b"\0 \t\r\n"
_UTF8_MARK, _UTF16_MARKS = b"\xef\xbb\xbf", {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = json.JSONDecoder()


class Line(NamedTuple):
    """start, end: byte positions in the file. complete: it ends in a line feed. body: UTF-8, None when over-long."""

    start: int
    end: int
    complete: bool
    body: bytes | None


class Broken(ValueError):
    """A line that is not JSON. `records`: the objects in front of the damage."""

    def __init__(self, records: list[dict[str, Any]]):
        super().__init__("not JSON")
        self.records = records


def read_lines(file: BinaryIO, start: int = 0, silent: Callable[[bytes], bool] | None = None) -> Iterator[Line]:
    """The lines of `file` from byte `start`, which must be where a line begins. Only a line feed ends a line.

    silent: tells by the bytes of a complete line that it can be left out; the last line comes in any case.
    """
    file.seek(0)
    encoding = _UTF16_MARKS.get(file.read(2))
    file.seek(start)
    yield from _read_wide(file, start, encoding) if encoding else _read_narrow(file, start, silent)


def decode(body: bytes) -> list[dict[str, Any]]:
    """The JSON objects on one line, usually one. Values that are no objects are left out; raises Broken."""
    body = body.strip(_PADDING).removeprefix(_UTF8_MARK)
    if not body:
        return []
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = _decode_damaged(body)
    records: list[dict[str, Any]] = []
    position = 0
    while position < len(text):
        try:
            value, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            raise Broken(records) from None
        if isinstance(value, dict):
            records.append(value)
        while position < len(text) and text[position] in " \t\r\n\0,":
            position += 1
    return records


def storable(text: str) -> str:
    """`text` as SQLite can keep it: half surrogate pairs become U+FFFD, NUL goes."""
    if not text.isascii():
        text = _LONE_SURROGATE.sub("\ufffd", text)
    return text.replace("\0", "") if "\0" in text else text


def _read_narrow(file: BinaryIO, start: int, silent: Callable[[bytes], bool] | None) -> Iterator[Line]:
    left_out = None
    while body := file.readline(LONGEST_LINE):
        end = start + len(body)
        if body.endswith(b"\n"):
            if silent and silent(body):
                left_out = start, end, body
            else:
                left_out = None
                yield Line(start, end, True, body)
        else:
            left_out = None
            whole = len(body) < LONGEST_LINE
            end, complete = (end, False) if whole else _pass_over(file, end)
            yield Line(start, end, complete, body if whole else None)
        start = end
    if left_out:
        start, end, body = left_out
        yield Line(start, end, True, body)


def _pass_over(file: BinaryIO, end: int) -> tuple[int, bool]:
    """Where an over-long line ends, and whether a line feed ends it."""
    while rest := file.readline(LONGEST_LINE):
        end += len(rest)
        if rest.endswith(b"\n"):
            return end, True
    return end, False


def _read_wide(file: BinaryIO, start: int, encoding: str) -> Iterator[Line]:
    """UTF-16 re-coded line by line. A line feed is two bytes there, on an even position."""
    feed = "\n".encode(encoding)
    rest = b""
    while True:
        chunk = file.read(1 << 16)
        rest += chunk
        search = 0
        while (found := rest.find(feed, search)) >= 0:
            if found % 2:
                search = found + 1
                continue
            body = rest[: found + 2].decode(encoding, "replace").lstrip("\ufeff")
            yield Line(start, start + found + 2, True, body.encode("utf-8", "replace"))
            start, rest, search = start + found + 2, rest[found + 2 :], 0
        if not chunk:
            break
    if rest:
        body = rest.decode(encoding, "replace").lstrip("\ufeff")
        yield Line(start, start + len(rest), False, body.encode("utf-8", "replace"))


def _decode_damaged(body: bytes) -> str:
    """Bytes that are no UTF-8: Latin-1 when none of them form a character, else UTF-8 with the bad ones marked."""
    text = body.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    high = sum(byte >= 0x80 for byte in body)
    return body.decode("latin-1") if damaged == high else text
