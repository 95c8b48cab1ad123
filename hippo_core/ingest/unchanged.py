"""Whether a transcript still holds what was read from it: by what the system says of the file, and by its bytes.

The first costs one call and decides on nearly every file. The second reads what was read before, so it is for files of
which the system says something new, and for a part of the others each day. Knows nothing of the store or of lines.
"""

import os
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from hippo_core.errors import TranscriptError

BYTES_A_DAY = 256 << 20  # that the backstop reads of files which look unchanged
_AT_ONCE = 1 << 20


class State(NamedTuple):
    """What the system says of a file. identity: which file it is, and when anything of it last changed.

    A program can set the time of a file's content, but not, on POSIX, that of the change itself.
    """

    size: int
    mtime_ns: int
    identity: str

    @classmethod
    def of(cls, stat: os.stat_result) -> "State":
        return cls(stat.st_size, stat.st_mtime_ns, f"{stat.st_ino}:{stat.st_ctime_ns}")

    @classmethod
    def now(cls, path: Path) -> "State":
        """Nothing at all where the system says nothing, as of a link that leads nowhere."""
        try:
            return cls.of(os.stat(path))
        except OSError:
            return cls(0, 0, "")


class Content:
    """A hash of a file's first bytes that goes on where it stands, so that an appended file's is that of all of it.

    It goes on with the very bytes that were read: those of the file may be others by then.
    """

    def __init__(self, path: Path):
        # It tells a change and guards nothing. Processors have instructions for this one: twice as fast as BLAKE2.
        self._path, self._hash, self._to = path, sha1(usedforsecurity=False), 0

    def add(self, read: bytes | memoryview) -> None:
        """Go on with bytes that were read behind those before."""
        self._hash.update(read)
        self._to += len(read)

    def digest_at(self, offset: int) -> bytes | None:
        """Of the bytes before `offset`, if those are the ones it was made of; else None, which no file's is."""
        return self._hash.digest() if self._to == offset else None

    def digest_to(self, offset: int) -> bytes:
        """Of the file's bytes before `offset`, or of all there are."""
        try:
            with open(self._path, "rb", buffering=0) as file:
                while self._to < offset and (some := file.read(min(_AT_ONCE, offset - self._to))):
                    self.add(some)
        except OSError as error:
            raise unreadable(self._path, error) from error
        return self._hash.digest()


def unreadable(path: Path, error: OSError) -> TranscriptError:
    return TranscriptError(f"{path} cannot be read ({error.strerror or error}).")


def due_on(day: int, sizes: Mapping[str, int]) -> set[str]:
    """The files whose bytes are compared on that day: about BYTES_A_DAY of them, and each of them in its turn."""
    turns = -(-sum(sizes.values()) // BYTES_A_DAY)
    return {name for name in sizes if turns < 2 or crc32(name.encode()) % turns == day % turns}
