"""The doctor finds what is wrong, says what helps, and with --fix leaves nothing wrong that it could mend."""

import json
import os
import time

import apsw
import pytest
from click.testing import CliRunner
from transcript_files import user, write

from hippo_core import heartbeat
from hippo_core.cli.doctor import doctor_command
from hippo_core.config import save
from hippo_core.curate.remember import remember
from hippo_core.doctor import run
from hippo_core.doctor.base import ill, well
from hippo_core.doctor.run import examine, mend
from hippo_core.errors import BusyError, StoreFullError
from hippo_core.ingest.run import run_pass
from hippo_core.lock import one_at_a_time
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.render.refresh import refresh
from hippo_core.store import Store
from hippo_core.store.memories import PLAIN

HOUSE = {"plugin", "scheduler", "jobs"}  # not installed in these tests, so they are looked at apart


@pytest.fixture
def home(paths, isolated):
    """A store with a memory and an archived message, all in order."""
    save(paths, embedder="off")
    write(isolated / "projects" / "s.jsonl", user("We decided on trains because of the climate.", 1))
    run_pass(paths, roots=[isolated / "projects"], unfinished=True)
    with Store.open(paths.store) as store:
        remember(store, paths, "Deploys go through the green gate.", type=MemoryType.FACT, scope=GLOBAL_SCOPE,
                 author=Author.HUMAN, actor="user")  # fmt: skip
    return isolated


def wrong(paths, home):
    return {
        finding.check: finding for finding in examine(paths, str(home)) if finding.check not in HOUSE and not finding.ok
    }


def damage(paths, *statements):
    raw = apsw.Connection(str(paths.store))
    raw.pragma("foreign_keys", False)
    for statement in statements:
        raw.execute(statement)
    raw.close()


def test_a_sound_store_is_called_sound(paths, home):
    assert wrong(paths, home) == {}
    checks = [finding.check for finding in examine(paths, str(home))]
    assert {"settings", "permissions", "locks", "disk", "store", "integrity", "keywords", "in step", "orphans",
            "forgetting", "transcripts", "meaning", "rendered", *HOUSE} <= set(checks)  # fmt: skip


@pytest.mark.parametrize("check, statements", [
    ("keywords", ["INSERT INTO memory_exact(memory_exact, rowid, text, cjk, scope) "
                  "SELECT 'delete', id, text, cjk, scope FROM memory"]),
    ("keywords", ["DELETE FROM memory_plain_data WHERE id = 1"]),
    ("keywords", ["DELETE FROM memory_plain_data WHERE id = 10"]),
    ("keywords", ["DELETE FROM message_plain_data WHERE id = 1"]),
    ("in step", ["DELETE FROM message_plain_docsize"]),
    ("in step", ["INSERT INTO memory_plain(rowid, text, cjk, scope) VALUES (77, 'a ghost', NULL, 'g')"]),
    ("orphans", ["INSERT INTO journal(at, actor, action, memory_id) VALUES (1, 'x', 'add', 4711)"]),
    ("orphans", ["INSERT INTO memory_source VALUES (4711, 'u')"]),
    ("orphans", ["INSERT INTO memory_use(memory_id) VALUES (4711)"]),
    ("orphans", ["INSERT INTO embedding_model VALUES (1, 'gone', 4)",
                 "CREATE TABLE memory_vector_1_rowids(id)", "INSERT INTO memory_chunk VALUES (1, 4711, 1, 0)"]),
    ("orphans", ["INSERT INTO archive_door VALUES ('left open')"]),
    ("forgetting", ["INSERT INTO unfinished_forget VALUES (1)"]),
])  # fmt: skip
def test_what_is_wrong_in_the_store_is_found_and_mended(paths, home, check, statements):
    damage(paths, *statements)
    found = wrong(paths, home)
    assert check in found and found[check].fix and found[check].means and found[check].do
    assert "integrity" not in found, "an index that can be built anew is no damage"
    left, done = mend(paths, str(home))
    assert any(one.check == check and one.done for one in done)
    assert {finding.check for finding in left if not finding.ok} <= HOUSE
    with Store.open(paths.store) as store:
        assert store.memories.keyword_hits(["gate"], index=PLAIN, scopes=None, limit=5)
        assert store.message_words.keyword_hits(["trains"], scopes=None, limit=5)
        assert store.memories.count_active() >= 1 and store.archive.counts()[0] == 1


