"""Forgotten means gone: from every search, from both indexes, from the file, its log and everything beside it."""

import json
import os
import random
import subprocess
import sys
import threading

import apsw
import pytest
from peak import peak_of

from hippo_core import errors
from hippo_core.curate import forget as job
from hippo_core.curate.forget import finish, forget, what_would_go
from hippo_core.curate.remember import remember
from hippo_core.log import log
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store
from hippo_core.store.memories import EXACT, PLAIN

PROJECT = project_scope("example.org/a/shop", "shop")
SECRET = "The vault code is Quagga-7731-xylophone and nobody else has it."
CJK = "支付服務的部署密碼是隱藏在茶壺裡的鑰匙"


def learn(store, text, sources=(), author=Author.MACHINE, kind=MemoryType.FACT):
    with store.transaction():
        store.memories.ensure_scope(PROJECT)
        return store.memories.add(Draft(text, kind, PROJECT.key, author, sources=sources), "test")


def say(store, text, uid, session="s1"):
    with store.transaction():
        source = store.progress.begin_source(f"/client/{session}.jsonl")
        message = Message(uid, session, Role.USER, text, 1.0, "/srv/shop", 0)
        store.archive.append(message, scope=PROJECT, source_id=source.id)
    return store.archive.by_uid([uid])[0]


def embed(store, number, dimension=16):
    vector = random.Random(number).randbytes(4 * dimension)
    with store.transaction():
        store.vectors.put(number, "model", dimension, [vector])
    return vector


def holding(home, *needles):
    """The files below `home` that hold one of `needles`, in any encoding a program of ours could use."""
    forms = [needle if isinstance(needle, bytes) else needle.encode(code) for needle in needles
             for code in ("utf-8", "utf-16-le", "utf-16-be")]  # fmt: skip
    forms += [json.dumps(needle)[1:-1].encode() for needle in needles if isinstance(needle, str)]
    found = []
    for folder, _, names in os.walk(home):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            found += [name for form in forms if form in data]
    return found


def ids(rows):
    return {row.public_id for row in rows}


# -- what goes -------------------------------------------------------------------------------------------------------


def test_a_memory_takes_its_messages_and_what_else_was_learned_from_them(store):
    said, other = say(store, "We keep it all in the blue folder.", "u1"), say(store, "Lunch is at noon.", "u2")
    memory = learn(store, "Everything is kept in the blue folder.", ("u1",))
    sibling, stranger = learn(store, "The folder is blue.", ("u1", "u2")), learn(store, "Lunch at noon.", ("u2",))
    doomed = what_would_go(store, [memory.public_id])
    assert ids(doomed.memories) == {memory.public_id, sibling.public_id} and ids(doomed.messages) == {said.public_id}
    assert stranger.public_id not in ids(doomed.memories) and other.public_id not in ids(doomed.messages)


def test_a_message_takes_what_was_learned_from_it_but_not_the_human_memory_beside_it(store):
    said = say(store, "The port of the gateway is 9090.", "u1")
    learned, mine = learn(store, "Gateway port: 9090.", ("u1",)), learn(store, "Mine.", ("u1",), Author.HUMAN)
    doomed = what_would_go(store, [said.public_id])
    assert ids(doomed.memories) == {learned.public_id} and mine.public_id not in ids(doomed.memories)


def test_repetitions_in_other_sessions_go_too(store):
    first = say(store, SECRET, "u1")
    second = say(store, f"As I said before:   {SECRET.upper()}", "u2", session="s2")
    derived = learn(store, "There is a code.", ("u2",))
    doomed = what_would_go(store, [first.public_id])
    assert ids(doomed.messages) == {first.public_id, second.public_id}
    assert ids(doomed.memories) == {derived.public_id}


