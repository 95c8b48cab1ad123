"""Compact vectors: what is near is found though numbers are rounded, only where it may be; what goes leaves nothing."""

import math
import random

import pytest

from hippo_core.store import compact
from hippo_core.store.compact import CompactVectors

numpy = pytest.importorskip("numpy")


@pytest.fixture
def vectors(store):
    return CompactVectors(store._db, "message")


def unit(chance, dimension, like=None, noise=1.0):
    vector = numpy.array([chance.gauss(0, 1 / math.sqrt(dimension)) for _ in range(dimension)], "<f4")
    vector = vector if like is None else like + noise * vector
    return vector / numpy.linalg.norm(vector)


def put(store, vectors, rows, scope="p1", kind="said", model=1):
    with store.transaction():
        vectors.add(model, scope, kind, [(owner, vector.tobytes()) for owner, vector in rows])


def near(vectors, vector, limit=10, scopes=None, kind="said", model=1):
    return vectors.nearest(model, kind, vector.tobytes(), scopes=scopes, limit=limit)


@pytest.mark.parametrize("dimension", [16, 64, 100, 384, 1536])
def test_the_nearest_are_those_of_an_exact_search_with_their_cosines(store, vectors, dimension):
    chance = random.Random(1)
    rows = [unit(chance, dimension) for _ in range(150)]
    put(store, vectors, enumerate(rows, 1))
    asked = unit(chance, dimension, like=rows[77], noise=0.5)
    exact = sorted(((float(row @ asked), owner) for owner, row in enumerate(rows, 1)), reverse=True)
    found = near(vectors, asked, 3)
    assert [owner for owner, _ in found] == [owner for _, owner in exact[:3]]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for cosine, _ in exact[:3]], abs=0.01)


def test_codes_alone_leave_the_nearest_among_the_candidates(store, vectors, monkeypatch):
    monkeypatch.setattr(compact, "CANDIDATES", 40)
    monkeypatch.setattr(compact, "_FEWEST", 10)
    monkeypatch.setattr(compact, "_STRIDE", 300)
    monkeypatch.setattr(compact, "_MOST_ROOM", 256)
    chance = random.Random(2)
    rows = [unit(chance, 128) for _ in range(1_500)]
    put(store, vectors, enumerate(rows, 1))
    asked = [(owner, unit(chance, 128, like=rows[owner - 1], noise=0.7)) for owner in range(1, 1_500, 50)]
    assert all(near(vectors, vector, 5)[0][0] == owner for owner, vector in asked)
    assert len(near(vectors, asked[0][1], 40)) == 40


@pytest.mark.parametrize("limit, candidates", [(10, 400), (100, 800), (400, 1_600)])
def test_as_many_candidates_are_looked_at_as_the_figures_are_of(store, vectors, limit, candidates):
    chance = random.Random(5)
    put(store, vectors, ((owner, unit(chance, 16)) for owner in range(1, 2_001)))
    code = compact._codes(unit(chance, 16)[None, :])[0]
    assert len(set(vectors._candidates(1, "said", None, code, limit))) == candidates


def test_only_the_asked_for_model_kind_and_scopes_are_searched(store, vectors):
    vector = unit(random.Random(3), 64)
    places = [(1, "p1", "said"), (1, "p2", "said"), (1, "p1", "heard"), (2, "p1", "said")]
    for owner, (model, scope, kind) in enumerate(places, 1):
        put(store, vectors, [(owner, vector)], scope, kind, model)
    assert [owner for owner, _ in near(vectors, vector, scopes=["p2"])] == [2]
    assert [owner for owner, _ in near(vectors, vector, kind="heard")] == [3]
    assert [owner for owner, _ in near(vectors, vector, model=2)] == [4]
    assert sorted(owner for owner, _ in near(vectors, vector)) == [1, 2]
    assert near(vectors, vector, scopes=[]) == [] and near(vectors, vector, scopes=["p9"]) == []


def test_blocks_grow_with_what_they_hold_and_go_when_they_are_empty(store, vectors):
    chance = random.Random(4)
    rows = [unit(chance, 64) for _ in range(500)]
    for owner in range(1, 501, 5):
        put(store, vectors, [(owner, rows[number - 1]) for number in range(owner, owner + 5)])
    blocks = store._db.execute("SELECT first, room, used FROM message_code ORDER BY first").fetchall()
    assert blocks == [(1, 64, 64), (65, 128, 128), (193, 256, 256), (449, 512, 52)]
    with store.transaction():
        for owner in range(1, 500, 5):
            vectors.drop(owner)
    assert store._db.execute("SELECT count(*) FROM message_code").fetchone() == (0,)
    assert near(vectors, rows[0]) == [] and vectors.gaps() == (0, 0)


def test_an_owner_is_as_near_as_its_nearest_vector_and_leaves_with_all_of_them(store, vectors):
    chance = random.Random(5)
    far, close, other = unit(chance, 64), unit(chance, 64), unit(chance, 64)
    put(store, vectors, [(1, far), (1, close), (2, other)])
    assert near(vectors, close)[0] == (1, pytest.approx(1.0, abs=0.01)) and len(near(vectors, close)) == 2
    with store.transaction():
        vectors.drop(1)
    assert [owner for owner, _ in near(vectors, close)] == [2] and vectors.gaps() == (0, 0)
    (codes,) = store._db.execute("SELECT codes FROM message_code").fetchone()
    assert codes[:16] == bytes(16) and codes[16:24] != bytes(8)


def test_a_vector_of_zeros_is_near_nothing(store, vectors):
    put(store, vectors, [(1, numpy.zeros(64, "<f4"))])
    assert near(vectors, unit(random.Random(6), 64)) == [(1, 0.0)] and vectors.gaps() == (0, 0)


@pytest.mark.parametrize("copies", [5, 5_000])
def test_thousands_of_the_same_text_do_not_push_the_number_of_candidates(store, vectors, copies):
    chance = random.Random(7)
    same, asked = unit(chance, 64), unit(chance, 64)
    put(store, vectors, [(owner, same) for owner in range(1, copies + 1)])
    put(store, vectors, [(9_999, asked)])
    found = near(vectors, asked, 400)
    assert found[0][0] == 9_999 and len(found) == min(copies + 1, 400)
