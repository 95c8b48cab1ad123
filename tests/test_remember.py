"""Remembering at once: guarded, typed, reconciled with what is known, found by the next search."""

import json
import threading

import pytest

from hippo_core import errors
from hippo_core.curate.remember import embed_memory, remember
from hippo_core.guard.spoken import spoken_by_user
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store.memories import PLAIN

PROJECT = project_scope("example.org/a/shop", "shop")


def tell(store, paths, text, author=Author.HUMAN, scope=PROJECT, **more):
    return remember(store, paths, text, scope=scope, author=author, actor="test", **more)


def test_what_the_user_says_is_theirs_typed_and_found_at_once(store, paths):
    memory = tell(store, paths, "Never push to main on a Friday.")
    assert (memory.type, memory.author, memory.frozen, memory.confidence) == (MemoryType.RULE, Author.HUMAN, True, 1.0)
    assert [n for n, _ in store.memories.keyword_hits(["friday"], index=PLAIN, scopes=None, limit=5)] == [memory.id]
    assert tell(store, paths, "We chose X because Y.", type=MemoryType.FACT).type is MemoryType.FACT


def test_said_twice_it_is_one_memory_and_confirmed(store, paths, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", "1000")
    first = tell(store, paths, "The port is 9090.")
    monkeypatch.setenv("HIPPO_NOW", "2000")
    again = tell(store, paths, "the  port is 9090.")
    assert first.version == 1 and again.version == 2 and again.id == first.id
    assert (again.seen, again.confirmed_at, again.created_at) == (2, 2000.0, 1000.0)
    assert tell(store, paths, "The port is 9090.", scope=GLOBAL_SCOPE).id != first.id  # elsewhere it is another memory


def test_a_human_who_repeats_what_a_machine_stored_makes_it_their_own(store, paths):
    note = tell(store, paths, "Always run the fixtures first.", author=Author.MACHINE)
    mine = tell(store, paths, "Always run the fixtures first.", type=MemoryType.PREFERENCE, pinned=True)
    assert mine.id == note.id and mine.frozen and mine.pinned and mine.confidence == 1.0
    assert mine.type is MemoryType.PREFERENCE
    again = tell(store, paths, "Always run the fixtures first.", author=Author.MACHINE)
    assert again.frozen and again.confidence == 1.0


def test_secrets_are_redacted_before_anything_is_written(store, paths):
    memory = tell(store, paths, "The staging database is postgres://app:hunter2swordfish@db.internal/app today.")
    assert "swordfish" not in memory.text and "db.internal" in memory.text
    store.close()
    for file in paths.home.rglob("*"):
        assert file.is_dir() or b"swordfish" not in file.read_bytes()


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 10_001, "#skip not this", "<private>all of it</private>"])
def test_what_cannot_be_a_memory_is_refused_and_nothing_is_stored(store, paths, text):
    with pytest.raises((errors.UsageError, errors.RefusedError)):
        tell(store, paths, text)
    assert store.memories.select() == [] and store.memories.scopes() == {}


@pytest.mark.parametrize("text", ["half \ud83d a character", "\udce9t\udce9", "a\0b", "部署 🎉", "don't AND * \" c++"])
def test_no_character_breaks_it(store, paths, text):
    memory = tell(store, paths, text)
    memory.text.encode("utf-8")
    assert store.memories.get(memory.id) == memory


class Embedder:
    fingerprint, dimension = "test", 4

    def pieces(self, text):
        return [text[:20], text[20:]]

    def embed(self, texts):
        import numpy

        return numpy.eye(4, dtype="f4")[: len(texts)]


def test_it_gets_its_vectors_at_once_and_only_once_without_waiting_for_others(store, paths):
    with store.transaction():
        store.memories.ensure_scope(PROJECT)
        waiting = store.memories.add(Draft("waiting", MemoryType.FACT, PROJECT.key, Author.MACHINE), "test")
    memory = tell(store, paths, "A text that is longer than one piece of twenty.")
    for _ in range(2):
        assert embed_memory(store, memory, Embedder())
    assert [number for number, _ in store.vectors.pending("test", 9)] == [waiting.id]
    assert not embed_memory(store, memory, None)


# -- whose words they are ----------------------------------------------------------------------------------------------


