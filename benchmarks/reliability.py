#!/usr/bin/env python3
"""What a hard life does to the store: killed passes, a full disk, a crowd, damaged files, very many and large ones.

    HIPPO_SAMPLES=DIR python benchmarks/reliability.py kills [--count 200]
    HIPPO_SAMPLES=DIR python benchmarks/reliability.py full-disk [--count 20]     needs root on Linux
    python benchmarks/reliability.py crowd [--seconds 60]
    python benchmarks/reliability.py second-pass [--files 5000] [--rounds 9]
    python benchmarks/reliability.py memory [--megabytes 2000]
    HIPPO_SAMPLES=DIR python benchmarks/reliability.py mutants [--count 10000]

Each prints its figures and what is required, and exits with 1 where that was missed. --seed repeats a run. Results and
their machine: docs/reliability.md. A small part of each is a test (tests/test_reliability.py).
"""

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from crowd import run_crowd, what_is_wrong  # noqa: E402
from hardship import NOW, differences, finish_pass, mutated, session_lines, start_pass, whole_store  # noqa: E402

from hippo_core.config import Config, save  # noqa: E402
from hippo_core.distill.offline import OfflineDistiller  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.ingest.archive import archive_files  # noqa: E402
from hippo_core.ingest.distil import distil_sessions  # noqa: E402
from hippo_core.ingest.embed import embed_pending  # noqa: E402
from hippo_core.ingest.embed_archive import embed_archive  # noqa: E402
from hippo_core.ingest.run import run_pass  # noqa: E402
from hippo_core.ingest.unchanged import BYTES_A_DAY  # noqa: E402
from hippo_core.paths import Paths  # noqa: E402
from hippo_core.store import Store  # noqa: E402
from hippo_core.transcripts.discover import transcript_files  # noqa: E402

BATCH = 64  # memories embedded in one transaction, as the product has it
LONGEST_FILE = 20.0  # seconds after which a mutated transcript is taken for a hang


def kills(options: argparse.Namespace, work: Path) -> bool:
    """SIGKILL at random moments of a pass, again and again until it ends, compared with an undisturbed one."""
    chance, samples = random.Random(options.seed), _samples()
    began = time.monotonic()
    finish_pass(work / "undisturbed", samples, batch=BATCH, now=NOW)
    whole = time.monotonic() - began
    expected = whole_store(work / "undisturbed")
    killed = rounds = wrong = 0
    moments: Counter[str] = Counter()
    while killed < options.count:
        home = work / f"round{rounds}"
        before = killed
        while killed < options.count and (at := _killed(home, samples, chance.uniform(0, whole / 3))):
            killed += 1
            moments[at] += 1
        finish_pass(home, samples, batch=BATCH, now=NOW)
        different = differences(whole_store(home), expected)
        wrong += bool(different)
        rounds += 1
        print(f"  round {rounds}: {killed - before} kills, " + (f"DIFFERS in {different}" if different else "equal"))
        shutil.rmtree(home)
    rows = sum(len(table) for table in expected.values() if isinstance(table, list))
    print(f"  killed while: {', '.join(f'{moment} {number}' for moment, number in moments.most_common())}")
    print(
        f"{killed} kills in {rounds} stores; stores that differ: {wrong}. An undisturbed pass takes {whole:.1f} s and "
        f"gives {len(expected['message'])} messages, {len(expected['memory'])} memories, {rows} rows in all."
    )
    return wrong == 0


def _killed(home: Path, root: Path, after: float) -> str | None:
    """Kill a pass so many seconds after it began; the step it was at, None when it was done before."""
    process = start_pass(home, root, batch=BATCH, now=NOW)
    with process.stdout:
        process.stdout.readline()
        time.sleep(after)
        process.kill()
        said = process.stdout.read()
    process.wait()
    steps = said.decode().splitlines()
    return None if steps and steps[-1] == "end" else steps[-1].split()[0] if steps else "begin"


