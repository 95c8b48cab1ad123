#!/usr/bin/env python3
"""How fast the tool server is there: from its start to the answer to `initialize`, and what a prompt waits for it.

    [HIPPO_BENCH_DATA=DIR] python benchmarks/server.py [--memories 100000] [--runs 15] [--cache DIR]

The start is compared with importing the MCP SDK alone, in turn with it and in the same interpreter: below that no
server built on the SDK can come. A prompt waits for the memories that are added to it unasked: the first of a session,
the ones while the model is loading, and those once it is warm. What a search takes: benchmarks/scale.py. The store is
one of benchmarks/memories.py.
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
from processes import Times, worked_by  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402

SERVE = [sys.executable, "-m", "hippo_core.cli.main", "serve"]
SDK_ALONE = [sys.executable, "-c", "import mcp.server.mcpserver"]
START_LIMIT_MS = 1_000
PROMPTS = 80


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

    def timed(self, tool: str, **arguments: object) -> Times:
        """What one call takes, by the clock from writing the request to reading the answer, and of the server's
        processor time; nothing of it where the system does not tell."""
        worked, before = worked_by(self.process.pid), time.perf_counter()
        answer = self.request("tools/call", name=tool, arguments=arguments)
        took, after = time.perf_counter() - before, worked_by(self.process.pid)
        if answer["result"].get("isError"):
            raise SystemExit(answer["result"]["content"][0]["text"])
        return took, 0.0 if worked is None or after is None else after - worked

    def prompt(self, text: str, session: str) -> float:
        """Milliseconds that a prompt waits for the hook."""
        return self.timed("hook_prompt", prompt=text, session_id=session)[0] * 1000

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--cache", type=Path, default=peers.CACHE, help="where stores are kept")
    options = parser.parse_args()
    home = memories.kept(options.cache, memories.REAL_WORDS, options.memories, open_embedder(Config()))
    starts, imports = start_times(home, options.runs)
    start, sdk = statistics.median(starts), statistics.median(imports)
    print(f"start   initialize answered after {start:.0f} ms, median of {options.runs} ({min(starts):.0f} at best)")
    print(f"        {start / sdk:.2f} times the import of the SDK alone, {sdk:.0f} ms; target: {START_LIMIT_MS} ms")
    waits = [prompt_times(home, PROMPTS) for _ in range(5)]
    begun, loading, warm = (statistics.median(wait[part] for wait in waits) for part in range(3))
    worst = max(wait[3] for wait in waits)
    print(f"prompt  {warm:.1f} ms, median of {PROMPTS} in each of 5 sessions ({worst:.0f} at worst), model warm")
    print(f"        the first of a session: {begun:.0f} ms; while the model is loading at most {loading:.0f} ms")
    return 0 if start <= START_LIMIT_MS else 1


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


def prompt_times(home: Path, count: int) -> tuple[float, float, float, float]:
    """(the first prompt, the longest while the model loads, the median afterwards, the longest of those)."""
    server = Server(home, memories.project_of(home))
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
