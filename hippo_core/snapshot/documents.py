"""The files of a snapshot: what each is called, how a memory is written as Markdown and read back, what a list says.

Equal states give equal bytes, so that a night without a change is no new snapshot. Knows no git and no store.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from hippo_core import __version__
from hippo_core.counting import counted
from hippo_core.model.memory import Memory, memory_id, parse_id
from hippo_core.model.scope import GLOBAL_SCOPE, Scope
from hippo_core.model.types import MemoryType
from hippo_core.paths import Paths

CONFIG, NUDGE, VERSION = "config.json", "nudge.txt", "version.json"
_FENCE = "---"
_MEMORY_FILE = re.compile(r"(?:rules|memories/[a-z]+)/(m[0-9a-f]+)\.md")
Files = dict[str, bytes]


class NotADocument(ValueError):
    """A file is no memory as `memory_document` writes it."""


@dataclass(frozen=True)
class Kept:
    """A memory as a snapshot has it."""

    id: int
    text: str
    type: MemoryType
    scope: Scope
    pinned: bool
    always: bool
    domain: str | None
    created_at: float
    confirmed_at: float

    @property
    def public_id(self) -> str:
        return memory_id(self.id)


def documents(
    memories: Iterable[Memory], scopes: Mapping[str, Scope], as_they_are: Files, nudge: str | None, plugin: Files
) -> Files:
    """All files of a snapshot, by path. as_they_are: those that are kept byte for byte."""
    files = {memory_path(memory): memory_document(memory, scopes[memory.scope]) for memory in memories}
    versions = {"hippocampus": __version__, "plugin": _plugin_version(plugin)}
    files[VERSION] = json.dumps(versions, indent=2, sort_keys=True).encode() + b"\n"
    if nudge is not None:
        files[NUDGE] = nudge.encode("utf-8", "replace") + b"\n"
    return files | as_they_are | {f"plugin/{name}": data for name, data in plugin.items()}


def memory_path(memory: Memory) -> str:
    folder = "rules" if memory.type is MemoryType.RULE else f"memories/{memory.type.value}"
    return f"{folder}/{memory.public_id}.md"


def memory_in(path: str) -> int | None:
    """The row number of the memory that a path holds; None for any other file."""
    match = _MEMORY_FILE.fullmatch(path)
    return parse_id(match[1])[1] if match else None


def compared(before: Mapping[str, object], now: Mapping[str, object]) -> tuple[int, int, int]:
    """(added, changed, removed) files, of what each path held before and holds now."""
    changed = sum(before[path] != now[path] for path in before.keys() & now.keys())
    return len(now.keys() - before.keys()), changed, len(before.keys() - now.keys())


def summary(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """What a list of snapshots says of one; numbers alone, so that nothing in it is ever to be forgotten."""
    rules = sum(path.startswith("rules/") for path in now)
    memories = sum(memory_in(path) is not None for path in now) - rules
    added, changed, removed = compared(before, now)
    holds = f"{counted(rules, 'rule')}, {counted(memories, 'memory')}"
    return f"{holds}; files added {added}, changed {changed}, removed {removed}"


def memory_document(memory: Memory, scope: Scope) -> bytes:
    """A memory as Markdown: each fact on a line, as JSON writes it, then the text as it was written."""
    facts = {
        "id": memory.public_id,
        "type": memory.type.value,
        "scope": scope.kind,
        "project": scope.label if scope != GLOBAL_SCOPE else None,
        "scope identity": scope.identity or None,
        "scope key": scope.key,
        "domain": memory.domain,
        "standing": memory.always or None,
        "pinned": memory.pinned or None,
        "created": _iso(memory.created_at),
        "confirmed": _iso(memory.confirmed_at),
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items() if value is not None]
    head = "\n".join([_FENCE, *lines, _FENCE, ""])
    return (head + "\n" + memory.text).encode("utf-8", "surrogatepass") + b"\n"


def read_memory(data: bytes) -> Kept:
    """What `memory_document` wrote; NotADocument for anything else."""
    try:
        start, head, rest = data.decode("utf-8", "surrogatepass").split(f"{_FENCE}\n", 2)
        facts = {
            name: json.loads(value)
            for name, _, value in (line.partition(": ") for line in head.removesuffix("\n").split("\n"))
        }
        if start or not rest.startswith("\n") or not rest.endswith("\n"):
            raise NotADocument("it is not framed as a memory")
        kind = str(facts["scope"])
        identity, label = str(facts.get("scope identity", "")), str(facts.get("project", ""))
        scope = GLOBAL_SCOPE if kind == GLOBAL_SCOPE.kind else Scope(str(facts["scope key"]), kind, label, identity)
        return Kept(
            id=parse_id(facts["id"])[1],
            text=rest[1:-1],
            type=MemoryType(facts["type"]),
            scope=scope,
            pinned=bool(facts.get("pinned")),
            always=bool(facts.get("standing")),
            domain=facts.get("domain"),
            created_at=datetime.fromisoformat(facts["created"]).timestamp(),
            confirmed_at=datetime.fromisoformat(facts["confirmed"]).timestamp(),
        )
    except NotADocument:
        raise
    except Exception as error:  # whatever an editor or a damaged disk made of it
        raise NotADocument(f"it cannot be read ({type(error).__name__})") from error


def plugin_files(paths: Paths) -> Files:
    """The staged plugin's files, by their path in it."""
    files = {}
    for path in sorted(paths.plugin.rglob("*")) if paths.plugin.is_dir() else []:
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(paths.plugin).as_posix()] = path.read_bytes()
    return files


def _plugin_version(plugin: Files) -> str | None:
    for name, data in plugin.items():
        if name.endswith(".claude-plugin/plugin.json"):
            try:
                return str(json.loads(data)["version"])
            except (ValueError, KeyError, TypeError):
                return None
    return None


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).isoformat(timespec="microseconds")
