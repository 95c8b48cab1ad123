"""How memories and messages are shown by several commands: a line each, and as JSON."""

from typing import Any

from hippo_core import clock
from hippo_core.cli.recall import on_terminal
from hippo_core.model.memory import Memory
from hippo_core.recall.present import SPEAKERS, harmless
from hippo_core.store.archive import Archived
from hippo_core.store.journal import Entry

_LINE = 100  # letters of a memory's text in a list
_DEEDS = {
    "add": "stored",
    "update": "changed",
    "reinforce": "confirmed",
    "supersede": "replaced by a newer one",
    "retire": "retired",
    "undo": "brought back",
}
_THROUGH = {
    "user": "by you",
    "distil": "from a session",
    "memory_add": "by the agent",
    "dream": "in the night's tidying",
    "restore": "from a snapshot",
}


def memory_line(memory: Memory, label: str) -> str:
    """One line: id, type, age, scope, the beginning of the text."""
    about = harmless(" · ".join((memory.type.value, clock.ago(memory.confirmed_at), label)))
    said = "  " + on_terminal("faint", "said by you") if memory.frozen else ""
    return f"{on_terminal('number', memory.public_id.ljust(6))} {on_terminal('head', about)}{said}  {cut(memory.text)}"


def message_line(message: Archived, label: str) -> str:
    """One line: id, speaker, age, project, the beginning of the text."""
    age = "undated" if message.at is None else clock.ago(message.at)
    about = harmless(" · ".join((SPEAKERS[message.role.value], age, label)))
    return f"{on_terminal('number', message.public_id.ljust(6))} {on_terminal('head', about)}  {cut(message.text)}"


def deed(entry: Entry) -> str:
    """What happened to a memory, and through whom: `stored, from a session`."""
    return f"{_DEEDS.get(entry.action, entry.action)}, {_THROUGH.get(entry.actor, entry.actor)}"


def memory_json(memory: Memory, label: str) -> dict[str, Any]:
    """Every field, with the id as people write it."""
    return {"id": memory.public_id, "scope_label": label, **without_id(memory)}


def without_id(row: Memory | Archived) -> dict[str, Any]:
    """Every field but the id."""
    fields = row._asdict()
    del fields["id"]
    return fields


def cut(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"
