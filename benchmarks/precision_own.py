#!/usr/bin/env python3
"""Whether recall brings what bears on a question and nothing else, on cases of our own (tests/precision_cases.py).

    python benchmarks/precision_own.py [--explain] [--no-vectors]

Each world is a store; each case asks the pipeline that the command and the tool server call, in one scope and the
global one. Printed for each world: cases that hold, and of these the ones that want nothing.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from precision import how  # noqa: E402
from precision_cases import WORLDS, Asked, World, scope_of  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.ingest.embed import embed_pending  # noqa: E402
from hippo_core.model.memory import Draft  # noqa: E402
from hippo_core.model.scope import GLOBAL  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402


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


def main() -> None:
    explain, embedder = how(__doc__)
    for title, world in WORLDS.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            store, names = filled(Path(folder) / "memory.db", world, embedder)
            with store:
                verdicts = [(case, shown(store, names, case, embedder)) for case in world.asked]
        kept = [case for case, found in verdicts if case.holds(found)]
        silent = [case for case, _ in verdicts if case.only == frozenset()]
        print(
            f"{title}: {len(kept)} of {len(verdicts)} hold; silent in {sum(c in kept for c in silent)} of {len(silent)}"
        )
        for case, found in verdicts if explain else ():
            if case not in kept:
                wanted = sorted(case.must if case.only is None else case.only)
                print(f"  {case.question!r}\n    wanted {wanted} never {sorted(case.never)}\n    shown  {found}")


if __name__ == "__main__":
    main()