def test_a_short_text_takes_nothing_along_that_merely_contains_it(store):
    ok, token = say(store, "ok", "u1"), say(store, "the token is stored there", "u2")
    doomed = what_would_go(store, [ok.public_id])
    assert ids(doomed.messages) == {ok.public_id} and doomed.repeats == 1 and token.text not in doomed.texts


def test_a_query_takes_everything_that_holds_it_in_any_case(store):
    say(store, "The ACME contract ends in May.", "u1"), say(store, "nothing to see", "u2")
    learn(store, "Acme pays late."), learn(store, "Nobody pays early.")
    doomed = what_would_go(store, text="acme")
    assert [m.text for m in doomed.memories] == ["Acme pays late."]
    assert [m.text for m in doomed.messages] == ["The ACME contract ends in May."]


def test_line_breaks_and_composed_letters_hide_nothing(store, paths):
    wrapped = say(store, "Listen: the  code of the\n  caf\u00e9 is Quagga-7731-xylophone", "u1")
    memory = learn(store, "The code of the cafe\u0301 is Quagga-7731-xylophone.")
    with_domain = learn(store, "Say it in a whisper.")
    with store.transaction():
        store.memories.update(with_domain.id, 1, "test", Author.HUMAN, domain="xylophone")
    log(paths, "ingest", f"could not be read: {wrapped.text}")
    assert what_would_go(store, text="the code of the  caf\u00e9 was").nothing
    doomed = what_would_go(store, text="of the caf\u00e9 IS\nQuagga")
    assert ids(doomed.messages) == {wrapped.public_id} and ids(doomed.memories) == {memory.public_id}
    assert ids(what_would_go(store, text="xylophone").memories) == {memory.public_id, with_domain.public_id}
    forget(store, paths, doomed)
    assert not holding(paths.home, "Quagga-7731")


def test_keeping_the_archive_takes_memories_alone(store):
    said, memory = say(store, SECRET, "u1"), learn(store, SECRET, ("u1",))
    doomed = what_would_go(store, [memory.public_id], keep_archive=True)
    assert ids(doomed.memories) == {memory.public_id} and not doomed.messages
    with pytest.raises(errors.UsageError, match="keep-archive"):
        what_would_go(store, [said.public_id], keep_archive=True)


def test_what_cannot_be_meant_is_refused(store):
    for wrong, error in ((["m99"], errors.NotFoundError), (["a99"], errors.NotFoundError), (["x1"], errors.UsageError)):
        with pytest.raises(error):
            what_would_go(store, wrong)
    for text in ("", "  ", "a", "ab"):
        with pytest.raises(errors.UsageError):
            what_would_go(store, text=text)
    assert what_would_go(store, text="部").nothing  # one character, three bytes: a word of its own


# -- gone means gone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SECRET, CJK])
def test_forgotten_text_is_in_no_file_of_the_data_folder(store, paths, text):
    said = say(store, f"Listen. {text}", "u1")
    with store.transaction():
        store.memories.ensure_scope(PROJECT)
    memory = remember(store, paths, text, scope=PROJECT, author=Author.HUMAN, actor="user")
    older = learn(store, text.replace("the", "a") + " (older)", ("u1",))
    with store.transaction():
        store.memories.supersede(older.id, memory.id, "test", Author.MACHINE, 2.0)
    kept = learn(store, "Coffee is in the cupboard.")
    vectors = [embed(store, memory.id), embed(store, kept.id)]
    sketch = store._db.execute("SELECT sketch FROM memory_vector_1 ORDER BY rowid LIMIT 1").get
    store.close()  # so that the text has reached the file itself
    assert {"memory.db"} <= set(holding(paths.home, text)) and holding(paths.home, vectors[0])
    assert len(sketch) == 16 and holding(paths.home, sketch)

    with Store.open(paths.store) as store:
        done = forget(store, paths, what_would_go(store, [memory.public_id]))
        assert (done.memories, done.messages, done.unfinished, done.still_in) == (2, 1, None, ())
        assert done.transcripts == ("/client/s1.jsonl",)
        words = ("Quagga-7731-xylophone", "quagga", "xylophon") if text == SECRET else ("部署", "茶壺", "鑰匙")
        for word in words:
            for index in (EXACT, PLAIN):
                assert not store.memories.keyword_hits([word], index=index, scopes=None, limit=9)
            assert not store.message_words.keyword_hits([word], scopes=None, limit=9)
        assert not holding(paths.home, text, text.lower(), vectors[0], sketch, *words)
        assert holding(paths.home, vectors[1]) and store.memories.get(kept.id).text == kept.text
        assert not say_again(store, said)
    assert not holding(paths.home, text)