def test_an_ordinary_index_out_of_order_is_mended(paths, home):
    """SQLite's own word for a row that an index lacks; nothing is lost by that."""
    change = "UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE name = 'memory_by_digest'"
    damage(paths, "PRAGMA writable_schema = 1", change.format("(digest)", "(digest) WHERE id > 99"))
    damage(paths, "INSERT INTO memory_scope VALUES ('px', 'project', 'x', 'x')",
           "INSERT INTO memory(text, scope, type, tier, author, importance, confidence, created_at, confirmed_at, "
           "digest) VALUES ('unindexed', 'px', 'fact', 'semantic', 'machine', 0.5, 0.5, 1, 1, x'00')",
           "PRAGMA writable_schema = 1",
           change.format(" WHERE id > 99", ""))  # fmt: skip
    assert "no memory is lost" in wrong(paths, home)["integrity"].means
    mend(paths, str(home))
    assert "integrity" not in wrong(paths, home)


def test_a_damaged_file_is_reported_and_left_alone(paths, home):
    with paths.store.open("r+b") as file:
        file.write(b"no database at all")
    before = paths.store.read_bytes()
    found = wrong(paths, home)
    assert "damaged" in found["store"].line and found["store"].fix is None
    mend(paths, str(home))
    assert paths.store.read_bytes() == before
    assert CliRunner().invoke(doctor_command).exit_code == 1


def test_a_page_overwritten_with_noise_is_found(paths, home):
    with Store.open(paths.store) as store:
        store.forgetting.truncate_log()
        (page,) = store._db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'message'").fetchone()
        size = store._db.pragma("page_size")
    with paths.store.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)
    assert "integrity" in wrong(paths, home)


@pytest.mark.parametrize("table", ["message", "ingest_source", "memory_scope", "memory_plain_data", "sqlite_schema"])
def test_damage_that_stops_the_checks_themselves_is_one_finding_with_what_helps(paths, home, table):
    with Store.open(paths.store) as store:
        store.forgetting.truncate_log()
        found = store._db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        size = store._db.pragma("page_size")
    with paths.store.open("r+b") as file:
        file.seek(((found[0] if found else 1) - 1) * size + 100)
        file.write(b"\xee" * (size - 100))
    found = wrong(paths, home)
    assert found and set(found) <= {"integrity", "store", "keywords", "in step", "rendered"}
    assert not any("try again in a moment" in finding.do for finding in found.values())
    assert any("hippo snapshot restore latest" in finding.do for finding in found.values())


def test_without_a_store_it_says_what_to_do(paths, isolated):
    found = {finding.check: finding for finding in examine(paths, str(isolated))}
    assert "hippo ingest" in found["store"].line + found["store"].do and not paths.store.exists()


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_files_that_others_can_read_are_closed(paths, home):
    os.chmod(paths.store, 0o644), os.chmod(paths.home, 0o755), os.chmod(paths.render / "rules.json", 0o640)
    found = wrong(paths, home)
    assert "3 paths" in found["permissions"].line
    mend(paths, str(home))
    assert paths.store.stat().st_mode & 0o777 == 0o600 and paths.home.stat().st_mode & 0o777 == 0o700
    assert wrong(paths, home) == {}


@pytest.mark.parametrize("nudge", ["Be brief.", ""])
def test_what_the_hooks_print_goes_on_while_the_settings_cannot_be_read(paths, home, nudge):
    save(paths, nudge=nudge)
    mend(paths, str(home))
    before = {file: file.read_bytes() for file in paths.render.rglob("*") if file.is_file()}
    paths.config.write_text("{broken", encoding="utf-8")
    assert "rendered" not in wrong(paths, home)
    with Store.open(paths.store) as store:
        refresh(store, paths)
    assert {file: file.read_bytes() for file in paths.render.rglob("*") if file.is_file()} == before


def test_settings_that_cannot_be_read_are_named_and_not_touched(paths, home):
    paths.config.write_text("{broken", encoding="utf-8")
    os.chmod(paths.config, 0o600)
    assert str(paths.config) in wrong(paths, home)["settings"].line
    mend(paths, str(home))
    assert paths.config.read_text(encoding="utf-8") == "{broken"
    paths.config.write_text('{"embedder": "magic"}', encoding="utf-8")
    found = wrong(paths, home)["settings"]
    assert "magic" in found.line and "jobs do not run" in found.means
    paths.config.write_text('{"quiet_hours": "at night"}', encoding="utf-8")
    found = wrong(paths, home)["settings"]
    assert "at night" in found.line and "jobs" not in found.means, "the monitor sends people here for it"


def test_half_written_files_of_dead_processes_go(paths, home):
    old, young = paths.render / ".rules.json.1.tmp", paths.render / ".nudge.json.2.tmp"
    for file in (old, young):
        file.write_bytes(b"half")
        os.chmod(file, 0o600)
    os.utime(old, (time.time() - 90_000,) * 2)
    assert "1 half-written" in wrong(paths, home)["leftovers"].line
    mend(paths, str(home))
    assert not old.exists() and young.exists()


