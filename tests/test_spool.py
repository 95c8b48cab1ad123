"""What was shown is noted without words, counted once whatever dies, and never in an answer's way."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hippo_core import spool
from hippo_core.cli.memories import show_command
from hippo_core.cli.recall import recall_command
from hippo_core.config import save
from hippo_core.dream import spool as counting
from hippo_core.dream.spool import fold
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.server import Tools
from hippo_core.store.use import Use

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", str(NOW))


@pytest.fixture
def memories(store):
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        return [
            store.memories.add(Draft(f"Deploys go through gate {n}.", MemoryType.FACT, "g", Author.MACHINE), "test")
            for n in range(3)
        ]


def lines(paths):
    return [json.loads(line) for line in (paths.spool / spool.NAME).read_text(encoding="utf-8").splitlines()]


def test_every_face_notes_ids_and_no_words(store, paths, memories, isolated):
    save(paths, embedder="off")
    assert CliRunner().invoke(recall_command, ["which", "gate", "do", "deploys", "take"]).exit_code == 0
    Tools(paths, str(isolated)).memory_search("which gate do deploys take")
    assert CliRunner().invoke(show_command, [memories[1].public_id]).exit_code == 0
    shown, by_model, used = lines(paths)
    assert set(shown) == {"at", "shown"} and set(shown["shown"]) == {1, 2, 3} == set(by_model["shown"])
    assert used == {"at": NOW, "used": [2]}
    assert fold(store, paths) == 7
    assert store.uses.of(2) == Use(2, 1, NOW, NOW) and store.uses.of(1) == Use(2, 0, NOW, None)
    assert list(paths.spool.iterdir()) == []


def test_answers_do_not_depend_on_the_spool(store, paths, memories):
    save(paths, embedder="off")
    paths.spool.write_text("a file where the folder should be", encoding="utf-8")
    assert "gate" in CliRunner().invoke(recall_command, ["gate"]).output


def test_retrieval_does_not_write_the_store(paths, store, memories):
    save(paths, embedder="off")
    store.close()
    before = paths.store.read_bytes()
    CliRunner().invoke(recall_command, ["gate"])
    assert paths.store.read_bytes() == before


def test_the_spool_is_bounded(paths):
    paths.spool.mkdir(parents=True)
    (paths.spool / spool.NAME).write_bytes(b"\n" * spool.MOST_BYTES)
    spool.note_shown(paths, [1])
    assert (paths.spool / spool.NAME).stat().st_size == spool.MOST_BYTES
    spool.note_shown(paths, [])


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_spool_is_private(paths):
    spool.note_used(paths, [1])
    assert (paths.spool / spool.NAME).stat().st_mode & 0o777 == 0o600 and paths.spool.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("line", [
    b"", b"{", b"[1]", b"7", b'{"at": "soon", "shown": [1]}', b'{"at": NaN, "shown": [1]}', b'{"shown": [1]}',
    b'{"at": 1, "shown": 1}', b'{"at": 1, "shown": [true, "1", 0, -1, 1.0, null, 1e400, 99999999999999999999999]}',
    b'{"at": 1, "shown": [424242]}', b"\xff\xfe\x00", b"[" * 100_000,
    b'{"at": ' + b"9" * 400 + b', "shown": [1]}',
])  # fmt: skip
def test_damaged_notes_cost_only_themselves(store, paths, memories, line):
    spool.note_shown(paths, [1])
    with (paths.spool / spool.NAME).open("ab") as file:
        file.write(line + b"\n")
    spool.note_shown(paths, [2])
    fold(store, paths)
    assert store.uses.of(1).shown == 1 and store.uses.of(2).shown == 1


def test_a_note_from_the_future_counts_as_now(store, paths, memories, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", str(NOW + 9e8))
    spool.note_shown(paths, [1])
    monkeypatch.setenv("HIPPO_NOW", str(NOW))
    fold(store, paths)
    assert store.uses.of(1).last_shown == NOW


def test_counts_go_with_the_memory(store, paths, memories):
    spool.note_shown(paths, [1, 2])
    fold(store, paths)
    with store.transaction():
        store.forgetting.erase([1], [])
    assert store.uses.of(1) == Use() and store.uses.of(2).shown == 1


_DIES = """
import os, sys
from pathlib import Path
from hippo_core.dream import spool
from hippo_core.paths import Paths
from hippo_core.store import Store

paths = Paths(Path(sys.argv[1]))
step = int(sys.argv[2])
count = 0
def trace(frame, event, arg):
    global count
    if frame.f_code.co_filename.endswith(("dream/spool.py", "store/use.py", "store/store.py")):
        count += event == "line"
        if count == step:
            os._exit(9)
    return trace
with Store.open(paths.store) as store:
    sys.settrace(trace)
    spool.fold(store, paths)
"""


@pytest.mark.parametrize("step", range(1, 90, 4))
def test_killed_at_any_line_it_counts_nothing_twice_and_loses_nothing(store, paths, memories, step):
    for _ in range(3):
        spool.note_shown(paths, [1, 2])
    subprocess.run(
        [sys.executable, "-c", _DIES, str(paths.home), str(step)], check=False, cwd=os.path.dirname(__file__) + "/.."
    )
    fold(store, paths)
    assert [store.uses.of(n).shown for n in (1, 2, 3)] == [3, 3, 0]
    assert list(paths.spool.iterdir()) == []
    fold(store, paths)
    assert store.uses.folded() == set()


def test_a_counted_file_that_could_not_be_deleted_is_not_counted_again(store, paths, memories, monkeypatch):
    spool.note_shown(paths, [1])
    with monkeypatch.context() as held:
        held.setattr(counting.Path, "unlink", lambda self, **_: (_ for _ in ()).throw(PermissionError()))
        fold(store, paths)
    assert len(list(paths.spool.iterdir())) == 1
    fold(store, paths)
    assert store.uses.of(1).shown == 1 and list(paths.spool.iterdir()) == []