@pytest.fixture
def session(isolated):
    """Writes a user's turn into a session of the folder /srv/my app."""

    def write(text, name="a", at=0.0, place="-srv-my-app"):
        file = isolated / ".claude" / "projects" / place / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "type": "user", "uuid": f"{name}{len(text)}", "sessionId": name, "cwd": "/srv/my app",
            "timestamp": "2026-11-01T10:00:00Z", "message": {"role": "user", "content": text},
        }  # fmt: skip
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        import os

        os.utime(file, (at or 1_000.0, at or 1_000.0))

    return write


def test_words_are_the_users_whatever_their_case_and_white_space(session):
    session("Well, PLEASE remember:\n  never   deploy on Fridays!")
    assert spoken_by_user("Never deploy on Fridays", "/srv/my app")
    assert spoken_by_user("“never deploy on fridays.”".strip("“”"), "/srv/my app")
    for other in ("", "  ", "...", "never deploy on Mondays", "always deploy"):
        assert not spoken_by_user(other, "/srv/my app")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("By the way, remember that we use uv", "We use uv"),
        ("Could you please remember (for me): the port is 9090", "the port is 9090"),
        ("Fix it first. We use uv! Thanks", "we use uv"),
        ("Rules:\n- use tabs\n- never push to main", "use tabs"),
        ("Fix the bug\nNever push to main\nThanks", "never push to main"),
        ("never deploy\non Fridays", "never deploy on Fridays"),
        ("请记住：我们周二发布。谢谢", "我们周二发布"),
    ],
)
def test_a_sentence_of_a_turn_is_the_users(session, said, words):
    session(said)
    assert spoken_by_user(words, "/srv/my app")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Never deploy on Fridays", "deploy on Fridays"),
        ("don't\nskip the tests", "skip the tests"),
        ("Never, ever, skip the tests", "skip the tests"),
        ("Never store passwords in git", "passwords in git"),
        ("I doubt that we ship on Tuesdays", "we ship on Tuesdays"),
        ("deploy on Fridays unless QA is away", "deploy on Fridays"),
        ("deploy on Fridays\nonly when QA agreed", "deploy on Fridays"),
        ("Deploy on Fridays? No.", "deploy on Fridays"),
        ("Reuse tabs.", "use tabs"),
        ("Use v1.2", "Use v1"),
    ],
)
def test_a_part_of_a_sentence_may_say_the_contrary_and_is_not_the_users(session, said, words):
    session(said)
    assert not spoken_by_user(words, "/srv/my app")


def test_words_that_reach_the_transcript_a_moment_later_are_waited_for(session):
    late = threading.Timer(0.3, session, ["never deploy on Fridays"])
    late.start()
    assert spoken_by_user("never deploy on Fridays", "/srv/my app", patience=30.0)
    late.join()


def test_only_sessions_of_this_folder_count(session):
    session("never deploy on Fridays")
    assert not spoken_by_user("never deploy on Fridays", "/srv/other")
    assert not spoken_by_user("never deploy on Fridays", "/srv/other", "../-srv-my-app/a")


@pytest.mark.parametrize(
    "folder, place",
    [
        ("C:\\Users\\Jürgen\\my_app", "C--Users-J-rgen-my-app"),
        ("/srv/\U0001f680 app", "-srv----app"),  # a sign of two UTF-16 units
        ("/srv" + "/deep" * 50, ("-srv" + "-deep" * 50)[:200] + "-k3x9aq"),
    ],
)
def test_a_folder_is_found_by_the_name_that_the_client_gives_it(session, folder, place):
    session("never deploy on Fridays", place=place)
    assert spoken_by_user("never deploy on Fridays", folder)


def test_the_named_session_counts_although_others_are_newer(session):
    session("never deploy on Fridays", "old", at=1_000.0)
    for number in range(4):
        session("hello", f"new{number}", at=2_000.0 + number)
    assert not spoken_by_user("never deploy on Fridays", "/srv/my app", "stale-id")
    assert spoken_by_user("never deploy on Fridays", "/srv/my app", "old")


def test_a_transcript_that_is_no_transcript_is_no_evidence(isolated, session):
    session("hello")
    folder = isolated / ".claude" / "projects" / "-srv-my-app"
    (folder / "b.jsonl").write_bytes(b"\xff\xfe never deploy on Fridays \n[]\nnull\n")
    (folder / "c.jsonl").mkdir()
    assert not spoken_by_user("never deploy on Fridays", "/srv/my app")