def test_a_job_that_never_ends_is_named(paths, home, monkeypatch):
    with one_at_a_time(paths, "ingest"):
        (locks,) = [finding for finding in examine(paths, str(home)) if finding.check == "locks"]
        assert locks.ok and "ingest" in locks.line
        monkeypatch.setenv("HIPPO_NOW", str(time.time() + 90_000))
        assert f"pid {os.getpid()}" in wrong(paths, home)["locks"].line


def test_a_lock_whose_holder_died_is_no_trouble(paths, home):
    (paths.run / "ingest.holder").write_text('{"pid": 1, "since": 1}', encoding="utf-8")
    os.chmod(paths.run / "ingest.holder", 0o600)
    assert "locks" not in wrong(paths, home)


@pytest.mark.parametrize("break_it", [
    lambda render: (render / "rules.json").unlink(),
    lambda render: (render / "nudge.json").write_bytes(b"{half"),
    lambda render: (render / "state.json").write_bytes(b"{}"),
    lambda render: next((render / "project").iterdir()).unlink(),
])  # fmt: skip
def test_what_the_hooks_read_is_rendered_again(paths, home, break_it):
    break_it(paths.render)
    assert wrong(paths, home)["rendered"].fix
    mend(paths, str(home))
    assert wrong(paths, home) == {}
    assert json.loads((paths.render / "nudge.json").read_bytes())["hookSpecificOutput"]


def test_renders_that_are_older_than_the_store_are_found(paths, home, monkeypatch):
    with Store.open(paths.store) as store, store.transaction():
        store.memories.retire(1, "test", Author.HUMAN)
    assert "rendered" in wrong(paths, home)
    mend(paths, str(home))
    monkeypatch.setenv("HIPPO_NOW", str(time.time() + 90_000))
    assert "rendered" not in wrong(paths, home), "a new day alone makes nothing wrong"


@pytest.mark.parametrize("setting, shows", [
    ({"nudge": "Be brief."}, True), ({"decay_rate": 2.0}, True), ({"half_lives": {"fact": 7}}, True),
    ({"quiet_hours": ""}, False), ({"idle_minutes": 5}, False), ({"archive_meaning": False}, False),
])  # fmt: skip
def test_renders_are_older_than_a_setting_only_where_it_shows_in_them(paths, home, setting, shows):
    save(paths, **setting)
    assert ("rendered" in wrong(paths, home)) == shows
    mend(paths, str(home))
    assert wrong(paths, home) == {}


def test_a_broken_file_that_nothing_renders_any_more_goes(paths, home):
    (paths.render / "project" / "pgone.json").write_bytes(b"{half")
    os.chmod(paths.render / "project" / "pgone.json", 0o600)
    assert "pgone.json" in wrong(paths, home)["rendered"].line
    mend(paths, str(home))
    assert wrong(paths, home) == {}


def test_transcripts_that_failed_are_named(paths, home):
    with Store.open(paths.store) as store, store.transaction():
        for name, attempts in (("/x.jsonl", 3), ("/y.jsonl", 1)):
            store.progress.save_source(
                store.progress.begin_source(name), error=f"{name} is no file.", attempts=attempts
            )
    assert wrong(paths, home)["transcripts"].line == "2 files could not be read (1 set aside): /x.jsonl is no file."


def test_rows_that_point_at_nothing_are_named_and_left_alone(paths, home):
    damage(paths, "INSERT INTO journal(at, actor, action, night) VALUES (1, 'x', 'add', 4711)")
    orphans = wrong(paths, home)["orphans"]
    assert "1 reference to rows that are not there" in orphans.line and orphans.fix is None
    mend(paths, str(home))
    assert "orphans" in wrong(paths, home)


def test_vectors_that_cannot_be_mended_here_stop_no_other_index(paths, home, monkeypatch):
    monkeypatch.setattr("hippo_core.store.vectors.load_vectors", lambda db: False)
    damage(paths, "INSERT INTO embedding_model VALUES (1, 'gone', 4)", "CREATE TABLE memory_vector_1_rowids(id)",
           "INSERT INTO memory_vector_1_rowids VALUES (99)", "DELETE FROM message_plain_docsize")  # fmt: skip
    assert "message_plain lacks 1 row and" in wrong(paths, home)["in step"].line
    assert "memory_vector_1 lacks 0 rows and has 1 too many" in wrong(paths, home)["in step"].line
    left, done = mend(paths, str(home))
    assert [one.line for one in done if one.check == "in step"][0] == "message_plain mended"
    (still,) = [finding for finding in left if finding.check == "in step"]
    assert "memory_vector_1" in still.line and "message_plain" not in still.line


