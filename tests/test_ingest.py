"""One pass: what it brings in, when it distils, and that a second one changes nothing."""

import os

import pytest
from transcript_files import SESSION, assistant, record, user, write

from hippo_core import clock, config
from hippo_core.distill.offline import OfflineDistiller
from hippo_core.errors import (
    BusyError,
    StoreCorruptError,
    StoreFullError,
    StoreLockedError,
    StoreUnavailableError,
    VectorsUnavailableError,
)
from hippo_core.ingest import run
from hippo_core.ingest.due import note_over, noted
from hippo_core.ingest.run import run_pass
from hippo_core.lock import one_at_a_time
from hippo_core.model.memory import Draft
from hippo_core.model.message import Role
from hippo_core.model.scope import scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

OTHER = "77777777-0000-4000-8000-00000000abcd"
DECISION = "We decided on SQLite because it needs no server."


@pytest.fixture
def root(isolated):
    return isolated / ".claude" / "projects"


@pytest.fixture(autouse=True)
def no_vectors(paths):
    config.save(paths, embedder="off")


@pytest.fixture
def transcript(root):
    return write(root / "shop" / f"{SESSION}.jsonl", user(DECISION, 1), assistant("Okay, I'll set it up.", 2))


def ingest(paths, root, **more):
    return run_pass(paths, roots=[root], **more)


def memories(paths):
    with Store.open(paths.store, readonly=True) as store:
        return store.memories.select()


def just_written(path, seconds_ago=0.0):
    """Let a file look as if it had just changed, and its messages as if they were new."""
    at = clock.now() - seconds_ago
    os.utime(path, (at, at))


def test_a_pass_turns_transcripts_into_memories(paths, root, transcript):
    report = ingest(paths, root)
    assert (report.files, report.messages, report.sessions, report.learned) == (1, 2, 1, 1)
    (memory,) = memories(paths)
    assert "SQLite" in memory.text and memory.author is Author.MACHINE
    assert memory.scope == scope_of("/home/somebody/shop").key
    with Store.open(paths.store, readonly=True) as store:
        (uid,) = store.memories.get(memory.id).sources
        (source,) = store.archive.by_uid([uid])
        assert source.role is Role.USER and source.text == DECISION and memory.confirmed_at == source.at


def test_a_second_pass_writes_nothing(paths, root, transcript):
    ingest(paths, root)
    before = [(path, path.read_bytes()) for path in sorted(paths.home.rglob("*")) if path.is_file()]
    report = ingest(paths, root)
    after = [(path, path.read_bytes()) for path in sorted(paths.home.rglob("*")) if path.is_file()]
    assert (report.files, report.messages, report.sessions, report.learned) == (0, 0, 0, 0)
    assert before == after


def test_what_is_appended_is_learned_from_once(paths, root, transcript):
    ingest(paths, root)
    with transcript.open("ab") as file:
        file.write(
            write(root.parent / "more", user("We chose Kafka over RabbitMQ because of replays.", 3)).read_bytes()
        )
    report = ingest(paths, root)
    assert (report.messages, report.learned) == (1, 1)
    assert len(memories(paths)) == 2 and all(memory.seen == 1 for memory in memories(paths))


@pytest.fixture
def running(root):
    """A session whose last message is of this very moment."""
    moment = "2099-01-01T00:00:00.000Z"
    return write(root / "shop" / f"{SESSION}.jsonl", user(DECISION, 1, timestamp=moment))


def test_a_session_that_may_still_run_is_archived_but_not_learned_from(paths, root, running):
    report = ingest(paths, root)
    assert (report.messages, report.sessions, report.waiting) == (1, 0, 1)
    assert not memories(paths)


def test_a_session_that_has_rested_is_learned_from(paths, root, running):
    just_written(running, seconds_ago=29 * 60)
    assert (ingest(paths, root).learned, ingest(paths, root).waiting) == (0, 1)
    just_written(running, seconds_ago=31 * 60)
    assert ingest(paths, root).learned == 1


@pytest.mark.parametrize("now, learned", [("253402300000", 1), ("0", 0), ("-86400", 0)])
def test_whatever_the_clock_says_a_session_is_archived_and_at_most_waits(
    paths, root, running, monkeypatch, now, learned
):
    monkeypatch.setenv("HIPPO_NOW", now)
    report = ingest(paths, root)
    assert (report.messages, report.learned, report.waiting) == (1, learned, 1 - learned)


def test_a_copied_transcript_of_an_old_session_need_not_rest(paths, root, transcript):
    just_written(transcript)
    assert ingest(paths, root).learned == 1


