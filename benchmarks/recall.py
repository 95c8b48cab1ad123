#!/usr/bin/env python3
"""How fast `hippo recall` is: cold as a process, and warm inside one.

    python benchmarks/recall.py [--memories 10000] [--runs 15]

Cold is compared with loading the model alone, measured in turn with it: a process of the same interpreter that imports
NumPy, ONNX Runtime and tokenizers, opens the weights and the vocabulary, and ends. The store's text is made up here; a
few hundred of its memories are embedded by the model, and the others get one of those vectors, perturbed.
"""

import argparse
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.model.memory import Draft  # noqa: E402
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope  # noqa: E402
from hippo_core.model.types import Author, MemoryType  # noqa: E402
from hippo_core.recall.pipeline import recall  # noqa: E402
from hippo_core.store import Store  # noqa: E402

LOAD_ALONE = """
import os
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy, onnxruntime, tokenizers
from hippo_core.embed.minilm import MiniLm
MiniLm().load()
"""
RECALL = "from hippo_core.cli.entry import main; main()"

SUBJECTS = (
    "billing search login checkout export import webhook scheduler cache queue parser report mailer upload".split()
)
PARTS = "service worker endpoint table migration client dashboard cron-job pipeline index".split()
FACTS = (
    "was moved from {a} to {b} because {c} under load",
    "fails with {a} when {b} is restarted; the fix is to {c} first",
    "must never write to {a} without checking {b}, or {c}",
    "is configured in {a}.toml, key {b}_limit, and needs {c}",
    "uses {a} instead of {b} since the review, as {c}",
)
THINGS = "redis postgres sqlite kafka rabbit nginx docker the-gateway s3 the-replica celery the-ledger".split()
REASONS = (
    "partners send bursts", "locks time out", "the disk fills up", "retries pile up", "clocks drift", "tokens expire",
    "rows are duplicated", "the build gets slow", "tests become flaky", "memory runs out",
)  # fmt: skip
NAME = "src/limits/burst.py"
QUESTIONS = (
    "why was the billing service moved away from redis?",
    "what has to be restarted before the export worker?",
    "which limit does the login endpoint need?",
    "how did we fix the flaky tests of the parser pipeline?",
    "what must the ledger never do",
    "duplicated rows in the report table",
    "where is the webhook client configured",
    "what happens when tokens expire during checkout?",
)


def sentences(count: int) -> list[str]:
    """`count` different made-up memories, in an order that looks like chance and is always the same."""
    every = [
        f"The {subject} {part} " + fact.format(a=a, b=b, c=reason) + "."
        for subject, part, fact, (a, b), reason in itertools.product(
            SUBJECTS, PARTS, FACTS, itertools.permutations(THINGS, 2), REASONS
        )
    ]
    return random.Random(7).sample(every, count)


def fill(store: Store, embedder: Embedder, count: int, real: int = 300) -> None:
    import numpy

    texts = sentences(count)
    vectors = embedder.embed(texts[:real])
    generator = numpy.random.default_rng(7)
    projects = [project_scope(f"example.org/team/{name}", name) for name in SUBJECTS]
    types = [t for t in MemoryType if t is not MemoryType.RULE]
    with store.transaction():
        for scope in (GLOBAL_SCOPE, *projects):
            store.memories.ensure_scope(scope)
        for number, text in enumerate(texts):
            scope = GLOBAL if number % 20 == 0 else projects[number % len(projects)].key
            draft = Draft(
                text, types[number % len(types)], scope, Author.MACHINE, observed_at=time.time() - number * 9e3
            )
            memory = store.memories.add(draft, "benchmark")
            vector = vectors[number % real]
            if number >= real:
                vector = vector + generator.normal(0, 0.03, vector.shape).astype("f4")
                vector /= numpy.linalg.norm(vector)
            store.vectors.put(memory.id, embedder.fingerprint, embedder.dimension, [vector.tobytes()])


def fill_name(store: Store) -> None:
    """One memory that a name leads to."""
    draft = Draft(f"The limit of bursts is read in {NAME}.", MemoryType.FACT, GLOBAL, Author.MACHINE)
    with store.transaction():
        store.memories.add(draft, "benchmark")


def timed(code: str, arguments: list[str], home: Path) -> tuple[float, float]:
    """(seconds from starting a process to its end, seconds of processor time it took)."""
    environment = {**os.environ, "HIPPO_HOME": str(home), "PYTHONPATH": str(ROOT)}
    worked, started = _children(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, cwd=home, check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - started, _children() - worked


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def cold(home: Path, runs: int) -> None:
    """Each kind of process in turn, so that all meet the same machine."""
    cache = home / "queries.cache"
    kinds: dict[str, list[tuple[float, float]]] = {}
    for run in range(-1, runs):  # the first round only warms the file cache
        question = ["recall", "--all", QUESTIONS[run % len(QUESTIONS)]]
        cache.unlink(missing_ok=True)
        for name, code, arguments in (
            ("python alone", "pass", []),
            ("a name", RECALL, ["recall", "--all", NAME]),
            ("loading the model alone", LOAD_ALONE, []),
            ("a new question", RECALL, question),
            ("a question asked before", RECALL, question),
        ):
            took = timed(code, arguments, home)
            if run >= 0:
                kinds.setdefault(name, []).append(took)
    print(f"cold   medians of {runs}: by the clock, and of processor time")
    for name, times in kinds.items():
        clock, worked = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
        print(f"       {name:24s} {clock:6.0f} ms {worked:6.0f} ms")
    pairs = zip(kinds["loading the model alone"], kinds["a new question"], strict=True)
    ratio = statistics.median(found[0] / load[0] for load, found in pairs)
    print(f"       a new question takes {ratio:.2f} times as long as the model alone; target: at most 1.40")


def warm(path: Path, embedder: Embedder, runs: int) -> None:
    times, processor = [], 0.0
    for run in range(-len(QUESTIONS), runs * len(QUESTIONS)):
        started, worked = time.perf_counter(), time.process_time()
        with Store.open(path, readonly=True) as store:  # as the tool server does for each request
            recall(store, QUESTIONS[run % len(QUESTIONS)], embedder=embedder, scopes=None, config=Config())
        if run >= 0:
            times.append((time.perf_counter() - started) * 1000)
            processor += (time.process_time() - worked) * 1000
    times.sort()
    print(
        f"warm   {statistics.median(times):.1f} ms median, {times[int(len(times) * 0.95)]:.1f} ms p95, of {len(times)}"
    )
    print(f"       {processor / len(times):.1f} ms of processor time on average; target: at most 20 ms median")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        embedder = open_embedder(Config())
        with Store.open(home / "memory.db") as store:
            fill(store, embedder, arguments.memories)
            fill_name(store)
        print(f"store  {arguments.memories} made-up memories, vectors of 300 real and the others perturbed")
        warm(home / "memory.db", embedder, arguments.runs)
        cold(home, arguments.runs)


if __name__ == "__main__":
    main()
