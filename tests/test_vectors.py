"""Vectors of memories: exact, in vec0 by scope, few or many; by type, by the nearest piece; what they need to go."""

import random

import pytest
from peak import peak_of

from hippo_core.curate.remember import embed_memory
from hippo_core.errors import VectorsUnavailableError
from hippo_core.ingest.embed import embed_pending
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store, migrations, sketch, vec0

pytest.importorskip("sqlite_vec")
numpy = pytest.importorskip("numpy")

API, WEB = project_scope("example.org/a/api", "api"), project_scope("example.org/a/web", "web")
DIMENSION = 64


def learn(store, text, kind=MemoryType.FACT, scope=GLOBAL_SCOPE):
    with store.transaction():
        store.memories.ensure_scope(scope)
        return store.memories.add(Draft(text, kind, scope.key, Author.MACHINE), "test").id


def unit(chance, like=None, noise=1.0, dimension=DIMENSION):
    vector = numpy.array([chance.gauss(0, 1) for _ in range(dimension)], "<f4")
    vector *= noise / numpy.linalg.norm(vector)
    if like is not None:
        vector += numpy.frombuffer(like, "<f4")
    return (vector / numpy.linalg.norm(vector)).tobytes()


def cosine(one, other):
    return float(numpy.frombuffer(one, "<f4").astype("f8") @ numpy.frombuffer(other, "<f4").astype("f8"))


def put(store, number, *vectors, model="model"):
    with store.transaction():
        store.vectors.put(number, model, DIMENSION, vectors)


def embed_at_once(store, model, memory):
    """As a tool call does, and what the next pass makes of what that left undone."""
    embed_memory(store, memory, model)
    embed_pending(store, model)


def near(store, vector, *, scopes=None, types=None, limit=10):
    return store.vectors.nearest("model", vector, scopes=scopes, types=types, limit=limit)


def many(chance, count, dimension=DIMENSION):
    """Vectors in twenty heaps, a heap's as like each other as phrasings of one fact."""
    heaps = [unit(chance, dimension=dimension) for _ in range(20)]
    return [unit(chance, like=chance.choice(heaps), noise=0.6, dimension=dimension) for _ in range(count)]


def sketch_of(vector):
    return sketch.sketches(numpy.frombuffer(vector, "<f4")[None, :]).tobytes()


@pytest.fixture(params=["all of few", "the likeliest of many"])
def searching(request, monkeypatch):
    """Either way of searching, whatever the number of vectors."""
    monkeypatch.setattr(vec0, "_ALL_UP_TO", 10_000 if request.param == "all of few" else 0)
    monkeypatch.setattr(sketch, "_STRIDE", 256)
    return request.param


def test_the_nearest_are_exactly_those_of_a_search_through_all_in_their_scopes(store, searching):
    chance = random.Random(1)
    vectors, scopes = {}, {}
    for n, vector in enumerate([*many(chance, 500), *(unit(chance) for _ in range(400))]):  # chunks of each
        scope = (GLOBAL_SCOPE, API, WEB)[n % 3]
        number = learn(store, f"fact {n}", scope=scope)
        vectors[number], scopes[number] = vector, scope.key
        put(store, number, vector)
    for asked in (unit(chance), unit(chance, like=vectors[1]), vectors[7]):
        for wanted in (None, [API.key, GLOBAL], [WEB.key], ["p0"], []):
            among = [n for n in vectors if wanted is None or scopes[n] in wanted]
            exact = sorted(among, key=lambda n: -cosine(vectors[n], asked))[:50]
            found = near(store, asked, scopes=wanted, limit=50)
            assert [number for number, _ in found] == exact
            assert [value for _, value in found] == pytest.approx([cosine(vectors[n], asked) for n in exact], abs=1e-5)
    assert store.vectors.of("model", list(vectors)) == vectors