def full_disk(options: argparse.Namespace, work: Path) -> bool:
    """A real file system that is too small, filled at a random point of the pass, then made large enough."""
    if sys.platform != "linux" or os.geteuid():
        print("Skipped: mounting a small file system needs root on Linux.")
        return True
    chance, samples = random.Random(options.seed), _samples()
    finish_pass(work / "undisturbed", samples, batch=BATCH, now=NOW)
    expected = whole_store(work / "undisturbed")
    needed = sum(file.stat().st_size for file in (work / "undisturbed").rglob("*") if file.is_file())
    wrong = full = 0
    for attempt in range(options.count):
        with small_disk(work / "disk", chance.randint(200_000, int(needed * 1.1))) as disk:
            output, _ = start_pass(disk / "home", samples, batch=BATCH, now=NOW).communicate()
            last = output.decode().splitlines()[-1]
            full += last.startswith("error StoreFullError")
            if not last.startswith(("error StoreFullError", "end")):
                print(f"  {attempt}: said {last!r}")
                wrong += 1
            subprocess.run(["mount", "-o", f"remount,size={needed * 4 + 64_000_000}", str(disk)], check=True)
            finish_pass(disk / "home", samples, batch=BATCH, now=NOW)
            different = differences(whole_store(disk / "home"), expected)
            wrong += bool(different)
            if different:
                print(f"  {attempt}: DIFFERS in {different}")
    print(f"{options.count} disks of 0.2 to {needed * 1.1 / 1e6:.1f} MB, {full} of them filled up; wrong: {wrong}")
    return wrong == 0 and full > 0


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of `size` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def crowd(options: argparse.Namespace, work: Path) -> bool:
    """Eight processes ingesting, recalling, adding and dreaming at once."""
    done = run_crowd(work / "home", work / "transcripts", options.seconds)
    wrong = what_is_wrong(work / "home", done)
    for one in done:
        print(f"  {one.get('role', 'died'):<8}{one.get('turns', 0):6} turns, {len(one['errors'])} errors")
    print(f"{options.seconds:.0f} s, {len(done)} processes; wrong: {wrong or 'nothing'}")
    return not wrong


BACKSTOP = ["watch", "--once", "--backstop"]


class MadeUp:
    """Vectors of no meaning in the place of the usual model's: what is measured is that nothing is left to embed."""

    def __init__(self) -> None:
        usual = open_embedder(Config())
        self.fingerprint, self.dimension, self.pieces = usual.fingerprint, usual.dimension, lambda text: [text]

    def embed(self, texts: list[str]) -> Any:
        import numpy

        return numpy.eye(1, self.dimension, dtype="float32").repeat(len(texts), axis=0)


# The command as it is, then what it did to get its result. read: bytes, by all calls; None where nobody counts them.
_OBSERVED = """
import atexit, json, os, sys
from pathlib import Path

opened, counts, heavy = set(), Path("/proc/self/io"), ("numpy", "onnxruntime", "tokenizers", "openai")
sys.addaudithook(lambda event, what: event == "open" and str(what[0]).endswith(".jsonl") and opened.add(what[0]))
def tell():
    read = int(counts.read_text().split()[1]) if counts.exists() else None
    loaded = [name for name in heavy if name in sys.modules]
    print(json.dumps({"opened": len(opened), "read": read, "loaded": loaded}), file=sys.stderr)
atexit.register(tell)
from hippo_core.cli.main import main
main()
"""


def second_pass(options: argparse.Namespace, work: Path) -> bool:
    """What a pass over unchanged files costs, beyond one that finds no file at all: hourly, daily and by hand."""
    for number in range(options.files):
        session = f"{number:08d}-0000-4000-8000-000000000000"
        file = work / "full" / "projects" / f"project{number % 40}" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(session_lines(session, 2, about=f"part {number}", place=f"project{number % 40}"))
    (work / "empty" / "projects").mkdir(parents=True)
    began = time.monotonic()
    report = run_pass(Paths(work / "home-full"), roots=[work / "full" / "projects"], embed=False, unfinished=True)
    print(f"  {options.files} files: {report.messages} messages, first pass {time.monotonic() - began:.1f} s")
    with Store.open(work / "home-full" / "memory.db") as store:
        embed_pending(store, MadeUp())
        embed_archive(store, MadeUp(), None, share=1.0)
    print("  for 1,000 files, beyond the same command with an empty store and folder; required: 50 ms on the clock")
    commands = (["watch", "--once"], BACKSTOP, ["ingest", "--no-embed"])
    return all([*(_second_pass(command, options, work) for command in commands), _bounded(work)])


