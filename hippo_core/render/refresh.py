"""Keeps the files that the hooks read equal to the store: one document each, replaced whole, only when it changed.

A project is rendered again only when its own memories, its sessions, what holds everywhere, a setting that shows in it,
the program or the day have changed; render/state.json remembers what came from what. Knows nothing of who changed the
store.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hippo_core import __version__, clock
from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.errors import UsageError
from hippo_core.model.memory import Memory
from hippo_core.model.scope import GLOBAL, Scope
from hippo_core.paths import Paths, for_agent, write_atomic
from hippo_core.recall.score import Aging
from hippo_core.render import budget
from hippo_core.render.document import context_document
from hippo_core.render.fence import one_line
from hippo_core.render.project import Knowledge, agent_block, session_block
from hippo_core.render.rules import Standing, has_its_place, reflexes, standing, user_rules
from hippo_core.store import Store

_DEFAULT = "default"
_DAY = 1  # the day's place in a state
_KINDS = ("project", "agent")
_COMMON = ("rules.json", "nudge.json", "reflexes.tsv")
# Where the power fails, POSIX systems leave a file short or empty, and so made anew; NTFS its whole length of zeros.
_DURABLE = os.name == "nt"
_PROJECT_RULES_TOKENS = 250  # of the standing rules' budget, kept free for a project's own
_MOST_ROUNDS = 5
_REFLEX_STATE_DAYS = 7
State = dict[str, list]
Sizes = dict[str, int]  # in bytes, of each file as it was made


def refresh(store: Store, paths: Paths) -> None:
    """Render what changed. Looks again before it ends, so that two writers at once cannot leave old text behind."""
    done, sizes = _read_state(paths)
    for _ in range(_MOST_ROUNDS):
        with store.reading():
            world = _look(store, paths)
            if world.state == done and _all_there(paths, world, sizes):
                break
            _render(store, paths, world, done, sizes)
        done = world.state
        write_atomic(_state_file(paths), json.dumps({"state": done, "sizes": sizes}).encode())
    _forget_old_reflexes(paths)


def is_current(store: Store, paths: Paths) -> bool:
    """Whether all that `refresh` renders is there and says what store and settings say, but for the ages of things."""
    with store.reading():
        world = _look(store, paths)
    done, sizes = _read_state(paths)
    return _all_there(paths, world, sizes) and _ageless(world.state) == _ageless(done)


def _ageless(state: State) -> State:
    """Without the day, which alone makes nothing wrong; in the form that the file keeps."""
    return json.loads(
        json.dumps({key: [value for i, value in enumerate(row) if i != _DAY] for key, row in state.items()})
    )


def standing_rules(store: Store, project: Scope | None = None) -> Standing:
    """The standing rules as they load in every session; those that `project` adds where one is given."""
    rules = user_rules(store)
    everywhere = _everywhere(rules)
    return _of_project(rules, project, everywhere) if project else everywhere


@dataclass(frozen=True)
class _World:
    """What there is to render. shared: memories that hold everywhere, but for the rules, which have their own place.

    counts: memories of each scope. state: for each file's stem, all that its text depends on.
    """

    projects: Mapping[str, Scope]
    sessions: Mapping[str, int]
    counts: Mapping[str, int]
    shared: Sequence[Memory]
    rules: Sequence[Memory]
    everywhere: Standing
    config: Config
    command: str
    now: float
    state: State


def _look(store: Store, paths: Paths) -> _World:
    now, config, command = clock.now(), _settings(paths), _command(paths)
    prints, sessions = store.memories.fingerprints(), store.archive.session_counts()
    known = {**store.archive.projects(), **store.memories.scopes()}
    projects = {
        key: scope for key, scope in known.items() if scope.kind == "project" and (key in prints or key in sessions)
    }
    rules = user_rules(store)
    everywhere = _everywhere(rules)
    shared = [memory for memory in store.memories.select(scopes=[GLOBAL], witnessed=True) if not has_its_place(memory)]
    of_settings = [config.nudge, repr(Aging.of(config))]
    common = [__version__, clock.day(now), command, of_settings, _versions(shared), bool(everywhere.total)]
    with_rules = {rule.scope for rule in rules}
    state: State = {
        key: [*common, scope.label, sessions.get(key, 0), prints.get(key), key in with_rules and everywhere.tokens]
        for key, scope in projects.items()
    }
    counts = {key: numbers[0] for key, numbers in prints.items()}
    state[_DEFAULT] = [*common, sum(counts.values()), bool(sessions), _versions(rules)]
    return _World(projects, sessions, counts, shared, rules, everywhere, config, command, now, state)


def _versions(memories: Sequence[Memory]) -> list[list[int]]:
    return [[memory.id, memory.version] for memory in memories]


def _render(store: Store, paths: Paths, world: _World, done: State, sizes: Sizes) -> None:
    _write(paths.render / "rules.json", context_document("SessionStart", world.everywhere.text), sizes)
    _write(paths.render / "nudge.json", context_document("UserPromptSubmit", one_line(world.config.nudge)), sizes)
    _write(paths.render / "reflexes.tsv", _reflexes(world.rules), sizes)
    for key in world.state:
        files = _project_files(paths, key)
        if world.state[key] != done.get(key) or not all(_is_whole(file, sizes) for file in files):
            documents = _project_documents(store, world, key)
            for file, document in zip(files, documents, strict=True):
                _write(file, document, sizes)
    _remove_stale(paths, set(world.state), sizes)


def _all_there(paths: Paths, world: _World, sizes: Sizes) -> bool:
    files = [paths.render / name for name in _COMMON] + [
        file for key in world.state for file in _project_files(paths, key)
    ]
    return all(_is_whole(file, sizes) for file in files)


def _is_whole(file: Path, sizes: Sizes) -> bool:
    """Whether it is there, and as long as it was made: one that the power failed upon may have lost its end."""
    try:
        return os.stat(file).st_size == sizes.get(_place(file))
    except OSError:
        return False


def _place(file: Path) -> str:
    """Below the folder of renders, wherever that is."""
    return f"{file.parent.name}/{file.name}"


def _project_files(paths: Paths, key: str) -> list[Path]:
    """Where the two documents of a project are."""
    return [paths.render / kind / f"{key}.json" for kind in _KINDS]


def _project_documents(store: Store, world: _World, key: str) -> tuple[bytes, bytes]:
    """What a session in this project starts with, and what a sub-agent there does. _DEFAULT: any other project."""
    project = world.projects.get(key)
    own = store.memories.select(scopes=[key], witnessed=True) if project else []
    known = Knowledge(
        label=project.label if project else None,
        sessions=world.sessions.get(key, 0),
        memories=[memory for memory in own if not has_its_place(memory)],
        shared=world.shared,
        others=sum(world.counts.values()) - world.counts.get(key, 0) - world.counts.get(GLOBAL, 0),
        now=world.now,
        aging=Aging.of(world.config),
    )
    mine = _of_project(world.rules, project, world.everywhere) if project else Standing("", 0, 0, 0)
    session = "\n".join(block for block in (mine.text, session_block(known)) if block)
    agent = agent_block(known, world.command, has_rules=bool(world.everywhere.total or mine.total))
    return context_document("SessionStart", session), context_document("SubagentStart", agent)


def _everywhere(rules: Sequence[Memory]) -> Standing:
    """The standing rules of every session; room is left where a project has rules of its own."""
    kept_free = _PROJECT_RULES_TOKENS if any(rule.scope != GLOBAL for rule in rules) else 0
    mine = [rule for rule in rules if rule.scope == GLOBAL]
    return standing(mine, most_tokens=budget.STANDING_TOKENS - kept_free)


def _of_project(rules: Sequence[Memory], project: Scope, everywhere: Standing) -> Standing:
    """What a project adds, within what the rules of every session left."""
    mine = [rule for rule in rules if rule.scope == project.key]
    return standing(mine, project.label, budget.STANDING_TOKENS - everywhere.tokens, budget.MOST_CHARACTERS // 2)


def _reflexes(rules: Sequence[Memory]) -> bytes:
    """One row a domain: the words to look for in lower case, and the document that their mention is answered with."""
    rows = [
        "\t".join(words).encode() + b"\t" + context_document("UserPromptSubmit", line)
        for words, line in reflexes(rules).items()
    ]
    return b"".join(rows)


def _write(path: Path, data: bytes, sizes: Sizes) -> None:
    """Make the file hold `data`; nothing to say is an empty file, so that a hook need not look further."""
    sizes[_place(path)] = len(data)
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    write_atomic(path, data, durable=_DURABLE)


def _remove_stale(paths: Paths, keys: set[str], sizes: Sizes) -> None:
    for kind in _KINDS:
        for path in (paths.render / kind).glob("*.json"):
            if path.stem not in keys:
                path.unlink(missing_ok=True)
                sizes.pop(_place(path), None)


def _forget_old_reflexes(paths: Paths) -> None:
    """Which reflexes a session has seen matters only while it lives."""
    oldest = time.time() - _REFLEX_STATE_DAYS * clock.DAY
    with contextlib.suppress(OSError):
        for entry in os.scandir(paths.run / "reflexes"):
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)


def _settings(paths: Paths) -> Config:
    """The settings in force; where the file is damaged, which its own commands complain about, the nudge stays."""
    try:
        return settings.load(paths)
    except UsageError:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            rendered = (paths.render / "nudge.json").read_bytes()
            return Config(nudge=json.loads(rendered)["hookSpecificOutput"]["additionalContext"] if rendered else "")
        return Config()


def _command(paths: Paths) -> str:
    """The program as a shell can start it: a sub-agent without our tools has only that."""
    name = "hippo.exe" if os.name == "nt" else "hippo"
    for folder in (paths.venv / ("Scripts" if os.name == "nt" else "bin"), Path(sys.executable).parent):
        program = folder / name
        if program.exists():
            return for_agent(program)
    return "hippo"


def _state_file(paths: Paths) -> Path:
    return paths.render / "state.json"


def _read_state(paths: Paths) -> tuple[State, Sizes]:
    try:
        known = json.loads(_state_file(paths).read_bytes())
        state, sizes = known["state"], known["sizes"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}, {}
    return (state, sizes) if isinstance(state, dict) and isinstance(sizes, dict) else ({}, {})
