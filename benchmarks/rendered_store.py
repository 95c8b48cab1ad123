"""A data folder for the benchmarks of hooks and economy: made-up memories of many projects, and rules, rendered."""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memories import SUBJECTS, sentences  # noqa: E402

from hippo_core.model.memory import Draft, Memory  # noqa: E402
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope, scope_of  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.paths import Paths  # noqa: E402
from hippo_core.render.refresh import refresh  # noqa: E402
from hippo_core.store import Store  # noqa: E402

DOMAINS = "git sql docker python rust typescript testing deployment security css terraform kafka".split()
RULE = "Rule {n}: look at the {subject} twice before you change it, and say what you saw."


def make(home: Path, memories: int, rules: int, project: Path | None = None) -> Paths:
    """Fill and render. rules: standing ones; each domain has two of its own. project: a folder that gets its share."""
    paths = Paths(home)
    scopes = [project_scope(f"example.org/team/{name}", name) for name in SUBJECTS]
    if project is not None:
        scopes[0] = scope_of(str(project))
    types = [kind for kind in MemoryType if kind is not MemoryType.RULE]
    now = time.time()
    with Store.open(paths.store) as store:
        with store.transaction():
            for scope in (GLOBAL_SCOPE, *scopes):
                store.memories.ensure_scope(scope)
            for number, text in enumerate(sentences(memories)):
                key = GLOBAL if number % 20 == 0 else scopes[number % len(scopes)].key
                kind, at = types[number % len(types)], now - number * 9e3
                store.memories.add(Draft(text, kind, key, Author.MACHINE, observed_at=at), "benchmark")
            for number in range(rules):
                _add_rule(store, RULE.format(n=number, subject=SUBJECTS[number % len(SUBJECTS)]), always=True)
            for number, domain in enumerate(DOMAINS * 2):
                _add_rule(store, f"In {domain}, mind step {number}.", domain=domain)
        refresh(store, paths)
    return paths


def all_memories(paths: Paths) -> list[Memory]:
    with Store.open(paths.store, readonly=True) as store:
        return store.memories.select()


def _add_rule(store: Store, text: str, **place: object) -> None:
    store.memories.add(Draft(text, MemoryType.RULE, GLOBAL, Author.HUMAN, **place), "benchmark")
