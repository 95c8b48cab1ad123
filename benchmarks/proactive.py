#!/usr/bin/env python3
"""How often a memory shown unasked is right, and how often none is shown where none can be, by threshold.

    HIPPO_BENCH_DATA=DIR python benchmarks/proactive.py [SET ...] [--queries 40] [--cache DIR]

The sets' questions stand for prompts: each is asked of its own store, and of the other sets' stores, which hold nothing
for it, by the same functions that the tool server calls for a prompt (the first 64 tokens, at most two memories, only
sure ones). `right`: the memory is one of those (or of one of those sessions) that answer. `silent, elsewhere`: none is
shown from another set's store; `silent, answers removed`: none from its own store once what answers is passed over, the
harder case, because the rest is about the same things. The threshold was chosen on one half of the questions (by a hash
of their id) and is reported on the other. Exits with 1 when a published figure is lost (published.py).
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import published  # noqa: E402
import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.proactive.notes import MOST_A_TURN  # noqa: E402
from hippo_core.proactive.prompt import question_in  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.recall.weights import WEIGHTS  # noqa: E402

SETS = ("devmembench", "precisionmembench", "longmemeval")
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEPTH = 10


@dataclass(frozen=True)
class Asked:
    """One prompt on one store. found: (relevance, is it right?) of the results, best first."""

    name: str
    half: int
    answerable: bool
    found: list[tuple[float, bool]]

    def shown(self, threshold: float) -> list[bool]:
        return [right for value, right in self.found[:MOST_A_TURN] if value >= threshold]

    def silent_without_answers(self, threshold: float) -> bool:
        return all(value < threshold for value, right in self.found if not right)


def everything(names: list[str], queries: int | None, cache: Path, embedder: Embedder) -> Iterator[tuple[str, Asked]]:
    parts = [sets.load(name, queries) for name in names]
    for part in parts:
        store, ids = sets.store_of(part, embedder, cache)
        unit = {corpus_id: session if part.by_session else corpus_id for corpus_id, session, _ in part.corpus}
        with store:
            for other in parts:
                for query_id, text, gold in other.queries:
                    question, own = question_in(text), other is part
                    for channel, searcher in (("with vectors", embedder), ("keywords only", None)):
                        found = []
                        if question:
                            results = recall(store, question, embedder=searcher, scopes=None, k=DEPTH).results
                            found = [
                                (one.stages["relevance"], own and unit[ids[one.memory.id]] in gold) for one in results
                            ]
                        yield channel, Asked(other.name, sets.half(query_id), own, found)


def report(rows: list[Asked], chosen: float) -> dict[str, float]:
    """Print what each threshold gives; what the chosen one does."""
    print("  threshold  helped  shown  right  silent, elsewhere  silent, answers removed")
    own, foreign = [row for row in rows if row.answerable], [row for row in rows if not row.answerable]
    by_chosen = {}
    for threshold in sorted({*THRESHOLDS, chosen}):
        shown = [right for row in own for right in row.shown(threshold)]
        given = {
            "helped": _share([any(row.shown(threshold)) for row in own]),
            "right": _share(shown),
            "silent, elsewhere": _share([not row.shown(threshold) for row in foreign]),
            "silent, answers removed": _share([row.silent_without_answers(threshold) for row in own]),
        }
        helped, right, elsewhere, removed = (f"{value:5.1f}" for value in given.values())
        mark = "*" if threshold == chosen else " "
        print(
            f"  {threshold:.2f}{mark}      {helped}   {len(shown):4d}  {right}      {elsewhere}              {removed}"
        )
        by_chosen = given if threshold == chosen else by_chosen
    return by_chosen


def _share(values: list[bool]) -> float:
    return 100 * sum(values) / max(1, len(values))


def main() -> int:
    options = sets.arguments(__doc__, SETS)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked = list(
            everything(
                list(options.sets), options.queries or None, options.cache or Path(folder), open_embedder(Config())
            )
        )
    found = {}
    for channel, chosen in (("with vectors", WEIGHTS.confident), ("keywords only", WEIGHTS.confident_by_words)):
        for half, purpose in ((0, "for choosing"), (1, "for reporting")):
            rows = [row for name, row in asked if name == channel and row.half == half]
            print(f"{channel}, {purpose}: {len(rows)} prompts")
            found |= {(channel, name): value for name, value in report(rows, chosen).items()}  # the second is kept
        for name in options.sets:
            rows = [row for of, row in asked if of == channel and row.half == 1 and row.name == name]
            print(f"{channel}, for reporting, {name}:")
            report(rows, chosen)
    as_published = options.queries == sets.QUERIES and set(options.sets) == set(SETS)
    return published.held("proactive", found) if as_published else 0


if __name__ == "__main__":
    sys.exit(main())
