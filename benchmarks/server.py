#!/usr/bin/env python3
"""How fast the tool server is: from its start to the answer to `initialize`, and one search once it is warm.

    python benchmarks/server.py [--memories 10000] [--runs 15] [--searches 60]

Also what a prompt waits for the memories that are added to it unasked: the first prompt of a session, the ones while
the model is loading, and once it is warm.

The start is compared with importing the MCP SDK alone, in turn with it and in the same interpreter: below that no
server built on the SDK can come. A search is timed as the client sees it, from writing the request to reading the
answer; the store and the questions are those of benchmarks/recall.py.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.recall import QUESTIONS, SUBJECTS, fill  # noqa: E402
from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SERVE = [sys.executable, "-m", "hippo_core.cli.main", "serve"]
SDK_ALONE = [sys.executable, "-c", "import mcp.server.mcpserver"]
START_LIMIT_MS, SEARCH_LIMIT_MS = 1_000, 20


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

    def search(self, query: str) -> float:
        """Milliseconds that one memory_search takes."""
        before = time.perf_counter()
        answer = self.request("tools/call", name="memory_search", arguments={"query": query, "everywhere": True})
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--searches", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Store.open(home / "memory.db") as store:
            fill(store, open_embedder(Config()), options.memories)
        starts, imports = start_times(home, options.runs)
        first, searches = search_times(home, options.searches)
        waits = [prompt_times(home, options.searches) for _ in range(5)]
    start, alone, search = (statistics.median(times) for times in (starts, imports, searches))
    best_start, best_search = min(starts), min(searches)
    print(f"start   initialize answered after {start:.0f} ms, median of {options.runs} ({best_start:.0f} at best)")
    print(f"        {start / alone:.2f} times the import of the SDK alone, {alone:.0f} ms; target: {START_LIMIT_MS} ms")
    print(f"search  {search:.1f} ms, median of {options.searches} ({best_search:.1f} at best)")
    print(
        f"        {options.memories} memories; the first, with the model: {first:.0f} ms; target: {SEARCH_LIMIT_MS} ms"
    )
    begun, loading, warm = (statistics.median(wait[kind] for wait in waits) for kind in range(3))
    worst = max(wait[3] for wait in waits)
    print(
        f"prompt  {warm:.1f} ms, median of {options.searches} in each of 5 sessions ({worst:.0f} at worst), model warm"
    )
    print(f"        the first of a session: {begun:.0f} ms; while the model is loading at most {loading:.0f} ms")
    return 0 if start <= START_LIMIT_MS and search <= SEARCH_LIMIT_MS else 1


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


def search_times(home: Path, count: int) -> tuple[float, list[float]]:
    """(the first search, the following ones)."""
    server = Server(home)
    server.initialize()
    first = server.search(QUESTIONS[0])
    times = [server.search(question) for question in itertools.islice(itertools.cycle(QUESTIONS), count)]
    server.stop()
    return first, times


def prompt_times(home: Path, count: int) -> tuple[float, float, float, float]:
    """(the first prompt, the longest while the model loads, the median afterwards, the longest of those)."""
    project = home / "work"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (project / ".git" / "config").write_text(f'[remote "o"]\n\turl = https://example.org/team/{SUBJECTS[0]}\n')
    server = Server(home, project)
    server.initialize()
    server.request("tools/list")
    ask = itertools.cycle(QUESTIONS)
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