def _second_pass(command: list[str], options: argparse.Namespace, work: Path) -> bool:
    """Measure one command; whether it kept to what is required."""

    def run(which: str) -> tuple[float, float]:
        """(seconds on the clock, seconds of the processor)."""
        began = time.perf_counter()
        usage = _run(command, work / f"home-{which}", quiet=True, CLAUDE_CONFIG_DIR=str(work / which))
        return time.perf_counter() - began, usage.ru_utime + usage.ru_stime

    rounds = [(run("empty"), run("full")) for _ in range(options.rounds)]
    # What else the machine does only ever adds to a time, so the least of each is nearest to what it takes.
    clock, processor = (
        (min(full[kind] for _, full in rounds) - min(empty[kind] for empty, _ in rounds)) / options.files * 1e6
        for kind in (0, 1)
    )
    empty, full = _observed(command, work, "empty"), _observed(command, work, "full")
    read = "?" if full["read"] is None else f"{(full['read'] - empty['read']) / options.files:,.0f}"
    did = full["report"]
    embedded, stored = did["embedded"] + did["embedded_messages"], did["messages"] + did["learned"]
    print(
        f"  hippo {' '.join(command):24} {clock:5.1f} ms on the clock, {processor:5.1f} ms of the processor; read "
        f"{read} KB, opened {full['opened']:,} files in all; stored {stored}, embedded {embedded}, "
        f"loaded {', '.join(full['loaded']) or 'no model'}"
    )
    untouched = full["opened"] == 0 or command != ["watch", "--once"]  # the others compare bytes, too
    return clock <= 50 and untouched and not (stored or embedded or full["loaded"])


