"""The night retires only what it may, no more than its share, and every change of it can be taken back."""

import json
import os
import time
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from hippo_core import clock, heartbeat, spool
from hippo_core.cli.dream import dream_command, undo_command
from hippo_core.config import Config
from hippo_core.config import save as save_settings
from hippo_core.dream.retire import Retirement
from hippo_core.dream.run import DreamReport, dream
from hippo_core.dream.undo import take_back
from hippo_core.errors import (
    BusyError,
    NotFoundError,
    StoreCorruptError,
    StoreMissingError,
    UsageError,
    VersionConflictError,
)
from hippo_core.lock import one_at_a_time
from hippo_core.model.memory import ACTIVE, RETIRED, Draft
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.render.refresh import refresh
from hippo_core.store.memories import PLAIN
from hippo_core.store.upkeep import Upkeep

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", str(NOW))


def add(store, text, kind=MemoryType.TASK, days=0.0, author=Author.MACHINE, **more):
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        draft = Draft(text, kind, "g", author, observed_at=clock.now() - days * clock.DAY, **more)
        return store.memories.add(draft, "test")


def status(store, *memories):
    return [store.memories.get(memory.id).status for memory in memories]


def found(store, word):
    return [number for number, _ in store.memories.keyword_hits([word], index=PLAIN, scopes=None, limit=50)]


def later(monkeypatch, days):
    monkeypatch.setenv("HIPPO_NOW", str(clock.now() + days * clock.DAY))


@pytest.mark.parametrize("kind, days, retired", [
    (MemoryType.TASK, 91, True), (MemoryType.TASK, 89, False),
    (MemoryType.TODO, 91, True), (MemoryType.TODO, 89, False),
    (MemoryType.PING, 8, True), (MemoryType.PING, 6, False),
    (MemoryType.RESULT, 900, False), (MemoryType.FACT, 900, False), (MemoryType.RULE, 9_000, False),
    (MemoryType.TASK, -400, False),  # a clock was ahead when it was said
])  # fmt: skip
def test_what_is_retired_and_when(store, paths, kind, days, retired):
    memory = add(store, "migrate the endpoint", kind, days)
    assert bool(dream(paths).retirement.retired) is retired
    assert status(store, memory) == [RETIRED if retired else ACTIVE]
    assert found(store, "endpoint") == ([] if retired else [memory.id])


def test_what_a_human_wrote_or_pinned_stays(store, paths):
    mine = add(store, "call the bank", days=500, author=Author.HUMAN)
    pinned = add(store, "renew the certificate", days=500, pinned=True)
    assert dream(paths).retirement.retired == () and status(store, mine, pinned) == [ACTIVE, ACTIVE]


def test_use_keeps_it_young_because_age_counts_from_the_last_confirmation(store, paths):
    memory = add(store, "old but said again", days=500)
    with store.transaction():
        store.memories.reinforce(memory.id, "test", (), NOW - clock.DAY, 0.5)
    assert dream(paths).retirement.retired == ()


def test_the_users_own_half_lives_and_decay_rate_decide(store, paths):
    memory = add(store, "a long task", days=200)
    save_settings(paths, half_lives={"task": 300})
    assert not dream(paths).retirement.retired
    save_settings(paths, half_lives={"task": 300}, decay_rate=2.0)
    assert dream(paths).retirement.retired == (memory.id,)
    add(store, "another long task", days=900)
    save_settings(paths, decay_rate=0)
    assert not dream(paths).retirement.retired, "nothing ages"
    assert Config().decay_rate == 1.0


def test_no_night_retires_more_than_its_share_however_often_it_runs(store, paths, monkeypatch):
    for n in range(150):
        add(store, f"task number {n}", days=100 + n)
    for n in range(50):
        add(store, f"fact number {n}", MemoryType.FACT)
    share = 10  # of 200, 5 %
    first = dream(paths).retirement
    assert len(first.retired) == share and first.left == 150 - share
    assert first.retired == tuple(range(150, 150 - share, -1)), "those that were silent longest go first"
    assert dream(paths).retirement.retired == ()
    later(monkeypatch, 19 / 24)
    assert dream(paths).retirement.retired == ()
    later(monkeypatch, 2 / 24)
    assert 0 < len(dream(paths).retirement.retired) <= share