def say_again(store, message):
    """Whether the same message can come back in by another ingest."""
    with store.transaction():
        source = store.progress.begin_source("/client/other.jsonl")
        again = Message(message.uid, message.session_id, message.role, message.text, 1.0, "/srv/shop", 0)
        return store.archive.append(again, scope=PROJECT, source_id=source.id)


@pytest.mark.parametrize("text", [SECRET, CJK])
def test_the_session_that_forgets_cannot_bring_it_back(store, paths, monkeypatch, text):
    """The request to forget and the answer that quotes it are read only after the forgetting."""
    monkeypatch.setenv("HIPPO_NOW", "1000000")
    learn(store, text)
    forget(store, paths, what_would_go(store, text=text))
    quoting = Message("u9", "s9", Role.ASSISTANT, f"Shall I delete this: “{text.upper()}”?", 1000060.0, "/srv", 0)
    undated, later = quoting._replace(uid="u10", at=None), quoting._replace(uid="u11", at=1000000.0 + 86_400)
    harmless = quoting._replace(uid="u12", text="Shall I delete the code of the vault?")
    with store.transaction():
        source = store.progress.begin_source("/client/s9.jsonl")
        kept = [m.uid for m in (quoting, undated, harmless, later)
                if store.archive.append(m, scope=PROJECT, source_id=source.id)]  # fmt: skip
    assert kept == ["u12", "u11"]


def test_copies_in_freed_space_go_too(store, paths):
    """SQLite leaves copies behind where it moves rows between pages, in spite of secure_delete; here one is planted."""
    gone, *_, again = [learn(store, text) for text in (SECRET + " y", *("coffee " * 500,) * 9, SECRET)]
    careless = apsw.Connection(str(paths.store))
    careless.pragma("secure_delete", False)
    careless.execute("DELETE FROM memory WHERE id = ?", (gone.id,))
    careless.close()
    store.forgetting.truncate_log()
    planted = (SECRET + " y").encode()
    assert planted in paths.store.read_bytes()
    forget(store, paths, what_would_go(store, [again.public_id]))
    assert planted not in paths.store.read_bytes() and not holding(paths.home, SECRET)


def test_no_word_stays_as_a_separator_between_index_pages(store, paths):
    """FTS5 keeps the beginning of a page's first word in a table of its own, which a deletion does not touch."""
    texts = {f"client-{number:05d}-account" for number in range(3_000)}
    with store.transaction():
        store.memories.ensure_scope(PROJECT)
        for text in sorted(texts):
            store.memories.add(Draft(text, MemoryType.FACT, PROJECT.key, Author.MACHINE), "test")
    raw = apsw.Connection(str(paths.store), flags=apsw.SQLITE_OPEN_READONLY)
    separators = [bytes(term)[1:].decode() for (term,) in raw.execute("SELECT term FROM memory_exact_idx")]
    raw.close()
    separator = next(term for term in separators if term.startswith("client-") and len(term) > 9)
    forget(store, paths, what_would_go(store, text=separator))
    assert not holding(paths.home, separator)
    remaining = [text for text in texts if separator not in text]
    assert len(store.memories.select()) == len(remaining)
    assert store.memories.keyword_hits([remaining[0]], index=EXACT, scopes=[PROJECT.key], limit=5)