def test_a_store_that_can_be_read_and_not_written_says_so(paths, home, monkeypatch):
    opened = Store.open

    def full(path, *, readonly=False, create=True):
        if not readonly:
            raise StoreFullError("The disk is full.")
        return opened(path, readonly=True)

    monkeypatch.setattr(Store, "open", full)
    found = wrong(paths, home)
    assert found["store"].line == "The disk is full. It can be read: 2 memories, 1 message of 1 session"
    assert "Searches work" in found["store"].means
    assert not {"integrity", "keywords", "orphans"} & set(found), "one cause is one finding"


def _house_of(monkeypatch, *checks):
    """Only these checks are made."""
    monkeypatch.setattr(run, "_FOLDER", checks)
    for rest in ("_STORE", "_HOUSE"):
        monkeypatch.setattr(run, rest, ())


def test_what_only_shows_when_something_else_was_mended_is_mended_too(paths, home, monkeypatch):
    done = []

    def first(patient):
        yield ill("one", "ill", "m", "d", lambda: done.append("one") or "mended") if not done else well("one", "well")

    def second(patient):
        yield (
            ill("two", "ill", "m", "d", lambda: done.append("two") or "mended")
            if done == ["one"]
            else (well("two", "well"))
        )

    _house_of(monkeypatch, first, second)
    left, mended = mend(paths, str(home))
    assert done == ["one", "two"] and all(one.done for one in mended) and all(finding.ok for finding in left)


def test_what_cannot_be_mended_is_tried_once_says_why_and_stops_nothing_else(paths, home, monkeypatch):
    tried = []

    def fails(error):
        def fix():
            tried.append(error)
            raise error

        return lambda patient: [ill(str(len(str(error))), "ill", "m", "d", fix)]

    _house_of(
        monkeypatch,
        fails(PermissionError(13, "Permission denied", "/data/x")),
        fails(BusyError("Another process is at it.")),
        lambda patient: [well("last", "well")],
    )
    left, mended = mend(paths, str(home))
    assert [(one.done, one.line) for one in mended] == [
        (False, "/data/x: Permission denied"), (False, "Another process is at it."),
    ]  # fmt: skip
    assert len(tried) == 2 and left[-1].check in ("last", "store")


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_programs_files_and_where_links_lead_are_nobodys_secret(paths, home, tmp_path):
    for folder in (paths.venv, paths.plugin):
        folder.mkdir()
        (folder / "program").write_text("x", encoding="utf-8")
        os.chmod(folder, 0o700), os.chmod(folder / "program", 0o755)
    (tmp_path / "open").write_text("x", encoding="utf-8")
    (paths.render / "link").symlink_to(tmp_path / "open")
    assert "permissions" not in wrong(paths, home)


@pytest.mark.skipif(os.name != "posix", reason="file owners")
def test_files_of_another_user_are_named(paths, home, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 4_711)
    permissions = wrong(paths, home)["permissions"]
    assert "owned by another user: " in permissions.line and "chown" in permissions.do and permissions.fix is None


def test_memories_without_vectors_are_embedded(paths, home):
    pytest.importorskip("sqlite_vec")
    pytest.importorskip("onnxruntime")
    save(paths, embedder="local")
    assert "without vectors" in wrong(paths, home)["meaning"].line
    mend(paths, str(home))
    assert wrong(paths, home) == {}


def test_jobs_that_failed_are_named_with_what_waits(paths, home):
    heartbeat.beat(paths, "dream", worked=False, counts={}, error="The disk is full.", result="failed")
    (found,) = [finding for finding in examine(paths, str(home)) if finding.check == "jobs"]
    assert not found.ok and "The disk is full." in found.line and "hippo schedule run dream" in found.do


def test_a_locked_store_costs_no_other_check(paths, home, monkeypatch):
    from hippo_core.store import connection

    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 10)
    with Store.open(paths.store) as store, store.transaction():
        found = {finding.check: finding for finding in examine(paths, str(home))}
    assert not found["words"].ok and "locked" in found["words"].line
    assert found["integrity"].ok and found["permissions"].ok


def test_a_line_for_each_check_and_its_exit_status(paths, home):
    said = CliRunner().invoke(doctor_command)
    assert said.exit_code == 1 and "ok     integrity" in said.output  # the plugin is not registered in this home
    assert all(line.startswith(("ok ", "wrong ")) or "hippo doctor --fix" in line for line in said.output.splitlines())
    report = json.loads(CliRunner().invoke(doctor_command, ["--json"]).output)
    assert report["ok"] is False and {row["check"] for row in report["checks"]} >= HOUSE