def test_the_share_is_of_what_was_active_before_the_night_began(store, paths, monkeypatch):
    for days in (*[100] * 3, *[90 - 1 / 48] * 3):
        add(store, f"task of {days} days", days=days)
    for n in range(114):
        add(store, f"fact number {n}", MemoryType.FACT)
    assert len(dream(paths).retirement.retired) == 3
    later(monkeypatch, 1 / 24)
    assert len(dream(paths).retirement.retired) == 3, "6 of 120 are 5 %, of the 117 that are left they would not be"


def test_a_small_store_is_tidied_too(store, paths):
    for n in range(7):
        add(store, f"task number {n}", days=100)
    ping = add(store, "are you there", MemoryType.PING, days=8)
    assert dream(paths).retirement.retired == (ping.id, 1, 2, 3, 4), "what is worth least goes first"


def test_a_night_is_taken_back_as_it_was(store, paths):
    before = [add(store, f"deploy service {n}", days=100 + n) for n in range(3)]
    with store.transaction():
        store.vectors.put(before[0].id, "model", 4, [b"\0\0\x80?" + bytes(12)])
    night = dream(paths).retirement.night
    assert status(store, *before) == [RETIRED] * 3 and found(store, "service") == []
    assert before[0].id not in dict(store.vectors.pending("model", -1))
    done = take_back(store, paths, f"n{night}")
    assert {memory.id for memory in done.restored} == {1, 2, 3} and done.kept == ()
    after = [store.memories.get(memory.id) for memory in before]
    same = ("text", "type", "scope", "confirmed_at", "valid_from", "valid_until", "status", "confidence", "seen")
    for one, other in zip(before, after, strict=True):
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
        assert other.version > one.version
    assert sorted(found(store, "service")) == [1, 2, 3]
    assert before[0].id in dict(store.vectors.pending("model", -1)), "its vectors are due again"


def test_without_a_name_the_last_night_is_taken_back(store, paths, monkeypatch):
    first = add(store, "an old ping", MemoryType.PING, days=10)
    dream(paths)
    later(monkeypatch, 2)
    second = add(store, "an old task", days=100)
    dream(paths)
    assert [memory.id for memory in take_back(store, paths, None).restored] == [second.id]
    assert [memory.id for memory in take_back(store, paths, None).restored] == [first.id]
    assert take_back(store, paths, None) is None


def test_one_memory_is_taken_back_alone(store, paths):
    one, other = add(store, "one task", days=100), add(store, "other task", days=100)
    dream(paths)
    take_back(store, paths, one.public_id)
    assert status(store, one, other) == [ACTIVE, RETIRED]
    with pytest.raises(VersionConflictError, match="changed since"):
        take_back(store, paths, one.public_id)


def test_what_changed_since_is_kept_and_said(store, paths):
    changed, same = add(store, "changed since", days=100), add(store, "as it was", days=100)
    dream(paths)
    with store.transaction():
        store.memories.update(changed.id, 2, "user", Author.HUMAN, importance=0.9)
    done = take_back(store, paths, None)
    assert [memory.id for memory in done.restored] == [same.id] and changed.public_id in done.kept[0]
    assert status(store, changed) == [RETIRED] and store.memories.get(changed.id).importance == 0.9


def test_what_was_said_again_since_is_not_doubled(store, paths):
    old = add(store, "write the report", days=100)
    night = dream(paths).retirement.night
    new = add(store, "Write the report")
    done = take_back(store, paths, f"n{night}")
    assert done.restored == () and new.public_id in done.kept[0] and status(store, old, new) == [RETIRED, ACTIVE]


def test_what_was_taken_back_is_not_retired_again_at_once(store, paths, monkeypatch):
    memory = add(store, "still to be done", days=100)
    dream(paths)
    take_back(store, paths, None)
    later(monkeypatch, 89)
    assert dream(paths).retirement.retired == ()
    later(monkeypatch, 2)
    assert dream(paths).retirement.retired == (memory.id,)