def test_earlier_wordings_in_the_journal_go_with_the_text(store, paths):
    memory = learn(store, SECRET)
    with store.transaction():
        store.memories.update(memory.id, 1, "test", Author.HUMAN, text="The code was changed.")
    assert SECRET in store.journal.of(memory.id)[-1].before["text"]
    forget(store, paths, what_would_go(store, [learn(store, SECRET).public_id]))
    assert store.memories.get(memory.id).text == "The code was changed."
    assert store.journal.of(memory.id)[-1].before is None and not holding(paths.home, SECRET)


def test_what_a_memory_only_said_earlier_goes_and_the_memory_stays(store, paths):
    memory = learn(store, SECRET)
    with store.transaction():
        store.memories.update(memory.id, 1, "test", Author.HUMAN, text="The code is in the safe.")
    doomed = what_would_go(store, text="quagga-7731")
    assert doomed.wordings == (memory.public_id,) and not doomed.memories and not doomed.nothing
    done = forget(store, paths, doomed)
    assert (done.memories, done.messages, done.wordings) == (0, 0, (memory.public_id,))
    assert store.memories.get(memory.id).text == "The code is in the safe." and not holding(paths.home, SECRET)
    assert what_would_go(store, text="quagga-7731").nothing


def test_forgetting_a_short_text_costs_no_memory_its_way_back(store, paths):
    ok, memory = say(store, "ok", "u1"), learn(store, "The token is kept in the vault of the team.")
    with store.transaction():
        store.memories.update(memory.id, 1, "test", Author.HUMAN, text="It is kept in the safe.")
    forget(store, paths, what_would_go(store, [ok.public_id]))
    assert store.journal.of(memory.id)[-1].before["text"] == memory.text


def test_logs_lose_their_lines_and_renders_are_renewed(store, paths):
    memory = remember(store, paths, SECRET, scope=GLOBAL_SCOPE, author=Author.HUMAN, actor="user")
    assert holding(paths.render, SECRET)
    paths.log.mkdir()
    (paths.log / "hippo.log").write_text(f"one\nsaw {json.dumps(SECRET)}\nthree\n", encoding="utf-8")
    done = forget(store, paths, what_would_go(store, [memory.public_id]))
    assert (paths.log / "hippo.log").read_text(encoding="utf-8") == "one\nthree\n"
    assert not holding(paths.home, SECRET) and done.still_in == ()


def test_what_holds_the_words_and_stays_is_named(store, paths):
    say(store, "shop opens at nine", "u1"), say(store, "nothing", "u2")
    paths.config.write_text('{"nudge": "mind the shop"}', encoding="utf-8")
    done = forget(store, paths, what_would_go(store, text="shop"))
    assert str(paths.config) in done.still_in and "/srv/shop" in done.still_in


def test_a_session_of_which_nothing_is_left_leaves_no_folder_name_behind(store, paths):
    say(store, "shop opens at nine", "u1"), learn(store, "shop", ())
    forget(store, paths, what_would_go(store, text="shop"))
    assert store.archive.projects() == {} and store.memories.scopes() == {}
    assert not holding(paths.home, "/srv/shop", "example.org/a/shop")


# -- other processes, and crashes --------------------------------------------------------------------------------------