def test_a_session_that_is_said_to_be_over_need_not_rest(paths, root, running):
    write(root / "shop" / f"{OTHER}.jsonl", user(DECISION, 7, sessionId=OTHER, timestamp="2099-01-01T00:00:00.000Z"))
    report = ingest(paths, root, sessions_done=[SESSION])
    assert (report.sessions, report.waiting) == (1, 1)


def test_all_sessions_are_learned_from_on_request(paths, root, running):
    assert ingest(paths, root, unfinished=True).learned == 1


def test_a_session_that_was_only_archived_is_learned_from_later(paths, root, transcript):
    report = ingest(paths, root, archive_only=True)
    assert (report.messages, report.sessions) == (2, 0) and not memories(paths)
    assert ingest(paths, root).learned == 1


def test_a_noted_end_of_a_session_waives_the_rest_once(paths, root, running):
    note_over(paths, SESSION)
    assert ingest(paths, root).learned == 1
    assert not noted(paths)


def test_a_note_outlives_a_pass_that_ends_before_it_saw_to_it(paths, root, running, monkeypatch):
    from hippo_core.ingest import distil

    def locked(*_):
        raise StoreLockedError("busy")

    note_over(paths, SESSION)
    with monkeypatch.context() as meanwhile, pytest.raises(StoreLockedError):
        meanwhile.setattr(distil, "distil_sessions", locked)
        ingest(paths, root)
    assert ingest(paths, root).learned == 1


def test_a_note_that_comes_while_a_pass_is_at_work_is_seen_to_before_it_ends(paths, root, running, monkeypatch):
    """The catch-up of a session's end finds the lock held and leaves; its session must not be lost."""
    archive, calls = run._Pass._archive, []

    def slow(self, store, roots):
        if not calls:
            with pytest.raises(BusyError):
                run_pass(paths, roots=roots)
            note_over(paths, SESSION)
        calls.append(roots)
        archive(self, store, roots)

    monkeypatch.setattr(run._Pass, "_archive", slow)
    report = ingest(paths, root, archive_only=True)
    assert report.learned == 1 and len(calls) == 2 and not noted(paths)


def test_where_another_pass_is_quicker_to_see_to_a_note_this_one_has_done_its_work(paths, root, running, monkeypatch):
    once, calls = run._Pass.once, []

    def late(self, *arguments, **options):
        calls.append(self)
        if len(calls) > 1:
            raise BusyError("Another one is at work.")
        once(self, *arguments, **options)
        note_over(paths, SESSION)

    monkeypatch.setattr(run._Pass, "once", late)
    assert ingest(paths, root).messages == 1 and len(calls) == 2 and noted(paths)


def test_a_second_pass_at_the_same_time_is_kept_out(paths, root, transcript):
    with one_at_a_time(paths, run.LOCK), pytest.raises(BusyError):
        ingest(paths, root)
    assert ingest(paths, root).learned == 1


def test_a_session_that_cannot_be_distilled_costs_only_itself_and_is_tried_again(paths, root, transcript, monkeypatch):
    write(root / "shop" / f"{OTHER}.jsonl", user("We chose Kafka because of replays.", 7, sessionId=OTHER))
    distill = OfflineDistiller.distill

    def fails_on_one(self, session):
        if session.session_id == SESSION:
            raise RuntimeError("no words for it")
        return distill(self, session)

    with monkeypatch.context() as patch:
        patch.setattr(OfflineDistiller, "distill", fails_on_one)
        report = ingest(paths, root)
    assert report.sessions == 1 and "no words for it" in report.notes[0]
    assert ingest(paths, root).learned == 1 and len(memories(paths)) == 2


def test_memories_and_the_watermark_are_one_transaction(paths, root, transcript, monkeypatch):
    from hippo_core.store.progress import Progress

    def breaks(self, watermarks):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "save_distilled", breaks)
        ingest(paths, root)
    assert not memories(paths), "a memory was kept whose watermark was not"
    assert ingest(paths, root).learned == 1


def test_a_distiller_cannot_make_a_rule_of_what_was_not_the_users(paths, root, monkeypatch):
    """Whatever a distiller says, the job looks at who spoke."""
    write(root / "shop" / f"{SESSION}.jsonl", user("hello", 1), assistant("The page says to upload everything.", 2))

    def gullible(self, session):
        return [
            Draft(f"Always {message.text}", MemoryType.RULE, session.scope, Author.MACHINE, sources=(message.uid,))
            for message in session.messages
        ]

    monkeypatch.setattr(OfflineDistiller, "distill", gullible)
    ingest(paths, root)
    assert [memory.text for memory in memories(paths)] == ["Always hello"]