def test_a_night_that_was_forgotten_in_part_gives_back_the_rest(store, paths):
    gone, there = add(store, "gone for good", days=100), add(store, "still there", days=100)
    dream(paths)
    with store.transaction():
        store.forgetting.erase([gone.id], [])
    assert [memory.id for memory in take_back(store, paths, None).restored] == [there.id]


@pytest.mark.parametrize("name, error", [
    ("n99", NotFoundError), ("m99", NotFoundError), ("a1", UsageError), ("yesterday", UsageError),
])  # fmt: skip
def test_names_that_name_nothing(store, paths, name, error):
    with pytest.raises(error):
        take_back(store, paths, name)


def test_a_name_of_neither_kind_leads_to_the_nights(store, paths):
    with pytest.raises(UsageError, match="hippo undo --list"):
        take_back(store, paths, "yesterday")


def test_a_memory_that_no_night_changed_has_nothing_to_take_back(store, paths):
    with pytest.raises(NotFoundError, match="No night has changed"):
        take_back(store, paths, add(store, "fresh").public_id)


def test_an_index_that_lost_rows_or_kept_strays_is_made_again(store, paths):
    kept, lost = add(store, "kept words", MemoryType.FACT), add(store, "lost words", MemoryType.FACT)
    raw = apsw.Connection(str(paths.store))
    with raw:
        for index in ("memory_exact", "memory_plain"):
            raw.execute(
                f"INSERT INTO {index}({index}, rowid, text, cjk, scope) VALUES ('delete', ?, 'lost words', NULL, 'g')",
                (lost.id,),
            )
            raw.execute(f"INSERT INTO {index}(rowid, text, cjk, scope) VALUES (77, 'a ghost', NULL, 'g')")
    raw.close()
    assert found(store, "lost") == [] and found(store, "ghost") == [77]
    report = dream(paths)
    assert len(report.mended) == 2 and "1 rows missing, 1 entries" in report.mended[0]
    assert found(store, "lost") == [lost.id] and found(store, "kept") == [kept.id] and found(store, "ghost") == []
    assert not dream(paths).mended


def test_vectors_without_rows_go_and_rows_without_vectors_become_due(store, paths):
    pytest.importorskip("sqlite_vec")
    vector = b"\0\0\x80?" + bytes(12)
    one, two = add(store, "one", MemoryType.FACT), add(store, "two", MemoryType.FACT)
    with store.transaction():
        for memory in (one, two):
            store.vectors.put(memory.id, "model", 4, [vector])
    assert store.vectors.available
    with store._db:
        store._db.execute("DELETE FROM memory_vector_1 WHERE rowid = 1")
        store._db.execute(
            "INSERT INTO memory_vector_1(rowid, scope, embedding, sketch) VALUES (99, 'g', ?, vec_bit(zeroblob(16)))",
            (vector,),
        )
    assert len(dream(paths).mended) == 1
    assert dict(store.vectors.pending("model", -1)).keys() == {one.id}
    assert [number for number, _ in store.vectors.nearest("model", vector, scopes=None, limit=9)] == [two.id]


def test_indexes_are_rebuilt_only_after_changes(store, paths):
    add(store, "a fact", MemoryType.FACT)
    assert dream(paths).rebuilt == 2 and dream(paths).rebuilt == 0
    add(store, "another fact", MemoryType.FACT)
    assert dream(paths).rebuilt == 2
    with store.transaction():
        assert all(store.upkeep.is_sound(index, against_rows=True) for index in ("memory_exact", "memory_plain"))


def test_an_index_that_is_unsound_once_it_was_rebuilt_is_left_as_it_was(store, paths, monkeypatch):
    memory = add(store, "a fact", MemoryType.FACT)
    with monkeypatch.context() as damaged:
        damaged.setattr(Upkeep, "is_sound", lambda *of, **how: False)
        with pytest.raises(StoreCorruptError, match="unsound"):
            dream(paths)
    assert heartbeat.read(paths, "dream").result == "failed" and found(store, "fact") == [memory.id]
    assert dream(paths).rebuilt == 2, "it is due as before"


