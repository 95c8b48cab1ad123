#!/usr/bin/env python3
"""How fast the tool server is: from its start to the answer to `initialize`, and one search once it is warm.

    [HIPPO_BENCH_DATA=DIR] python benchmarks/server.py [--memories 1000 10000 100000] [--runs 15] [--cache DIR]

Also what a prompt waits for the memories that are added to it unasked: the first prompt of a session, the ones while
the model is loading, and once it is warm.

The start is compared with importing the MCP SDK alone, in turn with it and in the same interpreter: below that no
server built on the SDK can come. A search is timed as the client sees it, from writing the request to reading the
answer, in a project and what is global, as it is without further words, and over all projects; no question is asked
twice, so that each is embedded. The stores and the questions are those of benchmarks/memories.py, of both kinds at
10,000 memories. In brackets the server's processor time, where it is known.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import memories  # noqa: E402
import peers  # noqa: E402
from processes import worked_by  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402

SERVE = [sys.executable, "-m", "hippo_core.cli.main", "serve"]
SDK_ALONE = [sys.executable, "-c", "import mcp.server.mcpserver"]
START_LIMIT_MS = 1_000
SEARCH_LIMITS_MS = {10_000: 20, 100_000: 40}
SEARCHES, MAIN = 80, 10_000


class Server:
    """A server process, asked one thing at a time."""

    def __init__(self, home: Path, project: Path | None = None):
        self.started = time.perf_counter()
        environment = {**os.environ, "HIPPO_HOME": str(home), "PYTHONPATH": str(ROOT)}
        if project is not None:
            environment["CLAUDE_PROJECT_DIR"] = str(project)
        self.process = subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=environment)
        self.sent = 0

    def request(self, method: str, **params: object) -> dict:
        self.sent += 1
        message = {"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def initialize(self) -> float:
        """Milliseconds from the start of the process to the answer; the client asks for server/discover first."""
        self.request("server/discover")
        client = {"name": "benchmark", "version": "1"}
        self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        took = time.perf_counter() - self.started
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return took * 1000

    def search(self, query: str, everywhere: bool) -> float:
        """Milliseconds that one memory_search takes."""
        before = time.perf_counter()
        answer = self.request("tools/call", name="memory_search", arguments={"query": query, "everywhere": everywhere})
        took = time.perf_counter() - before
        if answer["result"].get("isError"):
            raise SystemExit(answer["result"]["content"][0]["text"])
        return took * 1000

    def prompt(self, text: str, session: str) -> float:
        """Milliseconds that a prompt waits for the hook."""
        before = time.perf_counter()
        self.request("tools/call", name="hook_prompt", arguments={"prompt": text, "session_id": session})
        return (time.perf_counter() - before) * 1000

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="+", default=[1_000, MAIN, 100_000])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--cache", type=Path, default=peers.CACHE, help="where stores are kept")
    options = parser.parse_args()
    embedder = open_embedder(Config())
    within = True
    for count in options.memories:
        for kind in memories.KINDS if count == MAIN else memories.KINDS[:1]:
            home = memories.kept(options.cache, kind, count, embedder)
            within &= report_searches(home, kind, count)
    starts, imports = start_times(home, options.runs)
    start, sdk = statistics.median(starts), statistics.median(imports)
    print(f"start   initialize answered after {start:.0f} ms, median of {options.runs} ({min(starts):.0f} at best)")
    print(f"        {start / sdk:.2f} times the import of the SDK alone, {sdk:.0f} ms; target: {START_LIMIT_MS} ms")
    waits = [prompt_times(home, SEARCHES) for _ in range(5)]
    begun, loading, warm = (statistics.median(wait[part] for wait in waits) for part in range(3))
    worst = max(wait[3] for wait in waits)
    print(f"prompt  {warm:.1f} ms, median of {SEARCHES} in each of 5 sessions ({worst:.0f} at worst), model warm")
    print(f"        the first of a session: {begun:.0f} ms; while the model is loading at most {loading:.0f} ms")
    return 0 if within and start <= START_LIMIT_MS else 1


def report_searches(home: Path, kind: str, count: int) -> bool:
    """Print what searches take; whether it is within the limit for that size."""
    limit, within = SEARCH_LIMITS_MS.get(count), True
    for everywhere in (False, True):
        first, times, worked = search_times(home, kind, everywhere)
        middle = statistics.median(times)
        spent = "" if worked is None else f" ({worked:.1f})"
        target = "" if limit is None else f"; target: at most {limit} ms{'' if middle <= limit else '   OVER'}"
        place = "everywhere" if everywhere else "project and global"
        print(f"search  {count:7,} memories, {kind}, {place}: {middle:.1f}{spent} ms, median of {len(times)}, "
              f"{min(times):.1f} at best; the first, with the model: {first:.0f} ms{target}", flush=True)  # fmt: skip
        within &= limit is None or middle <= limit
    return within


def start_times(home: Path, runs: int) -> tuple[list[float], list[float]]:
    """(server, SDK alone), measured in turn so that both meet the same machine."""
    starts, imports = [], []
    for _ in range(runs):
        server = Server(home)
        starts.append(server.initialize())
        server.stop()
        before = time.perf_counter()
        subprocess.run(SDK_ALONE, check=True)
        imports.append((time.perf_counter() - before) * 1000)
    return starts, imports


def search_times(home: Path, kind: str, everywhere: bool) -> tuple[float, list[float], float | None]:
    """(the first search, the following ones, processor time of each on average)."""
    asked = memories.questions(kind)[: SEARCHES + 5]
    (home / "queries.cache").unlink(missing_ok=True)  # else an earlier run has embedded them
    server = Server(home, project_of(home))
    server.initialize()
    server.request("tools/list")  # as the client does; the model is loaded behind it
    first = server.search(asked[0], everywhere)
    for question in asked[1:5]:
        server.search(question, everywhere)
    before = worked_by(server.process.pid)
    times = [server.search(question, everywhere) for question in asked[5:]]
    after = worked_by(server.process.pid)
    server.stop()
    return first, times, None if after is None else (after - before) * 1000 / len(times)


def project_of(home: Path) -> Path:
    """A folder that belongs to one of the stores' projects."""
    project = home / "work"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".git" / "config").write_text(f'[remote "o"]\n\turl = https://example.org/team/{memories.SUBJECTS[0]}\n')
    return project


def prompt_times(home: Path, count: int) -> tuple[float, float, float, float]:
    """(the first prompt, the longest while the model loads, the median afterwards, the longest of those)."""
    server = Server(home, project_of(home))
    server.initialize()
    server.request("tools/list")
    ask = itertools.cycle(memories.questions(memories.REAL_WORDS))
    first = server.prompt(next(ask), "s0")
    until = time.monotonic() + 3
    loading = []
    while time.monotonic() < until:
        loading.append(server.prompt(next(ask), f"l{len(loading)}"))
        time.sleep(0.02)
    warm = [server.prompt(next(ask), f"w{n}") for n in range(count)]
    server.stop()
    return first, max(loading), statistics.median(warm), max(warm)


if __name__ == "__main__":
    sys.exit(main())
