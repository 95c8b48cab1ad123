"""Killed anywhere, a pass leaves a store from which the next one finishes: nothing twice, nothing missing."""

import json
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from transcript_files import assistant, user, write

from hippo_core.store import Store

SESSIONS = 14
KILLS = 5

# The child runs the real pass; only the embedding model is replaced, by one that needs no weights.
_CHILD = """
    import hashlib, sys
    from pathlib import Path
    import numpy
    import hippo_core.embed.choose as choose
    from hippo_core.ingest import embed
    from hippo_core.ingest.run import run_pass
    from hippo_core.paths import Paths

    class Digest:
        fingerprint, dimension = "digest", 8

        def pieces(self, text):
            return [text[i : i + 40] for i in range(0, len(text), 40)]

        def embed(self, texts):
            rows = [list(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
            vectors = numpy.array(rows, dtype="float32") + 1
            return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)

    choose.open_embedder = lambda config: Digest()
    embed.BATCH = 3
    home, root = Path(sys.argv[1]), Path(sys.argv[2])
    run_pass(Paths(home), roots=[root], on_progress=lambda *step: print(*step, flush=True))
    print("end", flush=True)
"""


@pytest.fixture
def root(isolated):
    """Sessions that speak of the same things, so that memories are added, confirmed and replaced."""
    folder = isolated / "transcripts"
    for n in range(SESSIONS):
        session = f"00000000-0000-4000-8000-{n:012d}"
        start = 100 * n
        turns = [
            user(f"We decided on library{n % 5} because of bug {n % 3}.", start, sessionId=session),
            assistant(f"The worker listens on port {8000 + n}.", start + 1, sessionId=session),
            user("Never commit generated files.", start + 2, sessionId=session),
        ]
        write(folder / f"project{n % 2}" / f"{session}.jsonl", *turns)
    return folder


def start(home, root) -> subprocess.Popen:
    code = textwrap.dedent(_CHILD)
    folder = Path(__file__).parent.parent
    return subprocess.Popen([sys.executable, "-c", code, str(home), str(root)], stdout=subprocess.PIPE, cwd=folder)


def finish(home, root) -> None:
    output, _ = start(home, root).communicate()
    assert output.splitlines()[-1] == b"end"


def kill_after(home, root, lines: int) -> bool:
    """Kill a pass after it told of `lines` steps; False when it was done before."""
    process = start(home, root)
    with process.stdout:
        told = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        process.wait()
    return b"end\n" not in told


def contents(home: Path) -> dict:
    """All that a store holds but for the moments at which it was written."""
    with Store.open(home / "memory.db") as store:
        db = store._db
        queries = {
            "messages": "SELECT id, uid, session_id, scope, role, text, at, withheld FROM message",
            "memories": "SELECT id, text, scope, type, importance, confidence, confirmed_at, valid_from, valid_until, "
            "seen, version, status, superseded_by FROM memory",
            "sources": "SELECT * FROM memory_source ORDER BY 1, 2",
            "journal": "SELECT id, actor, action, memory_id FROM journal",
            "files": "SELECT path, size, offset, bad_lines, error FROM ingest_source ORDER BY 1",
            "sessions": "SELECT session_id, distilled_to FROM ingest_session",
            "chunks": "SELECT memory_id, ordinal FROM memory_chunk ORDER BY 1, 2",
        }
        found = {name: db.execute(query).fetchall() for name, query in queries.items()}
        assert db.pragma("integrity_check") == "ok"
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_pass_is_finished_by_the_next_one(isolated, root, seed):
    pytest.importorskip("sqlite_vec", reason="vectors are a part of what is compared")
    undisturbed, killed = isolated / "undisturbed", isolated / "killed"
    finish(undisturbed, root)
    chance = random.Random(seed)
    died = [kill_after(killed, root, chance.randint(1, 9)) for _ in range(KILLS)]
    assert any(died), "no pass was killed at work"
    finish(killed, root)
    expected = contents(undisturbed)
    assert contents(killed) == expected
    assert len(expected["messages"]) == 3 * SESSIONS and expected["memories"] and expected["chunks"]
    rendered = {path.name for path in (undisturbed / "render" / "project").iterdir()}
    assert rendered == {path.name for path in (killed / "render" / "project").iterdir()}


def test_a_pass_that_was_killed_leaves_no_lock(isolated, root):
    home = isolated / "killed"
    kill_after(home, root, 2)
    assert os.path.exists(home / "run" / "ingest.lock")
    finish(home, root)
    assert json.loads((home / "render" / "state.json").read_text(encoding="utf-8"))
