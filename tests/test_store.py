"""The store's promises: a memory comes back as written, is found where it should be, and nothing else is touched."""

import os
import stat
import subprocess
import sys
import threading
import time

import apsw
import pytest
from hardship import read_only

from hippo_core import errors
from hippo_core.model.memory import Draft, memory_id, message_id, parse_id
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store, migrations
from hippo_core.store.connection import mapped_by_readers
from hippo_core.store.memories import EXACT, PLAIN

PROJECT = project_scope("example.org/a/api", "api")
OTHER = project_scope("example.org/b/api", "api")


def remember(store, text, scope=PROJECT, author=Author.MACHINE, kind=MemoryType.FACT, **more):
    with store.transaction():
        store.memories.ensure_scope(scope)
        return store.memories.add(Draft(text, kind, scope.key, author, **more), "test")


def archive(store, text, uid, scope=PROJECT, session="s1"):
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        message = Message(uid, session, Role.USER, text, 1.0, "/srv", 0)
        return store.archive.append(message, scope=scope, source_id=source.id)


def found(store, word, index=PLAIN, scopes=None):
    return [n for n, _ in store.memories.keyword_hits([word], index=index, scopes=scopes, limit=10)]


def test_a_memory_comes_back_as_written(store):
    memory = remember(store, "Redis was dropped.", kind=MemoryType.DECISION, sources=("u1",), observed_at=5.0)
    again = store.memories.get(memory.id)
    assert again == memory and again.sources == ("u1",) and again.confirmed_at == 5.0 and again.version == 1


