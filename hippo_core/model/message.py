"""One thing that was said in a session. Plain data, the same for every client."""

from enum import Enum
from typing import NamedTuple


class Role(str, Enum):
    """Who speaks. PARENT is a prompt that an agent wrote for its sub-agent: never the user's words."""

    USER = "user"
    ASSISTANT = "assistant"
    PARENT = "parent"
    SUMMARY = "summary"


class Message(NamedTuple):
    """A message as a transcript gives it, before the guard has seen it.

    uid: unique over all files, the same wherever a resume or a fork repeats the message. at: seconds since the epoch,
    None where the record has no usable time. offset: the byte where its record begins. agent_id: set in a sub-agent's
    file, whose session_id is the parent's. command: the slash command whose arguments these are.
    """

    uid: str
    session_id: str
    role: Role
    text: str
    at: float | None
    cwd: str | None
    offset: int
    agent_id: str | None = None
    branch: str | None = None
    command: str | None = None