@pytest.mark.parametrize("dimension", [64, 100, 384, 1536])
def test_sketches_lose_none_of_the_nearest(store, monkeypatch, dimension):
    monkeypatch.setattr(vec0, "_ALL_UP_TO", 0)
    chance = random.Random(dimension)
    rows = many(chance, 600, dimension)
    with store.transaction():
        table = vec0.Vec0(store._db, "many", dimension)
        assert store.vectors.available
        table.create()
        table.add([(number, "g", vector) for number, vector in enumerate(rows, 1)])
    matrix = numpy.stack([numpy.frombuffer(row, "<f4") for row in rows])
    compared = []
    monkeypatch.setattr(vec0.Vec0, "_read", lambda self, places, read=vec0.Vec0._read: (
        compared.append(len(places)) or read(self, places)))  # fmt: skip
    for asked in (unit(chance, like=rows[n], noise=1.2, dimension=dimension) for n in range(0, 600, 15)):
        exact = numpy.argsort(-(matrix @ numpy.frombuffer(asked, "<f4")))[:10] + 1
        assert [row for row, _ in table.nearest(asked, scopes=None, limit=10)] == exact.tolist()
    assert sum(compared) / len(compared) < 300  # not simply all of them


def test_many_are_searched_by_their_sketches_and_few_are_not(store, monkeypatch):
    chance, compared = random.Random(5), []
    monkeypatch.setattr(vec0.Vec0, "_read", lambda self, places, read=vec0.Vec0._read: (
        compared.append(len(places)) or read(self, places)))  # fmt: skip
    rows = many(chance, 1_400, 64)
    with store.transaction():
        table = vec0.Vec0(store._db, "many", 64)
        assert store.vectors.available
        table.create()
        table.add([(number, "g", vector) for number, vector in enumerate(rows[:1_000], 1)])
    assert table.nearest(rows[5], scopes=None, limit=3)[0][0] == 6 and not compared
    with store.transaction():
        table.add([(number, "g", vector) for number, vector in enumerate(rows[1_000:], 1_001)])
    assert table.nearest(rows[5], scopes=None, limit=3)[0][0] == 6 and len(compared) == 1


def test_a_model_whose_memories_have_all_gone_is_not_worth_asking(store):
    number = learn(store, "a fact")
    put(store, number, unit(random.Random(4)))
    assert store.vectors.has("model") and not store.vectors.has("another")
    with store.transaction():
        store.vectors.drop(number)
    assert not store.vectors.has("model")


def test_a_vector_whose_memory_went_a_moment_ago_is_no_result(store, searching):
    numbers, vector = [learn(store, f"fact {n}") for n in range(3)], unit(random.Random(4))
    for number in numbers:
        put(store, number, vector)
    with store.transaction():
        store._db.execute("DELETE FROM memory_chunk WHERE memory_id = ?", (numbers[0],))
    assert [number for number, _ in near(store, vector)] == numbers[1:]


def test_more_may_be_asked_for_than_the_extension_gives(store, searching):
    vectors = [unit(random.Random(n)) for n in range(3)]
    for n, vector in enumerate(vectors):
        put(store, learn(store, f"fact {n}"), vector)
    assert len(near(store, vectors[0], limit=5_000)) == 3


def test_what_is_no_longer_remembered_neither_waits_for_a_vector_nor_gets_one(store):
    gone, kept = learn(store, "a fact"), learn(store, "another")
    with store.transaction():
        store.memories.retire(gone, "test", Author.HUMAN)
    assert [number for number, _ in store.vectors.pending("model", 9)] == [kept]
    vector = unit(random.Random(4))
    put(store, kept, vector)
    put(store, gone, vector)
    assert store.vectors.of("model", [gone, kept]) == {kept: vector}


@pytest.mark.parametrize("embed", [lambda store, model, memory: embed_pending(store, model), embed_at_once])
def test_a_memory_that_is_changed_while_it_is_embedded_gets_the_vector_of_its_new_words(store, embed):
    number = learn(store, "The office is in Bern.")

    class Model:
        fingerprint, dimension, asked = "model", DIMENSION, []

        def pieces(self, text):
            return [text]

        def embed(self, texts):
            if not self.asked:
                with store.transaction():
                    store.memories.update(number, 1, "user", Author.HUMAN, text="The office is in Rome.")
            self.asked.append(texts)
            return numpy.ones((len(texts), DIMENSION), "<f4") / DIMENSION**0.5

    embed(store, Model(), store.memories.get(number))
    assert Model.asked == [["The office is in Bern."], ["The office is in Rome."]]
    assert len(store.vectors.of("model", [number])) == 1