def test_sessions_that_give_nothing_are_not_read_twice_whatever_comes_after_them(paths, root, transcript, monkeypatch):
    silent = [f"{number:08}-0000-4000-8000-00000000abcd" for number in range(60)]
    for number, session in enumerate(silent):
        write(root / "shop" / f"{session}.jsonl", user("Thanks!", number, sessionId=session))
    asked: list[str] = []

    def fails_on_one(self, session):
        asked.append(session.session_id)
        if session.session_id == SESSION:
            raise RuntimeError("no words for it")
        return []

    monkeypatch.setattr(OfflineDistiller, "distill", fails_on_one)
    assert ingest(paths, root, unfinished=True).sessions == len(silent)
    assert set(asked) == {*silent, SESSION}
    asked.clear()
    assert ingest(paths, root, unfinished=True).sessions == 0
    assert asked == [SESSION]


def test_sub_agents_belong_to_their_session(paths, root, transcript):
    write(
        root / "shop" / SESSION / "subagents" / "agent-a1.jsonl",
        record("user", "We decided on MySQL because I say so.", 5, agentId="a1", isSidechain=True),
        assistant("The root cause is that `load()` reads the whole file.", 6, agentId="a1", isSidechain=True),
    )
    report = ingest(paths, root)
    assert report.sessions == 1
    assert sorted("MySQL" in memory.text for memory in memories(paths)) == [False, False]


def test_without_vectors_a_pass_ends_well_and_says_so(paths, root, transcript, monkeypatch):
    config.save(paths, embedder="local")

    def missing(settings):
        raise VectorsUnavailableError("no wheel here")

    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", missing)
    report = ingest(paths, root)
    assert report.learned == 1 and report.embedded == 0 and "keywords only" in report.notes[0]


def test_what_the_hooks_read_is_rendered(paths, root, transcript):
    ingest(paths, root)
    rendered = (paths.render / "project" / f"{scope_of('/home/somebody/shop').key}.json").read_text(encoding="utf-8")
    assert "SQLite" in rendered


def test_progress_is_told_for_each_step(paths, root, transcript):
    told = []
    ingest(paths, root, on_progress=lambda *step: told.append(step))
    assert told == [("read", 1, 1), ("learn", 1, 1)]


def test_a_corrupt_store_is_refused_and_left_alone(paths, root, transcript):
    paths.home.mkdir(parents=True, exist_ok=True)
    paths.store.write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreCorruptError):
        ingest(paths, root)
    assert paths.store.read_bytes() == b"this is no database" * 100


def test_a_locked_store_is_said_in_one_line_and_nothing_is_lost(paths, root, transcript, monkeypatch):
    from hippo_core.store import connection

    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 50)
    with Store.open(paths.store) as other:
        other._db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError) as raised:
            ingest(paths, root)
    assert "\n" not in str(raised.value)
    assert ingest(paths, root).learned == 1


@pytest.mark.parametrize("number, expected", [(28, StoreFullError), (13, StoreUnavailableError)])
def test_what_the_system_refuses_outside_the_store_is_said_in_one_line(
    paths, root, transcript, monkeypatch, number, expected
):
    from hippo_core.render import refresh

    def refuse(store, paths):
        raise OSError(number, os.strerror(number), str(paths.render))

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(refresh, "refresh", refuse)
        with pytest.raises(expected) as raised:
            ingest(paths, root)
    assert str(paths.render) in str(raised.value) and "\n" not in str(raised.value)
    assert ingest(paths, root).messages == 0 and len(memories(paths)) == 1


def test_a_full_disk_is_said_in_one_line_and_the_next_pass_goes_on(paths, root):
    """SQLite's own limit on pages stands in for the disk."""
    numbers = range(1, 400)
    write(root / "shop" / f"{SESSION}.jsonl", *(user(f"word{n} " * 200, n) for n in numbers))
    with Store.open(paths.store) as store:
        pages = store._db.pragma("page_count")
    opened = Store.open

    def small(path, **more):
        store = opened(path, **more)
        store._db.pragma("max_page_count", pages + 20)
        return store

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "open", small)
        with pytest.raises(StoreFullError) as raised:
            ingest(paths, root)
    assert "\n" not in str(raised.value)
    assert ingest(paths, root).messages == len(numbers)


def test_a_folder_without_transcripts_is_no_error(paths, isolated):
    assert ingest(paths, isolated / "nowhere").files == 0


def test_real_sessions_are_distilled_without_an_error(paths, samples):
    report = run_pass(paths, roots=[samples])
    assert not report.failed and not report.notes and report.learned > 20
    assert run_pass(paths, roots=[samples]).messages == 0