def test_a_reader_of_an_older_state_is_waited_for_and_the_rest_is_done_by_the_next_command(store, paths, monkeypatch):
    monkeypatch.setattr("hippo_core.store.connection.BUSY_TIMEOUT_MS", 10)
    monkeypatch.setattr(job, "PATIENCE", 0.1)
    memory = learn(store, SECRET)
    store.close()
    with Store.open(paths.store) as store:
        reader = apsw.Connection(str(paths.store), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN; SELECT * FROM memory").fetchall()
        done = forget(store, paths, what_would_go(store, [memory.public_id]))
        assert "next hippo command" in done.unfinished and store.forgetting.unfinished
        assert not store.memories.select() and holding(paths.home, SECRET)
        reader.close()
        assert finish(store, paths) is None and not store.forgetting.unfinished
        assert not holding(paths.home, SECRET)


def test_a_reader_that_ends_in_time_delays_nothing_but_the_answer(store, paths):
    memory = learn(store, SECRET)
    reader = apsw.Connection(str(paths.store), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN; SELECT * FROM memory").fetchall()
    ending = threading.Timer(0.3, lambda: reader.execute("COMMIT"))
    ending.start()
    done = forget(store, paths, what_would_go(store, [memory.public_id]))
    ending.join()
    reader.close()
    assert done.unfinished is None and not holding(paths.home, SECRET)


def test_nothing_is_forgotten_while_a_pass_could_learn_it_again(store, paths, monkeypatch):
    from hippo_core.lock import one_at_a_time

    monkeypatch.setattr(job, "PATIENCE", 0.05)
    memory = learn(store, SECRET)
    doomed = what_would_go(store, [memory.public_id])
    with one_at_a_time(paths, "ingest"), pytest.raises(errors.BusyError):
        forget(store, paths, doomed)
    assert store.memories.get(memory.id).text == SECRET


def test_where_vectors_cannot_be_reached_nothing_is_deleted_at_all(paths, monkeypatch):
    with Store.open(paths.store) as store:
        said = say(store, SECRET, "u1")
        memory = learn(store, SECRET, (said.uid,))
        embed(store, memory.id)
    paths.log.mkdir()
    log = paths.log / "hippo.log"
    log.write_text(f"one\n{SECRET}\n", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr("hippo_core.store.vectors.load_vectors", lambda db: False)
        with Store.open(paths.store) as store:
            doomed = what_would_go(store, [memory.public_id])
            with pytest.raises(errors.VectorsUnavailableError, match=r"python3 install\.py"):
                forget(store, paths, doomed)
            assert store.memories.get(memory.id) == memory and store.archive.by_uid(["u1"])
            assert SECRET in log.read_text(encoding="utf-8") and not store.forgetting.unfinished
            other = say(store, "Something else entirely, said without any memory.", "u2")
            forget(store, paths, what_would_go(store, [other.public_id]))  # needs no vectors of memories
            assert not store.archive.by_uid(["u2"])
    with Store.open(paths.store) as store:
        forget(store, paths, doomed)
    assert not holding(paths.home, SECRET)


def test_a_fault_at_any_statement_leaves_everything_or_takes_it_all(store, paths):
    """Whatever statement fails, the others' rows are whole and the doomed ones are all there or all gone."""
    kept = learn(store, "Coffee is in the cupboard.")
    kept_said = say(store, "Where is the coffee?", "u0")
    for fault in range(1, 200):
        said = say(store, f"{SECRET} {fault}", f"u{fault}")
        memory = learn(store, f"{SECRET} {fault}", (said.uid,))
        embed(store, memory.id)
        doomed = what_would_go(store, [memory.public_id])
        reached = fail_at(store, fault, lambda doomed=doomed: forget(store, paths, doomed))
        left = bool(store.memories.fetch([memory.id])), bool(store.archive.fetch([said.id]))
        assert left in ((True, True), (False, False))
        assert bool(store.vectors.of("model", [memory.id])) == left[0]
        assert store.memories.get(kept.id) == kept and store.archive.get(kept_said.id) == kept_said
        if not reached:
            assert fault > 20 and left == (False, False)
            break
        if left[0]:
            forget(store, paths, doomed)
        else:
            assert finish(store, paths) is None
        assert not holding(paths.home, SECRET)
    with pytest.raises(apsw.ConstraintError, match="append-only"):  # no fault leaves the archive's door open
        store._db.execute("DELETE FROM message")
    assert store._db.pragma("integrity_check") == "ok"


class Fault(Exception):
    pass


def fail_at(store, fault, action):
    """Run `action` with the `fault`-th statement failing; whether it came to that."""
    count = 0

    def trace(cursor, statement, bindings):
        nonlocal count
        count += 1
        if count == fault and "ROLLBACK" not in statement:
            raise Fault
        return True

    store._db.exec_trace = trace
    try:
        action()
    except Fault:
        pass
    finally:
        store._db.exec_trace = None
    return count >= fault


_KILLED = """
import os, sys
from pathlib import Path
from hippo_core.curate import forget as job
from hippo_core.paths import Paths
from hippo_core.store import Store
from hippo_core.store.forget import Forgetting

paths, step = Paths(Path(sys.argv[1])), sys.argv[2]
inside = ("finished", "rewrite", "truncate_log", "erase")
holder = Forgetting if step in inside else job
setattr(holder, step, lambda *args, **more: os._exit(9))
with Store.open(paths.store) as store:
    job.forget(store, paths, job.what_would_go(store, text="quagga"))
"""


@pytest.mark.parametrize("step", ["clean_loose_files", "erase", "finish", "rewrite", "truncate_log", "finished"])
def test_killed_at_any_step_the_next_command_finishes_and_nothing_else_is_lost(paths, step):
    with Store.open(paths.store) as store:
        kept = learn(store, "Coffee is in the cupboard.")
        learn(store, SECRET, (say(store, SECRET, "u1").uid,))
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(paths.home), step], capture_output=True, text=True)
    assert killed.returncode == 9, killed.stderr
    with Store.open(paths.store) as store:
        assert store.memories.get(kept.id) == kept
        doomed = what_would_go(store, text="quagga")
        assert len(doomed.memories) == len(doomed.messages) == (1 if step in ("clean_loose_files", "erase") else 0)
        forget(store, paths, doomed)
        assert not holding(paths.home, SECRET) and not store.forgetting.unfinished


def test_a_forget_that_cannot_render_says_so_and_is_completed_later(store, paths):
    memory = learn(store, SECRET)
    remember(store, paths, "The port is 9090.", scope=PROJECT, author=Author.HUMAN, actor="user")
    rendered = paths.render.rename(paths.home / "aside")
    paths.render.write_bytes(b"a file in the way of a folder")
    done = forget(store, paths, what_would_go(store, [memory.public_id]))
    assert done.memories == 1 and str(paths.render) in done.unfinished and "\n" not in done.unfinished
    assert store.forgetting.unfinished and [kept.text for kept in store.memories.select()] == ["The port is 9090."]
    paths.render.unlink()
    rendered.rename(paths.render)
    assert finish(store, paths) is None and not holding(paths.home, SECRET)


def test_an_error_beside_the_store_names_its_own_file(store, paths):
    paths.home.joinpath("render").write_bytes(b"a file in the way of a folder")
    with pytest.raises(errors.StoreUnavailableError) as told:
        remember(store, paths, "The port is 9090.", scope=PROJECT, author=Author.HUMAN, actor="user")
    assert str(paths.render) in str(told.value) and str(paths.store) not in str(told.value)
    assert [memory.text for memory in store.memories.select()] == ["The port is 9090."]


def test_the_memory_that_rewriting_takes_does_not_grow_with_the_store(paths):
    """In memory a million messages would take 2.6 GB."""
    megabytes = 60
    with Store.open(paths.store) as store, store.transaction():
        store._db.execute("CREATE TABLE filling(content BLOB)")
        store._db.executemany("INSERT INTO filling VALUES (randomblob(1000000))", [()] * megabytes)
    files = set(os.listdir(paths.home))
    before_it, after_it = peak_of("""
import sys
from hippo_core.store import Store
from pathlib import Path
with Store.open(Path(sys.argv[1])) as store:
    print(peak())
    store.forgetting.rewrite()
    print(peak())
""", str(paths.store))  # fmt: skip
    assert after_it - before_it < megabytes / 3 and set(os.listdir(paths.home)) == files
