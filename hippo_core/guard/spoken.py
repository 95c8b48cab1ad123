"""Whether the user really said something: the check behind every memory that claims to be in their own words.

Looks at what they typed in the newest sessions of this folder, as the client's transcripts have it, because a tool call
alone is the model's word. Knows nothing of memories.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from hippo_core.errors import TranscriptError
from hippo_core.model.message import Role
from hippo_core.paths import client_home
from hippo_core.transcripts.claude_code import Transcript

_NEWEST_FILES = 3  # the session's own id may be stale after /clear, and two sessions may run side by side
_TAIL = 4_000_000  # bytes at a transcript's end that count as recent
_PAUSE = 0.2  # seconds between two looks
_LONGEST_FOLDER = 200  # characters of a folder's name
_LONGEST = 10_000  # letters; no memory is longer
_LONGEST_ASKING = 200  # letters
_MOST_PLACES = 1_000  # at which a turn is looked at
_OUTER = " \t\r\n\"'`.,;:!?。，；：！？"
_QUOTES = r"\"'`“”‘’«»„()\[\]*_"
# Where what is asked to be kept may begin: with the turn, a sentence, a line of its own, or behind the asking. Nowhere
# else, for behind "never" it would be the contrary.
_BEGINS = re.compile(
    rf"(?:\A|[.!?;:…—–](?=[\s{_QUOTES}])|[。！？；：]|\n\s*(?:[-*•]|\d+[.)])\s|(?P<line>\n)|(?P<comma>,))"
    rf"[\s{_QUOTES}]*(?:(?:hey|hi|ok(?:ay)?|yes|so|also|and|please|claude|can you|could you|i want you to)\b[\s,]*)*"
    r"(?P<asked>(?:remember|note|memori[sz]e|keep in mind|store|save|(?:don['’]t|do not) forget)\b[\s,:]*"
    rf"(?:(?:this|that|to|for me)\b[\s,:]*)*)?[{_QUOTES}]*\Z",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"[\s{_QUOTES}]*(?:\Z|[.!;…](?!\w)|[。！；])|[ \t{_QUOTES}]*\n\s*[^\sa-z]")


def spoken_by_user(text: str, folder: str, session_id: str | None = None, patience: float = 0.0) -> bool:
    """Whether `text` is a sentence, or several, of a recent turn of the user, but for case, white space and outer
    punctuation. A part of a sentence may say the contrary of it.

    patience: seconds to wait for it to arrive there, because clients write their transcripts behind the conversation.
    """
    words = text.strip(_OUTER).split() if len(text) <= _LONGEST else []
    wanted = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    deadline = time.monotonic() + patience
    while words:
        if any(_says(said, wanted) for file in _live_transcripts(folder, session_id) for said in _turns(file)):
            return True
        if time.monotonic() >= deadline:
            break
        time.sleep(_PAUSE)
    return False


def _says(said: str, wanted: re.Pattern[str]) -> bool:
    """Whether a turn has these words as a whole."""
    return any(
        _begins(said, found.start()) and _ENDS.match(said, found.end())
        for found in islice(wanted.finditer(said), _MOST_PLACES)
    )


def _begins(said: str, place: int) -> bool:
    before = _BEGINS.search(said, max(0, place - _LONGEST_ASKING), place)
    if before is None or before["asked"]:
        return before is not None
    return not before["comma"] and not (before["line"] and said[place].islower())  # a sentence may be broken into lines


def _turns(file: Path) -> Iterator[str]:
    """What the user said near the end of a transcript; nothing where it cannot be read."""
    with contextlib.suppress(OSError, TranscriptError):
        for message in Transcript(file, max(0, file.stat().st_size - _TAIL)):
            if message.role is Role.USER:
                yield message.text


def _live_transcripts(folder: str, session_id: str | None) -> Iterator[Path]:
    """The transcripts that may hold the running session, the likeliest first."""
    projects = client_home() / "projects"
    spellings = dict.fromkeys((folder, os.path.realpath(folder)))
    here = [place for spelling in spellings for place in _of_folder(projects, spelling)]
    named = f"{session_id}.jsonl" if session_id and re.fullmatch(r"[\w-]+", session_id) else None
    files = sorted((file for place in here for file in place.glob("*.jsonl")), key=_changed, reverse=True)
    return (file for place, file in enumerate(files) if place < _NEWEST_FILES or file.name == named)


def _of_folder(projects: Path, folder: str) -> Iterable[Path]:
    """Where the client keeps a folder's transcripts: a dash for each UTF-16 unit that is no letter and no digit."""
    name = re.sub(r"[^A-Za-z0-9]", lambda sign: "--" if sign[0] > "\uffff" else "-", folder)
    # It cuts a long name off, and puts a hash of its own behind.
    return [projects / name] if len(name) <= _LONGEST_FOLDER else projects.glob(f"{name[:_LONGEST_FOLDER]}-*")


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
