#!/usr/bin/env python3
"""Whether recall brings what bears on a question and nothing else, on cases of our own (tests/precision_cases.py).

    python benchmarks/precision_own.py [--explain] [--no-vectors]

Each world is a store; each case asks the pipeline that the command and the tool server call, in one scope and the
global one. Printed for each world: cases that hold, and of these the ones that want nothing. Exits with 1 when a
published figure is lost (published.py).
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import published  # noqa: E402
from precision_cases import WORLDS  # noqa: E402
from precision_worlds import filled, shown  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--explain", action="store_true", help="print each case that fails, with what was shown")
    parser.add_argument("--no-vectors", action="store_true", help="keywords only")
    options = parser.parse_args()
    embedder = None if options.no_vectors else open_embedder(Config())
    found = {}
    for title, world in WORLDS.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            store, names = filled(Path(folder) / "memory.db", world, embedder)
            with store:
                verdicts = [(case, shown(store, names, case, embedder)) for case in world.asked]
        kept = [case for case, names_shown in verdicts if case.holds(names_shown)]
        silent = [case for case, _ in verdicts if case.only == frozenset()]
        found[title, "holds"] = len(kept)
        print(
            f"{title}: {len(kept)} of {len(verdicts)} hold; silent in {sum(c in kept for c in silent)} of {len(silent)}"
        )
        for case, names_shown in verdicts if options.explain else ():
            if case not in kept:
                wanted = sorted(case.must if case.only is None else case.only)
                print(f"  {case.question!r}\n    wanted {wanted} never {sorted(case.never)}\n    shown  {names_shown}")
    return published.held("precision_own" if embedder else "precision_own by words", found)


if __name__ == "__main__":
    sys.exit(main())
