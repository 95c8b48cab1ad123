"""What tests and benchmarks/reliability.py share: passes that can be killed, whole stores to compare, damaged bytes."""

import contextlib
import hashlib
import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hippo_core.store import Store

ROOT = Path(__file__).resolve().parent.parent
NOW = 1_800_000_000.0  # the stopped clock of passes that are compared

# The child runs the real pass; only the embedding model is replaced, by one that needs no weights.
_PASS = """
    import hashlib, sys
    from pathlib import Path
    import numpy
    import hippo_core.embed.choose as choose
    from hippo_core.errors import HippoError
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
    embed.BATCH = int(sys.argv[3])
    home, root = Path(sys.argv[1]), Path(sys.argv[2])
    print("begin", flush=True)
    try:
        run_pass(Paths(home), roots=[root], unfinished=True, on_progress=lambda *step: print(*step, flush=True))
    except HippoError as error:
        print("error", type(error).__name__, error, flush=True)
        sys.exit(error.exit_code)
    print("end", flush=True)
"""


def start_pass(home: Path, root: Path, *, batch: int = 3, now: float | None = None) -> subprocess.Popen:
    """A pass as a process of its own, which prints "begin", its steps, and "end" or the error. now: stops its clock."""
    environment = {**os.environ, **({"HIPPO_NOW": str(now)} if now else {})}
    command = [sys.executable, "-c", textwrap.dedent(_PASS), str(home), str(root), str(batch)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment)


def finish_pass(home: Path, root: Path, *, batch: int = 3, now: float | None = None) -> None:
    """A pass that nothing disturbs, to its end."""
    output, _ = start_pass(home, root, batch=batch, now=now).communicate()
    assert output.splitlines()[-1] == b"end", output[-500:]


def whole_store(home: Path) -> dict[str, Any]:
    """Every row of every table, every vector, and what the hooks read; with a stopped clock two runs must agree on all.

    AssertionError when the file, or an index of it, is not sound.
    """
    with Store.open(home / "memory.db") as store:
        assert store.upkeep.damage() == [] and store.upkeep.gaps() == []
        assert store.upkeep.orphans() == {} and store.upkeep.broken_references() == 0
        with store.transaction():
            assert all(
                store.upkeep.is_sound(index, against_rows=True)
                for index in ("memory_exact", "memory_plain", "message_plain", "episode_plain")
            )
        assert store.vectors.available
        db = store._db
        virtual = ("memory_exact", "memory_plain", "message_plain", "episode_plain", "memory_vector")
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall()
        tables = [name for (name,) in names if not name.startswith((*virtual, "sqlite_"))]
        tables += [f"memory_vector_{model}" for (model,) in db.execute("SELECT id FROM embedding_model").fetchall()]
        found = {name: _rows(db, name) for name in tables}
    for file in sorted((home / "render").rglob("*")):
        if file.is_file() and not file.name.startswith("."):  # what a killed process was just writing
            found[f"render/{file.relative_to(home / 'render').as_posix()}"] = hashlib.sha256(
                file.read_bytes()
            ).hexdigest()
    return found


def _rows(db: Any, table: str) -> list[tuple]:
    columns = "rowid, scope, embedding" if table.startswith("memory_vector_") else "*"
    return sorted(db.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Names of what two stores do not agree on."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody can write in `folder` meanwhile, root neither; skips the test where that cannot be had."""
    import pytest

    if os.name != "posix":
        pytest.skip("a folder's mode keeps nobody from writing in it here")
    if os.geteuid():
        modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        return
    if subprocess.run(["mount", "-o", "bind,ro", str(folder), str(folder)], capture_output=True).returncode:
        pytest.skip("a read-only file system cannot be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def mutated(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """`data` with one to four injuries: bytes flipped, a part cut out, doubled, or spliced in from another file."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(body) + 1)
        stop = min(len(body), start + chance.choice((1, 7, 100, 5_000)))
        injury = chance.choice(("flip", "cut", "truncate", "double", "splice", "noise"))
        if injury == "flip":
            for _ in range(chance.choice((1, 5, 50))):
                if body:
                    body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        elif injury == "cut":
            del body[start:stop]
        elif injury == "truncate":
            del body[start:]
        elif injury == "double":
            body[stop:stop] = body[start:stop]
        elif injury == "splice":
            other = chance.choice(others)
            place = chance.randrange(len(other) + 1)
            body[start:stop] = other[place : place + chance.choice((10, 1_000, 20_000))]
        else:
            body[start:stop] = chance.randbytes(stop - start)
    return bytes(body)


def session_lines(session: str, turns: int, *, about: str = "shop", place: str = "shop", begin: int = 0,
                  tool_bytes: int = 0) -> bytes:  # fmt: skip
    """A transcript as the client writes it: the user asks, the assistant answers, a tool prints `tool_bytes`."""
    lines = []
    for turn in range(turns):
        for part, content in enumerate(_turn(turn, about, tool_bytes)):
            number = begin + turn * 3 + part
            kind = "assistant" if part == 1 else "user"
            lines.append(
                json.dumps(
                    {
                        "type": kind,
                        "uuid": f"{session[:24]}{number:012x}",
                        "sessionId": session,
                        "timestamp": f"2026-05-{1 + number // 86_400 % 28:02d}T{number // 3_600 % 24:02d}:"
                        f"{number // 60 % 60:02d}:{number % 60:02d}.000Z",
                        "cwd": f"/home/somebody/{place}",
                        "gitBranch": "main",
                        "message": {"role": kind, "content": content},
                    }
                )
            )
    return ("\n".join(lines) + "\n").encode()


def _turn(turn: int, about: str, tool_bytes: int) -> list[Any]:
    said = f"We decided on library{turn % 5} for {about} because of bug {turn % 3}, see case {turn}."
    answer = [{"type": "text", "text": f"Done. The worker of {about} listens on port {8000 + turn}."}]
    if not tool_bytes:
        return [said, answer]
    line = f"{turn:08d} GET /orders/{turn} 200 in 12 ms by worker {about}\n"
    output = (line * (tool_bytes // len(line) + 1))[:tool_bytes]
    return [said, answer, [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": output}]]