@pytest.mark.parametrize("largest", [0.0, 0.9])  # a single large number does not make all others coarse
def test_the_likeliest_are_those_of_the_greatest_product_with_numbers_in_four_steps(monkeypatch, largest):
    monkeypatch.setattr(sketch, "_MOST_EACH", 1)
    monkeypatch.setattr(sketch, "_TIMES", 1e6)
    chance = random.Random(13)
    rows = numpy.stack([numpy.frombuffer(unit(chance, dimension=100), "<f4") for _ in range(300)])
    asked = numpy.frombuffer(unit(chance, dimension=100), "<f4").copy()
    asked[7] += largest
    found = sketch.Question(asked).likeliest(sketch.sketches(rows), numpy.ones(300, "u1"), 20)
    steps = numpy.where(numpy.abs(rows) > 0.1, 3, 1) * numpy.sign(rows)
    rounded = numpy.rint(numpy.clip(asked / min(0.3, numpy.abs(asked).max()), -1, 1) * 7)
    products = steps @ rounded
    assert sorted(products[found]) == sorted(products)[-20:]


def test_what_went_is_not_found_and_what_came_in_its_place_is(store, searching):
    """Chunks run empty and go, and new ones take their numbers' place."""
    chance, held = random.Random(8), {}
    for turn in range(6):
        for n in range(140):
            number = learn(store, f"fact {turn} {n}", scope=(API, WEB)[n % 2])
            held[number] = unit(chance)
            put(store, number, held[number])
        for number in chance.sample(sorted(held), len(held)) if turn == 2 else chance.sample(sorted(held), 100):
            with store.transaction():
                store.vectors.drop(number)
            del held[number]
        asked = unit(chance)
        exact = sorted(held, key=lambda number: -cosine(held[number], asked))
        assert [number for number, _ in near(store, asked, limit=60)] == exact[:60]
        assert store.vectors.of("model", [*exact, 4711]) == held


def test_of_memories_with_the_same_vector_the_earlier_come_first(store, searching):
    same, numbers = unit(random.Random(12)), []
    for n in range(40):
        numbers.append(learn(store, f"fact {n}", scope=(WEB, API)[n % 3 == 0]))
        put(store, numbers[-1], same)
    assert [number for number, _ in near(store, same, limit=40)] == numbers


def test_memories_that_all_say_the_same_are_not_all_compared(store, monkeypatch):
    monkeypatch.setattr(vec0, "_ALL_UP_TO", 0)
    same = unit(random.Random(9))
    for n in range(150):
        put(store, learn(store, f"fact {n}"), same)
    read = []
    monkeypatch.setattr(vec0.Vec0, "_read", lambda self, places, real=vec0.Vec0._read: (
        read.append(len(places)) or real(self, places)))  # fmt: skip
    assert [cosine for _, cosine in near(store, same, limit=2)] == pytest.approx([1] * 2)
    assert read == [80]


def test_vectors_lie_in_a_vec0_table_partitioned_by_scope(store):
    put(store, learn(store, "a fact"), unit(random.Random(2)))
    sql = store._db.execute("SELECT sql FROM sqlite_schema WHERE name = 'memory_vector_1'").get
    assert "USING vec0" in sql and "scope TEXT PARTITION KEY" in sql and f"float[{DIMENSION}]" in sql


def test_of_a_vector_that_went_neither_it_nor_its_sketch_is_in_the_file(paths):
    gone, kept = unit(random.Random(10)), unit(random.Random(11))
    with Store.open(paths.store) as store:
        numbers = [learn(store, f"fact {n}") for n in range(2)]
        put(store, numbers[0], gone)
        put(store, numbers[1], kept)
    assert sketch_of(gone) in left_of(gone, paths.store) and len(left_of(gone, paths.store)) > 2
    with Store.open(paths.store) as store, store.transaction():
        store.vectors.drop(numbers[0])
    assert not left_of(gone, paths.store) and left_of(kept, paths.store)


def left_of(vector, path):
    """What of a vector or of its sketch is in a file; a vector may lie across two pages."""
    data, pieces = path.read_bytes(), [vector[start : start + 32] for start in range(0, len(vector), 32)]
    return [piece for piece in (*pieces, sketch_of(vector)) if piece in data]


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


def _older_table(store, model, fingerprint, dimension=DIMENSION):
    columns = f"scope TEXT PARTITION KEY, embedding float[{dimension}], chunk_size=128"
    store._db.execute(f"CREATE VIRTUAL TABLE memory_vector_{model} USING vec0({columns})")
    store._db.execute("INSERT INTO embedding_model VALUES (?, ?, ?)", (model, fingerprint, dimension))