def _bounded(work: Path) -> bool:
    """Whether the backstop of one day reads no more than its share of a folder that is larger than that."""
    root, turns = work / "large" / "projects", 600
    root.mkdir(parents=True)
    for number in range(turns):
        session = f"{number:08d}-0000-4000-8000-000000000000"
        (root / f"{session}.jsonl").write_bytes(session_lines(session, 1, tool_bytes=BYTES_A_DAY * 3 // turns))
    save(Paths(work / "home-large"), embedder="off")
    run_pass(Paths(work / "home-large"), roots=[root], unfinished=True)
    full = _observed(BACKSTOP, work, "large")
    total = sum(file.stat().st_size for file in root.iterdir())
    print(f"  the backstop reads {(full['read'] or 0) / 1e6:,.0f} of {total / 1e6:,.0f} MB in one day", end="; ")
    print(f"required: about {BYTES_A_DAY / 1e6:.0f}")
    return full["read"] is None or BYTES_A_DAY / 2 < full["read"] < BYTES_A_DAY * 1.3


def _observed(command: list[str], work: Path, which: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _OBSERVED, *command, "--json"],
        cwd=ROOT,
        env={**os.environ, "HIPPO_HOME": str(work / f"home-{which}"), "CLAUDE_CONFIG_DIR": str(work / which)},
        capture_output=True,
        check=True,
    )
    return {**json.loads(done.stderr.splitlines()[-1]), "report": json.loads(done.stdout)}


def memory(options: argparse.Namespace, work: Path) -> bool:
    """Peak memory of a pass over a large folder, without and with the embedding model."""
    root = work / "transcripts"
    root.mkdir()
    sizes = [200_000_000, *[10_000_000] * ((options.megabytes - 200) // 10)]
    for number, size in enumerate(sizes):
        session = f"{number:08d}-0000-4000-8000-000000000000"
        with (root / f"{session}.jsonl").open("wb") as file:
            # Tool output is most of a real transcript, too: 20 KB a turn.
            for turn in range(0, size // 20_600, 100):
                file.write(
                    session_lines(session, 100, about=f"part {number} of {turn}", begin=turn * 3, tool_bytes=20_000)
                )
    total = sum(file.stat().st_size for file in root.iterdir()) / 1e6
    print(f"  {len(sizes)} files, {total:,.0f} MB, the largest {sizes[0] / 1e6:.0f} MB")
    without = _peak(["ingest", "--no-embed", "--now", "--from", str(root)], work / "home")
    print(
        f"  pass without the embedding model: {without[0]:.0f} MB at most, {without[1]:.0f} s, required at most 200 MB"
    )
    if not options.no_embed:
        limited = _peak(["ingest", "--now", "--from", str(root)], work / "home")
        print(
            f"  pass that embeds what it learned:  {limited[0]:.0f} MB at most, {limited[1]:.0f} s, required likewise"
        )
        without = max(without, limited)
    return without[0] < 200


def _peak(arguments: list[str], home: Path) -> tuple[float, float]:
    """(peak resident MB, seconds) of one hippo command."""
    began = time.monotonic()
    usage = _run(arguments, home)
    peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)  # bytes there, kilobytes elsewhere
    return peak, time.monotonic() - began


def _run(arguments: list[str], home: Path, quiet: bool = False, **environment: str) -> resource.struct_rusage:
    """What one hippo command used."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hippo_core.cli.main", *arguments],
        cwd=ROOT,
        env={**os.environ, "HIPPO_HOME": str(home), **environment},
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"hippo {arguments[0]} failed with status {process.returncode}")
    return usage


def mutants(options: argparse.Namespace, work: Path) -> bool:
    """Damaged transcripts, each through the parser, the guard, the archive and the distiller."""
    chance = random.Random(options.seed)
    originals = [data for path in transcript_files(_samples()) if (data := path.read_bytes()[:100_000])]
    slowest, done, wrong = 0.0, 0, []

    def hang(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, hang)
    while done < options.count:
        home = work / f"store{done}"
        with Store.open(home / "memory.db") as store:
            for _ in range(min(500, options.count - done)):
                path = home / f"{done:08d}-0000-4000-8000-000000000000.jsonl"
                path.write_bytes(mutated(chance.choice(originals), chance, originals))
                began = time.perf_counter()
                signal.setitimer(signal.ITIMER_REAL, LONGEST_FILE)
                archived = archive_files(store, [path])
                distilled = distil_sessions(store, OfflineDistiller(), sorted(archived.sessions))
                signal.setitimer(signal.ITIMER_REAL, 0)
                slowest = max(slowest, time.perf_counter() - began)
                failures = [*archived.failed, *distilled.failed]
                if failures:
                    kept = Path(tempfile.gettempdir()) / f"mutant-{options.seed}-{done}.jsonl"
                    shutil.copy(path, kept)
                    wrong.append(f"{kept}: {failures[0][1]}")
                path.unlink()
                done += 1
            wrong += store.upkeep.damage() + [str(gap) for gap in store.upkeep.gaps()]
        shutil.rmtree(home)
        print(f"  {done}: slowest {slowest:.2f} s, wrong {len(wrong)}", flush=True)
    for line in wrong[:20]:
        print(f"  {line}")
    print(f"{done} mutated transcripts, seed {options.seed}: slowest {slowest:.2f} s; wrong: {len(wrong)}")
    return not wrong


def _samples() -> Path:
    named = os.environ.get("HIPPO_SAMPLES")
    if not named:
        raise SystemExit("HIPPO_SAMPLES is not set: it names a folder of transcripts to work with. Nothing was done.")
    return Path(named)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, option, default in (
        ("kills", kills, "--count", 200),
        ("full-disk", full_disk, "--count", 20),
        ("crowd", crowd, "--seconds", 60),
        ("second-pass", second_pass, "--files", 5_000),
        ("memory", memory, "--megabytes", 2_000),
        ("mutants", mutants, "--count", 10_000),
    ):
        command = commands.add_parser(name, description=function.__doc__)
        command.add_argument(option, type=int, default=default)
        command.add_argument("--seed", type=int, default=1)
        command.set_defaults(function=function)
        if name == "second-pass":
            command.add_argument("--rounds", type=int, default=9, help="Of both folders in turn; the least counts.")
        if name == "memory":
            command.add_argument("--no-embed", action="store_true", help="Leave the slow pass with the model out.")
    options = parser.parse_args()
    for variable in ("HIPPO_NOW", "HIPPO_HOME", "HIPPO_CHILD"):
        os.environ.pop(variable, None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLAUDE_CONFIG_DIR"] = os.path.join(folder, ".claude")
        return 0 if options.function(options, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