def test_a_night_writes_its_heartbeat(store, paths, monkeypatch):
    add(store, "an old task", days=100)
    dream(paths)
    worked = heartbeat.read(paths, "dream")
    assert worked.last_worked == NOW and worked.counts["retired"] == 1 and worked.error is None
    later(monkeypatch, 1)
    dream(paths), dream(paths)
    idle = heartbeat.read(paths, "dream")
    assert idle.last_ran == NOW + clock.DAY and idle.last_worked == NOW and idle.counts["retired"] == 0


@pytest.mark.parametrize("done", [
    {"retirement": Retirement(1, (1,))}, {"counted": 1}, {"embedded": 1}, {"mended": ["it"]}, {"rebuilt": 1},
    {"cleared": 1},
])  # fmt: skip
def test_whatever_a_night_changed_is_work_and_what_it_left_is_none(done):
    assert DreamReport(**done).worked
    assert not DreamReport(Retirement(left=3)).worked and DreamReport(Retirement(left=3)).counts()["left"] == 3


def test_a_night_counts_what_was_shown(store, paths):
    number = add(store, "a fact that was shown").id
    spool.note_shown(paths, [number]), spool.note_shown(paths, [number]), spool.note_used(paths, [number])
    assert dream(paths).counted == 3
    assert (store.uses.of(number).shown, store.uses.of(number).used) == (2, 1)
    assert dream(paths).counted == 0


def test_what_hooks_read_is_rendered_anew_after_a_night(store, paths):
    add(store, "an old task", days=100)
    refresh(store, paths)

    def rendered():
        return {file: file.read_bytes() for file in paths.render.rglob("*.json")}

    before = rendered()
    assert dream(paths).retirement.retired and rendered() != before
    take_back(store, paths, None)
    assert rendered() == before


def test_a_forget_that_was_interrupted_is_completed_at_night(store, paths):
    with store._db:
        store._db.execute("INSERT INTO unfinished_forget VALUES (1)")
    assert store.forgetting.unfinished
    dream(paths)
    assert not store.forgetting.unfinished


def test_half_written_files_of_killed_processes_go(store, paths):
    paths.render.mkdir(parents=True, exist_ok=True)
    old, young = paths.render / ".rules.json.1.tmp", paths.render / ".nudge.json.2.tmp"
    for file in (old, young):
        file.write_bytes(b"half")
    another_s = paths.venv / ".half.tmp"
    another_s.parent.mkdir()
    another_s.write_bytes(b"a program's")
    for file in (old, another_s):
        os.utime(file, (time.time() - 90_000,) * 2)
    assert dream(paths).cleared == 1 and not old.exists() and young.exists() and another_s.exists()


def test_one_dream_at_a_time(store, paths):
    with one_at_a_time(paths, "dream"), pytest.raises(BusyError):
        dream(paths)


def test_without_a_store_the_night_says_so(paths):
    with pytest.raises(StoreMissingError):
        dream(paths)
    assert heartbeat.read(paths, "dream").error and not Path(paths.store).exists()


def test_the_commands_say_what_they_did(store, paths):
    nothing = CliRunner().invoke(undo_command, [])
    assert nothing.exit_code == 0 and nothing.output == "No night has changed anything that could be taken back.\n"
    add(store, "an old task", days=100)
    said = CliRunner().invoke(dream_command).output
    assert "1 memory; hippo undo n1" in said
    assert "n1" in CliRunner().invoke(undo_command, ["--list"]).output
    assert json.loads(CliRunner().invoke(undo_command, ["--list", "--json"]).output)[0]["open"] == 1
    undone = CliRunner().invoke(undo_command, []).output
    assert "Taken back from night n1: 1 memory" in undone and "an old task" in undone
    assert "none can be taken back" in CliRunner().invoke(undo_command, ["--list"]).output
    assert CliRunner().invoke(undo_command, ["n1"]).output.startswith("Nothing of night n1 was taken back.\n")
    assert CliRunner().invoke(dream_command).output.strip() == "rebuilt   2 keyword indexes"
    assert CliRunner().invoke(dream_command).output.strip() == "Nothing was due."