@pytest.fixture
def older_store(paths, before):
    """A store as it was before sketches, with 300 vectors of two models: its path, and the vectors of the first."""
    chance, vectors = random.Random(5), {}
    with before("m012_sketches"), Store.open(paths.store) as store:
        assert store.vectors.available
        for model, fingerprint in enumerate(("model", "another"), 1):
            _older_table(store, model, fingerprint)
        for n in range(150):
            scope = (GLOBAL_SCOPE, API)[n % 2]
            number = learn(store, f"fact {n}", scope=scope)
            vectors[number] = unit(chance)
            for model in (1, 2):
                insert = "INSERT INTO memory_chunk(memory_id, model_id, ordinal) VALUES (?, ?, 0)"
                store._db.execute(insert, (number, model))
                row = (store._db.last_insert_rowid(), scope.key, vectors[number])
                insert = f"INSERT INTO memory_vector_{model}(rowid, scope, embedding) VALUES (?, ?, ?)"
                store._db.execute(insert, row)
    return paths.store, vectors


def test_an_older_store_keeps_its_memories_vectors_and_gets_their_sketches(older_store, searching):
    path, vectors = older_store
    with Store.open(path) as store:
        assert store._db.pragma("user_version") == len(migrations.MIGRATIONS)
        assert store.upkeep.damage() == [] and store.upkeep.gaps() == [] and not store.vectors.pending("model", 1)
        assert store.vectors.of("model", list(vectors)) == store.vectors.of("another", list(vectors)) == vectors
        asked = unit(random.Random(6))
        exact = sorted(vectors, key=lambda number: -cosine(vectors[number], asked))[:20]
        assert [number for number, _ in near(store, asked, limit=20)] == exact
        put(store, learn(store, "a new fact"), asked)
        assert near(store, asked, limit=1)[0][1] == pytest.approx(1)


@pytest.mark.parametrize("extension", ["at hand", "missing"])
def test_the_memory_that_sketching_an_older_store_takes_does_not_grow_with_it(paths, before, extension):
    """100,000 vectors once took half a gigabyte."""
    count, dimension = 4_000, 1_536
    vectors = numpy.random.default_rng(5).standard_normal((count, dimension), "<f4")
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    with before("m012_sketches"), Store.open(paths.store) as store, store.transaction():
        assert store.vectors.available
        _older_table(store, 1, "model", dimension)
        rows = ((n, f"scope{n % 3}", vectors[n - 1].tobytes()) for n in range(1, count + 1))
        store._db.executemany("INSERT INTO memory_vector_1(rowid, scope, embedding) VALUES (?, ?, ?)", rows)
    before_it, after_it = peak_of("""
import sys
import numpy
from hippo_core.store import Store, migrations, vec0
from pathlib import Path
with Store.open(Path(sys.argv[1]).with_name("another.db")):
    print(peak())
if sys.argv[2] == "missing":
    migrations.load_vectors = lambda db: False
with Store.open(Path(sys.argv[1])):
    print(peak())
""", str(paths.store), extension)  # fmt: skip
    assert after_it - before_it < 0.6 * vectors.nbytes / 1e6 and paths.store.stat().st_size < 1.2 * vectors.nbytes
    if extension == "missing":
        return
    with Store.open(paths.store) as store:
        held = vec0.Vec0(store._db, "memory_vector_1", dimension).vectors(range(1, count + 1))
        assert [held[n] for n in range(1, count + 1)] == [vector.tobytes() for vector in vectors]


def test_an_older_store_opened_without_the_extension_embeds_its_memories_anew(older_store, monkeypatch):
    path, vectors = older_store
    with monkeypatch.context() as patched:
        patched.setattr("hippo_core.store.migrations.load_vectors", lambda db: False)
        with Store.open(path) as store:
            assert store.upkeep.damage() == [] and store.upkeep.gaps() == [] and store.upkeep.orphans() == {}
            assert dict(store.vectors.pending("model", -1)).keys() == vectors.keys() and not store.vectors.has("model")
    assert not any(vector in path.read_bytes() for vector in vectors.values())
    with Store.open(path) as store:
        for number, vector in vectors.items():
            put(store, number, vector)
        assert near(store, vectors[7], limit=1)[0] == (7, pytest.approx(1))


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
