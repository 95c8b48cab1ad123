"""Questions asked before are not embedded again, in the process or in the next; the file holds no word and can go."""

import os
import stat
import struct
import subprocess
import sys

import pytest

from hippo_core.curate.forget import forget, what_would_go
from hippo_core.embed.cache import IN_FILE, IN_PROCESS, CachedQueries, forget_queries
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall import present
from hippo_core.recall.pipeline import recall

numpy = pytest.importorskip("numpy")


class Counting:
    """A model whose vectors tell the texts apart."""

    def __init__(self, fingerprint="test/one", dimension=8):
        self.fingerprint, self.dimension, self.asked = fingerprint, dimension, []

    def pieces(self, text):
        return [text]

    def embed(self, texts):
        self.asked += texts
        letters = [t.ljust(self.dimension)[: self.dimension] for t in texts]
        vectors = numpy.array([[1 + len(t), *map(ord, cut[1:])] for t, cut in zip(texts, letters, strict=True)], "f4")
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def file(paths):
    return paths.queries


def test_a_question_is_embedded_once_in_a_process_and_once_for_all(file):
    model = Counting()
    first = CachedQueries(model, file)
    wanted = model.embed(["redis?"])[0]
    del model.asked[:]
    for cache in (first, first, CachedQueries(model, file)):
        assert numpy.array_equal(cache.embed(["redis?"])[0], wanted)
    assert model.asked == ["redis?"] and first.skipped


def test_vectors_of_another_model_or_size_are_never_taken(file):
    for model in (Counting(), Counting("test/two"), Counting(dimension=4)):
        assert CachedQueries(model, file).embed(["redis?"]).shape == (1, model.dimension)
        assert model.asked == ["redis?"]


def test_the_file_holds_no_word_and_is_its_owners_alone(file):
    CachedQueries(Counting(), file).embed(["unmistakable question"])
    data = file.read_bytes()
    assert b"unmistakable" not in data and b"question" not in data
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_installations_know_the_same_question_by_different_hashes(tmp_path):
    for name in ("a", "b"):
        CachedQueries(Counting(), tmp_path / name).embed(["redis?"])
    bodies = [(tmp_path / name).read_bytes()[44:60] for name in ("a", "b")]
    assert bodies[0] != bodies[1]


def test_neither_the_file_nor_the_process_keeps_more_than_a_few_hundred(file):
    cache = CachedQueries(Counting(), file)
    for n in range(2 * IN_FILE + 10):
        cache.embed([f"q{n}"])
    record = 16 + 8 + 4 * 8
    assert (file.stat().st_size - 44) // record <= IN_FILE and len(cache._known) == IN_PROCESS == IN_FILE == 256
    again = Counting()
    CachedQueries(again, file).embed([f"q{2 * IN_FILE + 9}", f"q{2 * IN_FILE - 100}"])  # the newer ones are kept
    assert again.asked == []


def test_what_is_asked_again_and_again_stays_in_the_process(tmp_path):
    (tmp_path / "a file").write_text("", encoding="utf-8")
    model = Counting()
    cache = CachedQueries(model, tmp_path / "a file" / "queries")  # which cannot be written
    for n in range(IN_PROCESS + 50):
        cache.embed(["redis?"])
        cache.embed([f"q{n}"])
    assert model.asked.count("redis?") == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"", lambda data: data[:-3], lambda data: b"x" * len(data), lambda data: data + b"torn",
        lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:],  # of the hash
        lambda data: data[:70] + bytes([data[70] ^ 1]) + data[71:],  # of the vector
        lambda data: data[:8] + struct.pack("<I", 9) + data[12:],
    ],
)  # fmt: skip
def test_a_damaged_file_costs_one_embedding_and_mends_itself(file, damage):
    CachedQueries(Counting(), file).embed(["redis?"])
    file.write_bytes(damage(file.read_bytes()))
    model = Counting()
    for _ in range(2):
        assert numpy.array_equal(CachedQueries(model, file).embed(["redis?"])[0], Counting().embed(["redis?"])[0])
    assert len(model.asked) <= 1


def test_where_nothing_can_be_written_the_model_answers(tmp_path):
    (tmp_path / "a file").write_text("", encoding="utf-8")
    model = Counting()
    assert CachedQueries(model, tmp_path / "a file" / "queries").embed(["redis?"]).shape == (1, 8)


def test_many_processes_at_once_leave_a_file_that_can_be_read(file):
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); from test_query_cache import Counting\n"
        "from hippo_core.embed.cache import CachedQueries\n"
        "cache = CachedQueries(Counting(), Path(sys.argv[1]))\n"
        "for n in range(20): cache.embed([sys.argv[3] + str(n)])"
    )
    CachedQueries(Counting(), file).embed(["first"])
    here = os.path.dirname(__file__)
    running = [subprocess.Popen([sys.executable, "-c", code, str(file), here, name]) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    model = Counting()
    for name in "abc":
        for n in range(20):
            CachedQueries(model, file).embed([f"{name}{n}"])
    assert len(model.asked) <= 3


def test_forgetting_anything_empties_the_file(store, paths):
    cache = CachedQueries(Counting(), paths.queries)
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        store.memories.add(Draft("a memory that is long enough", MemoryType.FACT, GLOBAL, Author.MACHINE), "t")
    cache.embed(["what about that memory"])
    left = paths.queries.with_name(f".{paths.queries.name}.1.tmp")
    left.write_bytes(b"half")
    forget(store, paths, what_would_go(store, ["m1"]))
    assert not paths.queries.exists() and not left.exists()
    forget_queries(paths.queries)  # nothing to do is no error


def test_forgetting_reaches_what_a_running_process_knows(file):
    """Also where the file exists again by the next question, because another process asked one meanwhile."""
    model = Counting()
    running = CachedQueries(model, file)
    running.embed(["redis?"])
    forget_queries(file)
    CachedQueries(Counting(), file).embed(["something else"])
    running.embed(["redis?"])
    assert model.asked == ["redis?", "redis?"]


def test_the_explanation_says_that_the_model_was_not_asked(store, paths):
    model = Counting()
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        memory = store.memories.add(Draft("redis was dropped", MemoryType.FACT, GLOBAL, Author.MACHINE), "t")
        store.vectors.put(memory.id, model.fingerprint, 8, [model.embed(["redis was dropped"])[0].tobytes()])
    shown = [
        present.recall_text(
            recall(store, "redis dropped", embedder=CachedQueries(model, paths.queries), scopes=None), explain=True
        )
        for _ in range(2)
    ]
    assert "asked before" not in shown[0] and "asked before: the model was not asked again" in shown[1]


HASHED = """
from hippo_core.embed.cache import _check
from hippo_core.project import short_digest
print(short_digest("a"), _check(b"a", b"b", b"key").hex())
"""


def test_hashing_needs_no_openssl_and_is_the_same_with_it():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def said(code):
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    *without, loaded = said(f"{HASHED}import sys; print('_hashlib' in sys.modules)")
    assert loaded == "False" and without == said(f"import hashlib, sys; sys.modules['_blake2'] = None\n{HASHED}")
