"""A JSON Lines file as lines and objects, however it is damaged: encodings, padding, broken and over-long lines.

Streams; keeps one line in memory. Knows nothing of what the objects mean.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

# The client's API takes no request over 32 MB, so a longer line holds nothing that anybody said.
LONGEST_LINE = 32 << 20
_PADDING = b"\0 \t\r\n"
_UTF8_MARK, _UTF16_MARKS = b"\xef\xbb\xbf", {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BEGINNING = '{"parentUuid":'  # of what the client writes when something is said; inside a string it is escaped
_MOST_CUTS = 8  # on one line; to try them all could take for ever
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = json.JSONDecoder()


class Line(NamedTuple):
    """start, end: byte positions in the file. complete: it ends in a line feed. objects: those that could be read,
    usually one. broken: it is over-long, or not all JSON.
    """

    start: int
    end: int
    complete: bool
    objects: Sequence[dict[str, Any]]
    broken: bool

    @property
    def unfinished(self) -> bool:
        """Whether it is still being written."""
        return not self.complete and (self.broken or not self.objects)


def pass_by(line: bytes) -> None:
    """What is done with the bytes of a line, if nobody wants them."""


def read_lines(
    file: BinaryIO,
    start: int,
    heard: Callable[[bytes], list[dict[str, Any]] | None],
    passed: Callable[[bytes], None] = pass_by,
) -> Iterator[Line]:
    """The lines of `file` from byte `start`, which must be where a line begins. Only a line feed ends a line.

    heard: a complete line's objects, by a shorter way; None when it cannot tell. A line without any is left out, but
    the last one comes in any case. passed: gets the bytes of each line before it comes or is left out, but those of an
    unfinished one only where it is over-long, as nobody could hold them.
    """
    file.seek(0)
    encoding = _UTF16_MARKS.get(file.read(2))
    file.seek(start)
    yield from _read_wide(file, start, encoding, passed) if encoding else _read_narrow(file, start, heard, passed)


def decode(body: bytes) -> tuple[list[dict[str, Any]], bool]:
    """The JSON objects on one line, and whether it is broken before or behind any. Other values are left out."""
    body = body.strip(_PADDING).removeprefix(_UTF8_MARK)
    if not body:
        return [], False
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = _decode_damaged(body)
    objects, end = _objects(text, 0)
    return objects + _behind(text, end), end < len(text)


def storable(text: str) -> str:
    """`text` as SQLite can keep it: half surrogate pairs become U+FFFD, NUL goes."""
    if not text.isascii():
        text = _LONE_SURROGATE.sub("\ufffd", text)
    return text.replace("\0", "") if "\0" in text else text


def _objects(text: str, position: int) -> tuple[list[dict[str, Any]], int]:
    """The objects from there on, and where the first damage is, else the end."""
    objects: list[dict[str, Any]] = []
    while position < len(text):
        try:
            value, position = _decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            objects.append(value)
        while position < len(text) and text[position] in " \t\r\n\0,":
            position += 1
    return objects, position


def _behind(text: str, damage: int) -> list[dict[str, Any]]:
    """The records that follow one which was cut off, as when the client was killed: only those that end the line.

    What a record holds does not end its line, and so is never taken for one.
    """
    for _ in range(_MOST_CUTS):
        damage = text.find(_BEGINNING, damage + 1)
        if damage < 0:
            break
        objects, end = _objects(text, damage)
        if end == len(text):
            return objects
    return []


def _read_narrow(
    file: BinaryIO,
    start: int,
    heard: Callable[[bytes], list[dict[str, Any]] | None],
    passed: Callable[[bytes], None],
) -> Iterator[Line]:
    left_out = False
    while body := file.readline(LONGEST_LINE):
        end = start + len(body)
        if body.endswith(b"\n"):
            passed(body)
            objects = heard(body)
            left_out = objects == []
            if objects:
                yield Line(start, end, True, objects, False)
            elif objects is None:
                yield Line(start, end, True, *decode(body))
        else:
            left_out = False
            if len(body) < LONGEST_LINE:
                line = Line(start, end, False, *decode(body))
                if not line.unfinished:
                    passed(body)
                yield line
            else:
                passed(body)
                end, complete = _pass_over(file, end, passed)
                yield Line(start, end, complete, [], True)
        last, start = start, end
    if left_out:
        yield Line(last, start, True, [], False)


def _pass_over(file: BinaryIO, end: int, passed: Callable[[bytes], None]) -> tuple[int, bool]:
    """Where an over-long line ends, and whether a line feed ends it."""
    while rest := file.readline(LONGEST_LINE):
        passed(rest)
        end += len(rest)
        if rest.endswith(b"\n"):
            return end, True
    return end, False


def _read_wide(file: BinaryIO, start: int, encoding: str, passed: Callable[[bytes], None]) -> Iterator[Line]:
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
            passed(rest[: found + 2])
            body = rest[: found + 2].decode(encoding, "replace").lstrip("\ufeff")
            yield Line(start, start + found + 2, True, *decode(body.encode("utf-8", "replace")))
            start, rest, search = start + found + 2, rest[found + 2 :], 0
        if not chunk:
            break
    if rest:
        body = rest.decode(encoding, "replace").lstrip("\ufeff")
        line = Line(start, start + len(rest), False, *decode(body.encode("utf-8", "replace")))
        if not line.unfinished:
            passed(rest)
        yield line


def _decode_damaged(body: bytes) -> str:
    """Bytes that are no UTF-8: Latin-1 when none of them form a character, else UTF-8 with the bad ones marked."""
    text = body.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    high = sum(byte >= 0x80 for byte in body)
    return body.decode("latin-1") if damaged == high else text
