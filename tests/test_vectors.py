"""Vectors of memories: exact, in vec0 by scope; searched by type, by the nearest piece; what they need to go."""

import random
import struct

import pytest

from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store, migrations

pytest.importorskip("sqlite_vec")

API, WEB = project_scope("example.org/a/api", "api"), project_scope("example.org/a/web", "web")
DIMENSION = 64


def learn(store, text, kind=MemoryType.FACT, scope=GLOBAL_SCOPE):
    with store.transaction():
        store.memories.ensure_scope(scope)
        return store.memories.add(Draft(text, kind, scope.key, Author.MACHINE), "test").id


def unit(chance, like=None, noise=1.0):
    numbers = [chance.gauss(0, 1) for _ in range(DIMENSION)]
    length = sum(n * n for n in numbers) ** 0.5
    numbers = [noise * n / length + (0 if like is None else struct.unpack(f"<{DIMENSION}f", like)[i])
               for i, n in enumerate(numbers)]  # fmt: skip
    length = sum(n * n for n in numbers) ** 0.5
    return struct.pack(f"<{DIMENSION}f", *(n / length for n in numbers))


def cosine(one, other):
    return sum(a * b for a, b in zip(*(struct.unpack(f"<{DIMENSION}f", v) for v in (one, other)), strict=True))


def put(store, number, *vectors, model="model"):
    with store.transaction():
        store.vectors.put(number, model, DIMENSION, vectors)


def near(store, vector, *, scopes=None, types=None, limit=10):
    return store.vectors.nearest("model", vector, scopes=scopes, types=types, limit=limit)


def test_the_nearest_are_exactly_those_of_a_search_through_all_in_their_scopes(store):
    chance = random.Random(1)
    vectors, scopes = {}, {}
    for n in range(400):  # more than a chunk in each
        scope = (GLOBAL_SCOPE, API, WEB)[n % 3]
        number = learn(store, f"fact {n}", scope=scope)
        vectors[number], scopes[number] = unit(chance), scope.key
        put(store, number, vectors[number])
    asked = unit(chance)
    for wanted in (None, [API.key, GLOBAL], [WEB.key]):
        among = [n for n in vectors if wanted is None or scopes[n] in wanted]
        exact = sorted(among, key=lambda n: -cosine(vectors[n], asked))[:50]
        found = near(store, asked, scopes=wanted, limit=50)
        assert [number for number, _ in found] == exact
        assert [value for _, value in found] == pytest.approx([cosine(vectors[n], asked) for n in exact], abs=1e-5)
    assert store.vectors.of("model", list(vectors)) == vectors


def test_vectors_lie_in_a_vec0_table_partitioned_by_scope(store):
    put(store, learn(store, "a fact"), unit(random.Random(2)))
    sql = store._db.execute("SELECT sql FROM sqlite_schema WHERE name = 'memory_vector_1'").get
    assert "USING vec0" in sql and "scope TEXT PARTITION KEY" in sql and f"float[{DIMENSION}]" in sql


def test_types_are_searched_alone_also_where_others_are_nearer(store):
    chance = random.Random(3)
    asked = unit(chance)
    tools = [learn(store, f"tool {n}", MemoryType.TOOL) for n in range(3)]
    facts = [learn(store, f"fact {n}") for n in range(60)]
    for number in facts:
        put(store, number, unit(chance, like=asked, noise=0.3))
    for number in tools:
        put(store, number, unit(chance))
    assert not {number for number, _ in near(store, asked)} & set(tools)
    assert {number for number, _ in near(store, asked, types=[MemoryType.TOOL])} == set(tools)


def test_a_memory_of_several_pieces_is_one_result_and_known_by_its_first(store):
    chance = random.Random(4)
    first, second, other = (unit(chance) for _ in range(3))
    long, short = learn(store, "a long one"), learn(store, "a short one")
    put(store, short, other)
    put(store, long, first, second)
    put(store, long, other, model="another")
    put(store, long, other)  # somebody else was first
    found = near(store, second)
    assert [number for number, _ in found] == [long, short] and found[0][1] == pytest.approx(1)
    assert store.vectors.of("model", [long, short])[long] == first
    assert store.vectors.pending("model", 9) == [] and dict(store.vectors.pending("another", 9)).keys() == {short}


def test_an_older_store_keeps_its_memories_vectors(paths, monkeypatch):
    names = [step.__name__ for step in migrations.MIGRATIONS]
    older = migrations.MIGRATIONS[: names.index("m006_frequencies") + 1]
    chance, vectors = random.Random(5), {}
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", older)
        patched.setattr(migrations, "NEWEST", len(older))
        with Store.open(paths.store) as store:
            for n in range(150):
                number = learn(store, f"fact {n}")
                vectors[number] = unit(chance)
                put(store, number, vectors[number])
    with Store.open(paths.store) as store:
        assert store._db.pragma("user_version") == len(migrations.MIGRATIONS)
        assert store.upkeep.damage() == [] and store.upkeep.gaps() == [] and not store.vectors.pending("model", 1)
        assert store.vectors.of("model", list(vectors)) == vectors
        for number, vector in vectors.items():
            assert near(store, vector, scopes=[GLOBAL], limit=1)[0] == (number, pytest.approx(1))


def test_without_the_extension_a_memory_with_vectors_is_not_changed_and_one_without_is(paths, monkeypatch):
    with Store.open(paths.store) as store:
        held, bare = learn(store, "with vectors"), learn(store, "without vectors")
        put(store, held, unit(random.Random(6)))
    monkeypatch.setattr("hippo_core.store.vectors.load_vectors", lambda db: False)
    with Store.open(paths.store) as store:
        with pytest.raises(VectorsUnavailableError, match=r"install\.py"), store.transaction():
            store.memories.retire(held, "test", Author.HUMAN)
        with store.transaction():
            store.memories.retire(bare, "test", Author.HUMAN)
        assert [memory.id for memory in store.memories.select()] == [held]
        assert store.vectors.has("model") and near(store, unit(random.Random(6))) == []