def test_file_is_private(store, paths):
    assert stat.S_IMODE(paths.store.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.store.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(paths.store.with_name("memory.db-wal").stat().st_mode) == 0o600


def test_base_name_twins_are_two_projects(store):
    mine, theirs = remember(store, "uses port 8080"), remember(store, "uses port 9090", OTHER)
    assert found(store, "port", scopes=[PROJECT.key]) == [mine.id]
    assert found(store, "port", scopes=[OTHER.key]) == [theirs.id]


def test_small_project_among_many_rows_is_found_in_full(store):
    """A filter applied after the ranking loses a project with few rows; inside the index it loses none."""
    with store.transaction():
        for scope in (PROJECT, OTHER):
            store.memories.ensure_scope(scope)
        for i in range(600):
            store.memories.add(Draft(f"deploy note {i}", MemoryType.FACT, OTHER.key, Author.MACHINE), "test")
    mine = {remember(store, f"a much longer deploy note about item {i}").id for i in range(5)}
    assert set(found(store, "deploy", scopes=[PROJECT.key])) == mine


@pytest.mark.parametrize("word", ["brain.py", "--force", "src/app/main.py", "MAX_RETRIES", "v1.0.21"])
def test_exact_index_keeps_a_literal_whole(store, word):
    hit = remember(store, f"see {word} there")
    remember(store, "brain py force src app main max retries v1 0 21")
    assert found(store, word, index=EXACT) == [hit.id]


def test_plain_index_stems_and_ignores_punctuation(store):
    hit = remember(store, "She prefers quiet music.")
    assert found(store, "music") == found(store, "preferring") == [hit.id]


@pytest.mark.parametrize("word", ["部署", "サーバ", "務", "배포"])
def test_unspaced_words_are_found(store, word):
    hit = remember(store, "支付服務的部署由サーバが行う。배포했다")
    archive(store, "支付服務的部署由サーバが行う。배포했다", "u1")
    assert found(store, word) == found(store, word, index=EXACT) == [hit.id]
    assert store.message_words.keyword_hits([word], scopes=None, limit=5)


@pytest.mark.parametrize(
    "word",
    ["don't", "a/b", "c++", "1.0.21", "AND", "*", '"', "''", "🎉", "", "\ud800", "(", "a\0b", "NEAR(", "^x", "-", ":"],
)
def test_no_word_is_a_syntax_error(store, word):
    remember(store, "don't AND c++")
    archive(store, "don't AND c++", "u1")
    for index in (EXACT, PLAIN):
        store.memories.keyword_hits([word], index=index, scopes=[PROJECT.key], limit=5)
    store.message_words.keyword_hits([word], scopes=None, limit=5)


def test_archive_refuses_update_and_delete(store, paths):
    archive(store, "said once", "u1")
    raw = apsw.Connection(str(paths.store))
    for statement in ("UPDATE message SET text = 'x'", "DELETE FROM message", "DELETE FROM archive_session"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            raw.execute(statement)
    raw.close()


def test_a_repeated_message_is_one_message(store):
    assert archive(store, "hello", "u1") and not archive(store, "hello", "u1")
    assert store.archive.counts() == (1, 1, 1)


def test_update_needs_the_current_version(store):
    memory = remember(store, "port 8080")
    with store.transaction():
        store.memories.update(memory.id, 1, "test", Author.HUMAN, text="port 9090")
    with pytest.raises(errors.VersionConflictError), store.transaction():
        store.memories.update(memory.id, 1, "test", Author.HUMAN, text="port 1")
    assert found(store, "9090") == [memory.id] and found(store, "8080") == []


def test_no_machine_touches_a_human_memory(store):
    memory = remember(store, "mine", author=Author.HUMAN)
    for change in (
        lambda: store.memories.update(memory.id, 1, "dream", Author.MACHINE, text="x"),
        lambda: store.memories.retire(memory.id, "dream", Author.MACHINE),
        lambda: store.memories.supersede(memory.id, memory.id, "dream", Author.MACHINE, 1.0),
    ):
        with pytest.raises(errors.FrozenMemoryError), store.transaction():
            change()


def test_a_retired_memory_leaves_both_indexes(store):
    memory = remember(store, "zebra crossing")
    with store.transaction():
        store.memories.retire(memory.id, "test", Author.MACHINE)
    assert found(store, "zebra") == found(store, "zebra", index=EXACT) == []
    assert store.memories.get(memory.id).status == "retired"


def test_a_failed_transaction_leaves_nothing(store):
    with pytest.raises(RuntimeError), store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        raise RuntimeError
    assert store.memories.scopes() == {}


def test_two_writers_both_succeed(store, paths):
    with Store.open(paths.store) as second:
        remember(store, "one")
        remember(second, "two")
        assert len(store.memories.select()) == 2


def test_a_writer_waits_for_another_to_end(store, paths):
    began, done = threading.Event(), []

    def write():
        with Store.open(paths.store) as second:
            began.set()
            done.append(remember(second, "the second"))

    other = threading.Thread(target=write)
    with store.transaction():
        other.start()
        began.wait()
        time.sleep(0.2)  # so that it meets the lock; were it late, it would pass all the same
    other.join()
    assert len(done) == 1


def test_locked_store_says_so(store, paths, monkeypatch):
    monkeypatch.setattr("hippo_core.store.connection.BUSY_TIMEOUT_MS", 10)
    with Store.open(paths.store) as second, store.transaction():
        with pytest.raises(errors.StoreLockedError, match="try again"), second.transaction():
            pass


def test_a_writer_does_not_map_the_store_into_its_memory(store, paths):
    """What a pass touched of a large store counted as its own; a reader is short-lived, and searches faster with it."""
    with Store.open(paths.store, readonly=True) as reader:
        assert (store._db.pragma("mmap_size"), reader._db.pragma("mmap_size")) == (0, mapped_by_readers(os.name))


@pytest.mark.parametrize("system, maps", [("posix", True), ("nt", False)])
def test_no_reader_maps_the_store_where_a_mapped_file_cannot_be_shortened(system, maps):
    """A session's tool server reads while the user forgets, and what the file is cut off must go."""
    assert (mapped_by_readers(system) > 0) is maps


def test_what_is_deleted_is_overwritten_in_the_file(store, paths):
    """Before any forgetting: of a memory that a job changes or lets go, nothing should lie in the file's free space."""
    text = "The vault opens at Quagga-7731 tonight."
    gone, *_ = [remember(store, words) for words in (text, *("coffee " * 500,) * 9)]
    store.forgetting.truncate_log()
    assert text.encode() in paths.store.read_bytes()
    with store.transaction():
        store._db.execute("DELETE FROM memory WHERE id = ?", (gone.id,))
    store.forgetting.truncate_log()
    assert text.encode() not in paths.store.read_bytes()


def test_the_vector_extension_is_loaded_without_its_package_which_brings_numpy(paths):
    pytest.importorskip("sqlite_vec")
    code = (
        "import sys, apsw\nfrom hippo_core.store.connection import load_vectors\n"
        "assert load_vectors(apsw.Connection(':memory:'))\n"
        "sys.exit(bool({'numpy', 'sqlite_vec'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_reader_cannot_write(store, paths):
    with Store.open(paths.store, readonly=True) as reader, pytest.raises(errors.StoreUnavailableError):
        remember(reader, "x")


def test_missing_store_is_not_created_by_a_reader(paths):
    with pytest.raises(errors.StoreMissingError):
        Store.open(paths.store, readonly=True)
    assert not paths.store.exists()


@pytest.mark.parametrize("content", [b"not a database at all" * 50, b"SQLite format 3\0" + b"\xff" * 5000, b"SQLite"])
def test_corrupt_store_is_refused_and_untouched(paths, content):
    paths.store.parent.mkdir(parents=True)
    paths.store.write_bytes(content)
    with pytest.raises(errors.StoreError, match="untouched|another program"):
        Store.open(paths.store)
    assert paths.store.read_bytes() == content
    assert os.listdir(paths.home) == ["memory.db"]


def test_foreign_database_is_refused_and_untouched(paths):
    paths.store.parent.mkdir(parents=True)
    other = apsw.Connection(str(paths.store))
    other.execute("CREATE TABLE somebody_elses(x)")
    other.close()
    before = paths.store.read_bytes()
    with pytest.raises(errors.StoreForeignError):
        Store.open(paths.store)
    assert paths.store.read_bytes() == before


def test_newer_store_is_refused_and_untouched(store, paths):
    store.close()
    raw = apsw.Connection(str(paths.store))
    raw.pragma("user_version", 9_999)
    raw.close()
    before = paths.store.read_bytes()
    with pytest.raises(errors.StoreTooNewError, match="upgrade"):
        Store.open(paths.store)
    assert paths.store.read_bytes() == before


@pytest.fixture
def older(paths, before):
    """A store that only the first two migrations have been at."""
    with before("m003_pipeline"):
        db = apsw.Connection(":memory:")
        migrations.migrate(db)
        paths.store.parent.mkdir(parents=True)
        db.execute("VACUUM INTO ?", (str(paths.store),))


def test_an_older_store_that_cannot_be_written_says_what_it_needs(paths, older):
    with read_only(paths.home), pytest.raises(errors.StoreUnavailableError, match="older version .* set HIPPO_HOME"):
        Store.open(paths.store, readonly=True)
    with Store.open(paths.store, readonly=True) as store:
        assert store.archive.counts() == (0, 0, 0)


def test_an_older_store_is_migrated_in_place(paths, older):
    with Store.open(paths.store) as store:
        remember(store, "kept")
    raw = apsw.Connection(str(paths.store))
    names = [migration.__name__ for migration in migrations.MIGRATIONS]
    assert raw.execute("SELECT number, name FROM migration").fetchall() == list(enumerate(names, 1))
    raw.close()


def test_a_store_whose_watermarks_digest_had_another_name_goes_on(paths, before):
    with before("m009_whole_files"), Store.open(paths.store) as store:
        store._db.execute("ALTER TABLE ingest_source RENAME COLUMN digest TO head_digest")
        store._db.execute("INSERT INTO ingest_source(path, offset, head_digest, updated_at) VALUES ('a', 7, x'00', 1)")
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source("a")
        assert (source.offset, source.digest) == (7, None)
        store.progress.save_source(source, digest=b"new")


@pytest.mark.parametrize("index", [EXACT, PLAIN])
def test_a_word_of_a_query_is_looked_up_in_few_segments(store, index):
    for number in range(40):
        remember(store, f"memory {number}")
    segments = store._db.execute(f"SELECT count(DISTINCT segid) FROM {index}_idx").get
    assert segments <= 6, "one for each power of two that is full, and not up to fifteen of a size"


def test_a_creation_that_died_half_way_is_finished(paths):
    paths.store.parent.mkdir(parents=True)
    raw = apsw.Connection(str(paths.store))
    raw.pragma("journal_mode", "wal")
    raw.close()
    with Store.open(paths.store) as store:
        remember(store, "kept")


def test_public_ids_round_trip():
    assert parse_id(memory_id(0x41C)) == ("memory", 0x41C) and parse_id(message_id(15)) == ("message", 15)
    for bad in ("", "m", "x12", "mzz", "41c", "m-1"):
        with pytest.raises(errors.UsageError):
            parse_id(bad)


def test_a_store_that_a_newer_version_migrates_meanwhile_is_written_no_more(store, paths):
    raw = apsw.Connection(str(paths.store))
    raw.pragma("user_version", 9_999)
    with pytest.raises(errors.StoreTooNewError, match="upgrade"), store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
    assert not raw.execute("SELECT 1 FROM memory_scope").fetchall()
    raw.execute("BEGIN IMMEDIATE; ROLLBACK")  # nothing holds the file
