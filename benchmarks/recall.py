#!/usr/bin/env python3
"""How fast `hippo recall` is: cold as a process, and warm inside one.

    [HIPPO_BENCH_DATA=DIR] python benchmarks/recall.py [--memories 10000] [--runs 15] [--cache DIR]

Warm is a search in all projects with the store open, as the tool server has it, embedding included: no question is
asked twice. Cold is compared with loading the model alone, measured in turn with it: a process of the same interpreter
that imports NumPy, ONNX Runtime and tokenizers, opens the weights and the vocabulary, and ends. A name that is spelled
is compared with the keyword search of agentrecall-db over the same memories, where that can be installed. The stores
are those of benchmarks/memories.py, of either kind.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import memories  # noqa: E402
import peers  # noqa: E402
from processes import Times, as_installed, timed  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.model.memory import Draft  # noqa: E402
from hippo_core.model.scope import GLOBAL  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.store.reader import Reader  # noqa: E402

LOAD_ALONE = """
import os
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy, onnxruntime, tokenizers
from hippo_core.embed.minilm import MiniLm
MiniLm().load()
"""
RECALL = "from hippo_core.cli.entry import main; main()"
NAME = "src/limits/burst.py"
WARM_LIMIT_MS, COLD_LIMIT, NAME_LIMIT_MS = 20, 1.25, 80
SEARCHES = 100


def add_name(store: Store) -> None:
    """One memory that a name leads to."""
    if not store.memories.keyword_hits([NAME], index="memory_exact", scopes=None, limit=1):
        draft = Draft(f"The limit of bursts is read in {NAME}.", MemoryType.FACT, GLOBAL, Author.MACHINE)
        with store.transaction():
            store.memories.add(draft, "benchmark")


def warm(home: Path, kind: str, embedder: Embedder) -> bool:
    times: list[Times] = []
    reader = Reader(home / "memory.db")
    for number, question in enumerate(memories.questions(kind)[: SEARCHES + 5]):
        began, worked = time.perf_counter(), time.process_time()
        with reader.store() as store:
            recall(store, question, embedder=embedder, scopes=None, config=Config())
        if number >= 5:  # the first ones load the model and warm the file cache
            times.append((time.perf_counter() - began, time.process_time() - worked))
    clock, worked = (sorted(1000 * value for value in column) for column in zip(*times, strict=True))
    middle, late = statistics.median(clock), clock[int(len(clock) * 0.95)]
    print(f"warm   {kind:10s} {middle:5.1f} ms median, {late:.1f} p95, of {len(clock)}; target: at most {WARM_LIMIT_MS}"
          f"{_over(middle > WARM_LIMIT_MS)}; of processor time {statistics.median(worked):.1f}")  # fmt: skip
    return middle <= WARM_LIMIT_MS


def cold(home: Path, kind: str, runs: int, rival: list[str] | None, scratch: Path) -> bool:
    """Each kind of process in turn, so that all meet the same machine."""
    python = [sys.executable, "-c"]
    ours = as_installed(home, scratch)
    asked = memories.questions(kind)
    taken: dict[str, list[Times]] = {}
    for run in range(-1, runs):  # the first round only warms the file cache
        question = [*python, RECALL, "recall", "--all", asked[run % len(asked)]]
        (home / "queries.cache").unlink(missing_ok=True)
        commands = {
            "python alone": [*python, "pass"],
            "a name": [*python, RECALL, "recall", "--all", NAME],
            "a name, agentrecall-db": rival,
            "loading the model alone": [*python, LOAD_ALONE],
            "a new question": question,
            "a question asked before": question,
        }
        for name, command in commands.items():
            if command is not None:
                took = timed(command, peers.alone(scratch) if command is rival else ours, home)
                if run >= 0:
                    taken.setdefault(name, []).append(took)
    print(f"cold   medians of {runs}: by the clock, and of processor time")
    for name, times in taken.items():
        clock, worked = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
        print(f"       {name:24s} {clock:6.0f} ms {worked:6.0f} ms")
    return _within(taken)


def _within(taken: dict[str, list[Times]]) -> bool:
    def ratio(one: str, other: str, column: int) -> float:
        return statistics.median(a[column] / b[column] for a, b in zip(taken[one], taken[other], strict=True))

    found, load = "a new question", "loading the model alone"
    over = ratio(found, load, 0)
    print(f"       a new question takes {over:.2f} times as long as the model alone, {ratio(found, load, 1):.2f} of "
          f"processor time; target: at most {COLD_LIMIT}{_over(over > COLD_LIMIT)}")  # fmt: skip
    name = statistics.median(clock for clock, _ in taken["a name"]) * 1000
    print(f"       a name takes {name:.0f} ms; target: at most {NAME_LIMIT_MS}{_over(name > NAME_LIMIT_MS)}")
    within = over <= COLD_LIMIT and name <= NAME_LIMIT_MS
    if rival := taken.get("a name, agentrecall-db"):
        other = statistics.median(clock for clock, _ in rival) * 1000
        print(f"       agentrecall-db takes {other:.0f} ms; target: no longer than that{_over(name > other)}")
        within &= name <= other
    return within


def _over(over: bool) -> str:
    return "   OVER" if over else ""


def rival_of(home: Path, cache: Path, scratch: Path) -> list[str] | None:
    """The command that asks agentrecall-db for the name, in a store of the same memories."""
    with Store.open(home / "memory.db", readonly=True) as store:
        rows = [{"text": memory.text, "session": ""} for memory in store.memories.select()]
    try:
        return [*peers.agentrecall_of(rows, scratch / "agentrecall.db", cache, scratch), "search", NAME]
    except peers.CannotRun as error:
        print(f"       agentrecall-db {error}")
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--cache", type=Path, default=peers.CACHE, help="where stores and peers are kept")
    arguments = parser.parse_args()
    embedder = open_embedder(Config())
    within = True
    homes = {kind: memories.kept(arguments.cache, kind, arguments.memories, embedder) for kind in memories.KINDS}
    embedder.load(unpacked=True)  # as the tool server does
    for kind, home in homes.items():
        within &= warm(home, kind, embedder)
    home = homes[memories.REAL_WORDS]
    with Store.open(home / "memory.db") as store:
        add_name(store)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        rival = rival_of(home, arguments.cache, scratch)
        within &= cold(home, memories.REAL_WORDS, arguments.runs, rival, scratch)
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
