#!/usr/bin/env python3
"""Whether telling memory_search what was worked out so far brings the rest of an answer up.

    HIPPO_BENCH_DATA=DIR python benchmarks/so_far.py [SET ...] [--queries 40] [--cache DIR]

Of the questions that need more than one session, the first memory found that is right stands for what was worked out.
Measured is the share of the other sessions among the first five that are not its own, without it and with it. Exits
with 1 when a published figure is lost (published.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import published  # noqa: E402
import sets  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("devmembench", "longmemeval")
DEPTH, FIRST = 40, 5
MOST_LETTERS = 600  # of what was worked out


def measure(part: sets.Part, store: Store, ids: dict[int, str], embedder: Embedder | None) -> list[tuple[float, float]]:
    """(without, with) for each question that needs more than one session and finds one."""
    session_of = {corpus_id: session for corpus_id, session, _ in part.corpus}

    def ask(question: str, so_far: str | None = None) -> list[tuple[str, str]]:
        found = recall(store, question, embedder=embedder, scopes=None, k=DEPTH, so_far=so_far).results
        return [(session_of[ids[result.memory.id]], result.memory.text) for result in found]

    shares = []
    for _, question, gold in part.queries:
        found = ask(question)
        first = next(((session, text) for session, text in found if session in gold), None)
        if len(set(gold)) < 2 or first is None:
            continue
        rest = set(gold) - {first[0]}
        both = []
        for results in (found, ask(question, first[1][:MOST_LETTERS])):
            others = list(dict.fromkeys(session for session, _ in results if session != first[0]))
            both.append(len(rest & set(others[:FIRST])) / len(rest))
        shares.append((both[0], both[1]))
    return shares


def main() -> int:
    embedder, options, found = open_embedder(Config()), sets.arguments(__doc__, SETS), {}
    for part, store, ids in sets.stored(options, embedder):
        for channel, searcher in (("with vectors", embedder), ("keywords only", None)):
            shares = measure(part, store, ids, searcher)
            without, told = (100 * sum(column) / len(shares) for column in zip(*shares, strict=True))
            better = sum(after > before for before, after in shares)
            worse = sum(after < before for before, after in shares)
            print(f"{part.name}, {channel}: {len(shares)} questions, the rest among the first {FIRST}: "
                  f"{without:.1f} without, {told:.1f} with; better for {better}, worse for {worse}")  # fmt: skip
            found |= {(f"{part.name}, {channel}", "with"): told, (f"{part.name}, {channel}", "gained"): told - without}
    return published.held("so_far", found) if options.queries == sets.QUERIES else 0


if __name__ == "__main__":
    sys.exit(main())
