"""A Claude Code transcript as messages: streamed, resumable at a byte, in the order of the file.

Owns identity (uids), the session and folder of a message, and which sessions are no conversation at all. Knows nothing
of the store, of redaction or of projects.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from hippo_core.errors import TranscriptError
from hippo_core.model.message import Message, Role
from hippo_core.transcripts.discover import agent_of, is_agent_file, session_of
from hippo_core.transcripts.injected import is_machine_prompt
from hippo_core.transcripts.lines import Line, pass_by, read_lines, storable
from hippo_core.transcripts.queue import Queue
from hippo_core.transcripts.record import heard, recorded, says_nothing
from hippo_core.transcripts.speech import Speech, first_words, queued_of, same_words, seconds, speech_of

_HEAD_LINES, _HEAD_BYTES = 200, 4 << 20
_READ_SIZE, _SMALL = 1 << 17, 8 << 20  # bytes
# How far before the resumed byte a queued prompt may lie whose user record is still to come.
_LOOK_BACK = 1 << 20


@dataclass
class _Head:
    """What the beginning of a file says about all of it."""

    session_id: str
    cwd: str | None = None
    machine: bool = False


class Transcript:
    """Iterate once to get the messages from byte `start` on. Raises TranscriptError when the file cannot be read.

    offset: the byte just past the last complete line consumed, from where a later reading goes on. ended: whether all
    was read. bad_lines: lines that are no JSON, each of which costs only itself. passed: gets the bytes from `start` to
    `offset` as they are read.
    """

    def __init__(self, path: Path, start: int = 0):
        self.path, self.start = path, start
        self.offset, self.bad_lines, self.ended = start, 0, False
        self.passed: Callable[[bytes | memoryview], None] = pass_by
        self._agent = agent_of(path)
        self._in_agent_file = is_agent_file(path)

    def __iter__(self) -> Iterator[Message]:
        return chain.from_iterable(self.portions(0, 0))

    def portions(self, size: int, count: int) -> Iterator[list[Message]]:
        """The messages in lists that end after about `size` bytes or `count` messages, each of all up to `offset`."""
        try:
            yield from self._read(size, count)
        except OSError as error:
            raise TranscriptError(f"{self.path} cannot be read ({error.strerror or error}).") from error

    def _read(self, size: int, count: int) -> Iterator[list[Message]]:
        with self.path.open("rb", buffering=_READ_SIZE) as opened:
            # A small file is read at once, and what is passed of it a portion: by the line it would take longer.
            whole = memoryview(opened.read()) if os.fstat(opened.fileno()).st_size <= _SMALL else None
            file, passed = (opened, self.passed) if whole is None else (BytesIO(whole), pass_by)
            queue = Queue()
            ahead: list[Line] = []
            # Also what says nothing: the folder and the session may be known from there alone.
            first = read_lines(file, 0, recorded, pass_by if self.start else passed)
            self._head = self._read_head(_noted(first, ahead))
            if self.start:
                self._replay(file, queue)
                lines = read_lines(file, self.start, heard, passed)
            else:
                lines = chain(ahead, read_lines(file, ahead[-1].end if ahead else 0, heard, passed))
            spoken: list[Message] = []
            begin = self.start
            for line in lines:
                if line.unfinished:
                    self.offset = line.start  # still being written: read again next time
                    break
                self.offset = line.end
                self.bad_lines += line.broken
                for record in line.objects if not self._head.machine else ():
                    spoken += self._messages(record, line.start, queue)
                if (line.end - begin >= size or len(spoken) >= count) and not queue.waits:
                    if whole is not None:
                        self.passed(whole[begin : line.end])
                    yield spoken
                    spoken, begin = [], line.end
            if whole is not None:
                self.passed(whole[begin : self.offset])
        self.ended = True
        yield [*spoken, *queue.close()]

    def _messages(self, record: dict[str, Any], offset: int, queue: Queue) -> Iterator[Message]:
        speech = speech_of(record, self._in_agent_file)
        if speech:
            message = self._message(record, speech, offset)
            said = same_words(speech) if speech.role is Role.USER else None
            yield from queue.spoken(message, said)
        elif typed := queued_of(record):
            queue.typed(self._message(record, typed, offset), same_words(typed))

    def _message(self, record: dict[str, Any], speech: Speech, offset: int) -> Message:
        session_id = _text(record, "sessionId") or self._head.session_id
        return Message(
            uid=self._uid(record, speech, session_id, offset),
            session_id=session_id,
            role=speech.role,
            text=storable(speech.text),
            at=seconds(record.get("timestamp")),
            cwd=_text(record, "cwd") or self._head.cwd,
            offset=offset,
            agent_id=_text(record, "agentId") or self._agent,
            branch=_text(record, "gitBranch"),
            command=storable(speech.command) if speech.command else None,
        )

    def _uid(self, record: dict[str, Any], speech: Speech, session_id: str, offset: int) -> str:
        """The record's uuid with a checksum of its words, so that a copy is the same and a mere namesake is not.

        Hand-made and converted transcripts number their records u1, u2. Without a uuid the time and the words are
        the identity, for a summary the message it ends at; without a time, the place in the file as well.
        """
        uuid = _text(record, "uuid")
        words = speech.raw.encode("utf-8", "replace")
        if uuid:
            return f"{uuid}.{crc32(words):08x}"
        known = _text(record, "leafUuid") or _text(record, "timestamp") or f"{session_id}:{self._agent}:{offset}"
        digest = blake2b(f"{speech.role.value}\n{known}\n".encode("utf-8", "replace") + words, digest_size=16)
        return f"derived-{digest.hexdigest()}"

    def _read_head(self, lines: Iterable[Line]) -> _Head:
        """The session, the folder, and whether a program held this session; from the first lines of the file."""
        session_id = cwd = prompt = None
        for number, line in enumerate(lines):
            for record in line.objects:
                session_id = session_id or _text(record, "sessionId")
                cwd = cwd or _text(record, "cwd")
                if not says_nothing(record) and (self._in_agent_file or not record.get("isSidechain")):
                    prompt = prompt or first_words(record)
            if number >= _HEAD_LINES or line.end >= _HEAD_BYTES or (session_id and cwd and prompt):
                break
        machine = bool(prompt) and (is_machine_prompt(prompt) or (self._in_agent_file and prompt == "Warmup"))
        return _Head(session_id or session_of(self.path), cwd, machine)

    def _replay(self, file: BinaryIO, queue: Queue) -> None:
        """Bring `queue` to where the reading before this one left it."""
        for line in read_lines(file, max(0, self.start - _LOOK_BACK), heard):
            if line.start >= self.start:
                break
            for record in line.objects:
                for _ in self._messages(record, line.start, queue):
                    pass
        queue.resume()


def _noted(lines: Iterator[Line], into: list[Line]) -> Iterator[Line]:
    """`lines`, each also put into a list as it goes by."""
    for line in lines:
        into.append(line)
        yield line


def _text(record: dict[str, Any], name: str) -> str | None:
    value = record.get(name)
    return storable(value) or None if isinstance(value, str) else None
