"""How a small store of a test's own is described, filled and asked, through the pipeline that people ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.ingest.embed import embed_pending
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, Scope, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.pipeline import recall
from hippo_core.store import Store


@dataclass(frozen=True)
class Note:
    text: str
    scope: str = "global"
    superseded_by: str | None = None


@dataclass(frozen=True)
class Asked:
    """only: exactly these, if given (empty: silence). must, never: among whatever else. scope: besides the global."""

    question: str
    scope: str
    only: frozenset[str] | None = None
    must: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def holds(self, shown: Sequence[str]) -> bool:
        if self.only is not None:
            return set(shown) == self.only
        return self.must <= set(shown) and self.never.isdisjoint(shown)


@dataclass(frozen=True)
class World:
    notes: Mapping[str, Note]
    asked: Sequence[Asked]


def scope_of(name: str) -> Scope:
    return GLOBAL_SCOPE if name == "global" else project_scope(f"example.org/own/{name}", name)


def only(question: str, scope: str, *names: str) -> Asked:
    return Asked(question, scope, only=frozenset(names))


def holds(question: str, scope: str, must: str, never: str = "") -> Asked:
    return Asked(question, scope, must=frozenset(must.split()), never=frozenset(never.split()))


def filled(path: Path, world: World, embedder: Embedder | None) -> tuple[Store, dict[int, str]]:
    """A store of the world's notes; memory number -> name."""
    store = Store.open(path)
    numbers: dict[str, int] = {}
    with store.transaction():
        for name, note in world.notes.items():
            scope = scope_of(note.scope)
            store.memories.ensure_scope(scope)
            draft = Draft(note.text, MemoryType.FACT, scope.key, Author.MACHINE)
            numbers[name] = store.memories.add(draft, "benchmark").id
        for name, note in world.notes.items():
            if note.superseded_by:
                store.memories.supersede(numbers[name], numbers[note.superseded_by], "benchmark", Author.MACHINE, 0.0)
    if embedder is not None:
        embed_pending(store, embedder)
    return store, {number: name for name, number in numbers.items()}


def shown(store: Store, names: dict[int, str], case: Asked, embedder: Embedder | None) -> list[str]:
    found = recall(store, case.question, embedder=embedder, scopes=[scope_of(case.scope).key, GLOBAL], config=Config())
    return [names[number] for result in found.results for number in (result.memory.id, *result.like)]
