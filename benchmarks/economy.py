#!/usr/bin/env python3
"""What memory costs a session in tokens, against putting the whole store before the model.

    python benchmarks/economy.py [--memories 10000]

Tokens are estimated alike on both sides (render.budget.tokens). A session's share is what the hooks print: standing
rules and what memory exists; a turn's is the nudge. The whole store is each memory's text alone.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from rendered_store import all_memories, make

from hippo_core.paths import Paths
from hippo_core.render.budget import tokens

_TARGET = 100


def told(paths: Paths, name: str) -> int:
    """Tokens of a rendered file's text."""
    return tokens(json.loads((paths.render / name).read_bytes())["hookSpecificOutput"]["additionalContext"])


def most_told(paths: Paths, kind: str) -> int:
    """Tokens of the largest of all projects' files."""
    return max(told(paths, f"{kind}/{file.name}") for file in (paths.render / kind).glob("*.json"))


def report(what: str, cost: int, whole: int) -> bool:
    ratio = whole / cost
    print(f"{what.ljust(44)} {cost:7,} tokens   {ratio:9,.0f} times less   target: at least {_TARGET}")
    return ratio >= _TARGET


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    count = parser.parse_args().memories
    results = []
    for rules, name in ((12, "12 standing rules"), (200, "standing rules to the brim")):
        with tempfile.TemporaryDirectory() as folder:
            paths = make(Path(folder), count, rules)
            whole = sum(tokens(memory.text + "\n") for memory in all_memories(paths))
            if not results:
                print(f"{'whole store'.ljust(44)} {whole:7,} tokens   ({count:,} memories, text alone)")
            session = told(paths, "rules.json") + most_told(paths, "project")
            results.append(report(f"a session's start, {name}", session, whole))
            if rules == 12:
                results.append(report("each turn", told(paths, "nudge.json"), whole))
                results.append(report("each sub-agent", most_told(paths, "agent"), whole))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
