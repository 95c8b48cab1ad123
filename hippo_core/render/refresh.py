"""Keeps the files that the hooks read equal to the store: one JSON document for each, replaced whole, only when changed.

A project is rendered again only when its own memories, its sessions, what holds everywhere, the settings or the day
have changed; render/state.json remembers what was rendered from what. Knows nothing of who changed the store.
"""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hippo_core import clock
from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.errors import UsageError
from hippo_core.model.memory import Memory
from hippo_core.model.scope import GLOBAL, Scope
from hippo_core.paths import Paths, write_atomic
from hippo_core.recall.score import Aging
from hippo_core.render import budget
from hippo_core.render.document import context_document
from hippo_core.render.fence import one_line
from hippo_core.render.project import Knowledge, agent_block, session_block
from hippo_core.render.rules import Standing, reflex_lines, standing, user_rules
from hippo_core.store import Store

SHAPE = 1  # raise it when the same memories would be rendered differently
_DEFAULT = "default"
_PROJECT_RULES_TOKENS = 250  # of the standing rules' budget, kept free for a project's own
_MOST_ROUNDS = 5
_REFLEX_STATE_DAYS = 7
State = dict[str, list]


def refresh(store: Store, paths: Paths) -> None:
    """Render what changed. Ends only when the store is as it was rendered, so that two writers cannot leave old text."""
    done = _read_state(paths)
    for _ in range(_MOST_ROUNDS):
        with store.reading():
            world = _look(store, paths)
            if world.state == done:
                break
            _render(store, paths, world, done)
        done = world.state
        write_atomic(_state_file(paths), json.dumps(done).encode())
    _forget_old_reflexes(paths)


def standing_rules(store: Store) -> Standing:
    """The standing rules as they load in every session."""
    return _everywhere(user_rules(store))


@dataclass(frozen=True)
class _World:
    """What there is to render, and `state`: for each file's stem, what it depends on."""

    projects: Mapping[str, Scope]
    sessions: Mapping[str, int]
    counts: Mapping[str, int]
    config: Config
    command: str
    now: float
    state: State


def _look(store: Store, paths: Paths) -> _World:
    now, config, command = clock.now(), _settings(paths), _command(paths)
    fingerprints, sessions = store.memories.fingerprints(), store.archive.session_counts()
    known = {**store.archive.projects(), **store.memories.scopes()}
    projects = {
        key: scope
        for key, scope in known.items()
        if scope.kind == "project" and (key in fingerprints or key in sessions)
    }
    shared = [SHAPE, clock.day(now), command, repr(config), fingerprints.get(GLOBAL)]
    others = {key: numbers for key, numbers in fingerprints.items() if key not in projects}
    state: State = {
        key: [*shared, scope.label, sessions.get(key, 0), fingerprints.get(key)] for key, scope in projects.items()
    }
    totals = [sum(numbers[0] for numbers in fingerprints.values()), sum(sessions.values()), sorted(others)]
    rules = [[rule.id, rule.version] for rule in user_rules(store)]
    state[_DEFAULT] = [*shared, *totals, rules]
    counts = {key: numbers[0] for key, numbers in fingerprints.items()}
    return _World(projects, sessions, counts, config, command, now, state)


def _render(store: Store, paths: Paths, world: _World, done: State) -> None:
    rules = user_rules(store)
    everywhere = _everywhere(rules)
    _write(paths.render / "rules.json", context_document("SessionStart", everywhere.text))
    _write(paths.render / "nudge.json", context_document("UserPromptSubmit", one_line(world.config.nudge)))
    _write(paths.render / "reflexes.tsv", _reflexes(rules))
    shared = store.memories.select(scopes=[GLOBAL])
    present = {path.stem for path in (paths.render / "project").glob("*.json")}
    for key, scope in {**world.projects, _DEFAULT: None}.items():
        if world.state[key] == done.get(key) and key in present:
            continue
        own = store.memories.select(scopes=[key]) if scope else []
        others = sum(world.counts.values()) - len(own) - len(shared)
        sessions = world.sessions.get(key, 0)
        label = scope.label if scope else None
        known = Knowledge(label, sessions, own, shared, others, world.now, Aging.of(world.config))
        _render_project(paths, key, known, everywhere, [rule for rule in rules if rule.scope == key], world.command)
    _remove_stale(paths, {*world.projects, _DEFAULT})


def _render_project(
    paths: Paths, key: str, known: Knowledge, everywhere: Standing, rules: list[Memory], command: str
) -> None:
    own = standing(rules, known.label, budget.STANDING_TOKENS - everywhere.tokens, budget.MOST_CHARACTERS // 2)
    blocks = "\n".join(block for block in (own.text, session_block(known)) if block)
    _write(paths.render / "project" / f"{key}.json", context_document("SessionStart", blocks))
    agent = agent_block(known, command, everywhere.total + own.total)
    _write(paths.render / "agent" / f"{key}.json", context_document("SubagentStart", agent))


def _everywhere(rules: list[Memory]) -> Standing:
    """The standing rules of every session; room is left where a project has rules of its own."""
    kept_free = _PROJECT_RULES_TOKENS if any(rule.scope != GLOBAL for rule in rules) else 0
    mine = [rule for rule in rules if rule.scope == GLOBAL]
    return standing(mine, most_tokens=budget.STANDING_TOKENS - kept_free)


def _reflexes(rules: list[Memory]) -> bytes:
    """One row a domain: the word to look for in lower case, a tab, the document that its mention is answered with."""
    rows = [
        domain.encode() + b"\t" + context_document("UserPromptSubmit", line)
        for domain, line in reflex_lines(rules).items()
    ]
    return b"".join(rows)


def _write(path: Path, data: bytes) -> None:
    """Make the file hold `data`; nothing to say is an empty file, so that a hook need not look further."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    write_atomic(path, data)


def _remove_stale(paths: Paths, keys: set[str]) -> None:
    for kind in ("project", "agent"):
        for path in (paths.render / kind).glob("*.json"):
            if path.stem not in keys:
                path.unlink(missing_ok=True)


def _forget_old_reflexes(paths: Paths) -> None:
    """Which reflexes a session has seen matters only while it lives."""
    oldest = time.time() - _REFLEX_STATE_DAYS * clock.DAY
    with contextlib.suppress(OSError):
        for entry in os.scandir(paths.run / "reflexes"):
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)


def _settings(paths: Paths) -> Config:
    """The settings in force; the defaults where the file is damaged, which its own commands complain about."""
    try:
        return settings.load(paths)
    except UsageError:
        return Config()


def _command(paths: Paths) -> str:
    """The program as a shell can start it: a sub-agent without our tools has only that."""
    program = paths.venv / ("Scripts/hippo.exe" if os.name == "nt" else "bin/hippo")
    return f'"{program}"' if program.exists() else "hippo"


def _state_file(paths: Paths) -> Path:
    return paths.render / "state.json"


def _read_state(paths: Paths) -> State:
    try:
        state = json.loads(_state_file(paths).read_bytes())
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}
