"""Status is honest: it counts what is there, says who pays, and names what needs the user."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from hippo_core import config, heartbeat
from hippo_core.cli.status import status_command
from hippo_core.curate.remember import remember
from hippo_core.errors import StoreMissingError
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.monitor import hours
from hippo_core.monitor.alerts import Alert
from hippo_core.monitor.channels import write_log
from hippo_core.monitor.run import Memo
from hippo_core.ops.status import look
from hippo_core.paths import write_atomic
from hippo_core.render.budget import tokens
from hippo_core.render.refresh import refresh
from hippo_core.schedule import choose


def tell(store, paths, text, author=Author.HUMAN, kind=MemoryType.FACT, scope=GLOBAL_SCOPE):
    return remember(store, paths, text, type=kind, scope=scope, author=author, actor="test")


def test_it_counts_what_is_there(store, paths, tmp_path):
    shop = project_scope("example.org/a/shop", "shop")
    tell(store, paths, "one"), tell(store, paths, "two", kind=MemoryType.DECISION, scope=shop)
    tell(store, paths, "three", Author.MACHINE, scope=shop)
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        store.progress.save_source(source, error="Permission denied", bad_lines=3)
    status = look(paths, str(tmp_path))
    assert status.memories == {"fact": 2, "decision": 1} and status.scopes == {"shop": 2, "everywhere": 1}
    assert (status.by_you, status.files, status.bad_lines) == (2, 1, 3)
    assert status.set_aside == [("/t.jsonl", "Permission denied")]
    assert status.without_vectors == 3 and status.bytes >= paths.store.stat().st_size
    assert status.rendered_at is not None and status.always_on > 0
    rows = [line.strip() for line in CliRunner().invoke(status_command).output.splitlines()]
    assert "plugin      not installed" in rows
    assert "memories    3 (2 written by you): 2 facts, 1 decision" in rows
    assert "in projects 2 shop, 1 everywhere" in rows
    assert "read        1 transcript, 1 could not be read, 3 unreadable lines passed over" in rows


def test_the_tokens_are_those_of_what_the_hooks_print_here(store, paths, tmp_path, isolated):
    here, elsewhere = tmp_path / "shop", tmp_path / "elsewhere"
    here.mkdir(), elsewhere.mkdir()
    tell(store, paths, "We ship on Fridays.", scope=scope_of(str(here)))
    refresh(store, paths)

    def of(name):
        data = (paths.render / name).read_bytes()
        return tokens(json.loads(data)["hookSpecificOutput"]["additionalContext"]) if data else 0

    key = scope_of(str(here)).key
    assert of(f"project/{key}.json") != of("project/default.json")
    status, outside = look(paths, str(here)), look(paths, str(elsewhere))
    assert status.always_on == of("rules.json") + of(f"project/{key}.json")
    assert outside.always_on == of("rules.json") + of("project/default.json")
    assert status.per_prompt == outside.per_prompt == of("nudge.json") > 20
    said = CliRunner().invoke(status_command).output
    assert f"{status.per_prompt} with each prompt, as of today" in said
    config.save(paths, nudge="")
    refresh(store, paths)
    assert look(paths, str(here)).per_prompt == 0
    (paths.render / "rules.json").write_bytes(b"{half")
    assert look(paths, str(here)).always_on == of(f"project/{key}.json")


def test_what_the_store_and_its_archive_take(store, paths, tmp_path):
    """The archive: its messages, its indexes, its vectors; held against SQLite's own count of each."""
    tell(store, paths, "one " * 2_000)
    store.forgetting.truncate_log()
    empty = look(paths, str(tmp_path))
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        for number in range(400):
            said = Message(f"u{number}", "s", Role.USER, f"the kettle {number} is warm " * 40, 1.0, "/srv", number)
            store.archive.append(said, scope=GLOBAL_SCOPE, source_id=source.id)
    store.forgetting.truncate_log()
    status = look(paths, str(tmp_path))
    rows = store._db.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").fetchall()
    of_archive = ("message", "episode", "archive_")
    mine = sum(size for name, size in rows if name.removeprefix("sqlite_autoindex_").startswith(of_archive))
    assert status.archive_bytes == mine > empty.archive_bytes + 400 * 900
    assert status.bytes == paths.store.stat().st_size > status.archive_bytes
    said = CliRunner().invoke(status_command).output
    assert f"memory.db  {status.bytes / 1e6:.1f} MB, of which the archive {status.archive_bytes / 1e6:.1f} MB" in said
    with store.transaction():
        store.forgetting.erase([], range(1, 401))
    assert store.archive.bytes() < status.archive_bytes / 2, "what is free again is nobody's"


def test_nobody_pays_unless_the_user_chose_who(store, paths, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "stray")
    assert look(paths, str(tmp_path)).paid_by == "nobody"
    paths.config.write_text('{"embedder": "openai"}', encoding="utf-8")
    assert "OpenAI" in look(paths, str(tmp_path)).paid_by


def test_how_a_search_works_is_said_without_loading_what_may_fail(store, paths):
    def said(**settings):
        config.save(paths, **settings)
        (line,) = (line for line in CliRunner().invoke(status_command).output.splitlines() if "  search " in line)
        return line.split(maxsplit=1)[1]

    tried = "; a cross-encoder on this machine is set to order it (hippo doctor tries it)"
    assert said() == "by keywords and by meaning (a model on this machine)"
    assert said(reranker="local") == f"by keywords and by meaning (a model on this machine){tried}"
    assert said(embedder="off") == f"by keywords only{tried}"
    assert said(reranker="off") == "by keywords only"
    tell(store, paths, "one")
    assert (
        said(embedder="local")
        == "by keywords and by meaning (a model on this machine; 1 memory without vectors so far)"
    )


def test_what_needs_the_user_is_named_and_nothing_else(store, paths, tmp_path, isolated):
    needs = " ".join(look(paths, str(tmp_path)).needs)
    assert "install.py" in needs and "No session has been" not in needs and "forget" not in needs
    tell(store, paths, "one")
    with store.transaction():
        store.forgetting.erase([1], [])
    assert any("forget is not finished" in need for need in look(paths, str(tmp_path)).needs)


def test_memories_that_wait_for_vectors_need_the_user_only_where_no_job_sees_to_them(store, paths, tmp_path):
    tell(store, paths, "one")
    assert any("1 memory found by keywords only" in need for need in look(paths, str(tmp_path)).needs)
    choose.install(paths, Path(sys.executable), "hooks")
    assert not any("keywords" in need for need in look(paths, str(tmp_path)).needs)


def test_messages_that_wait_for_vectors_are_counted_and_a_setting_that_keeps_them_waiting_is_named(store, paths):
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        for number, withheld in enumerate((None, None, "private")):
            message = Message(f"u{number}", "s", Role.USER, "the kettle is warm", 1.0, "/srv", number)
            store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id, withheld=withheld)
    assert (
        "3 messages of 1 session outside any project; 2 messages without vectors so far"
        in CliRunner().invoke(status_command).output
    )
    config.save(paths, archive_meaning=False)
    assert "outside any project; searched by keywords only (archive_meaning: false)" in (
        CliRunner().invoke(status_command).output
    )
    config.save(paths, archive_meaning=True, embedder="off")
    assert "outside any project\n" in CliRunner().invoke(status_command).output


def test_each_need_is_named_with_what_helps_and_only_while_it_stands(store, paths, tmp_path, isolated, monkeypatch):
    def needs():
        return " | ".join(look(paths, str(tmp_path)).needs)

    assert "Nothing is ready for the hooks to read: hippo ingest" in needs() and "No session has been" not in needs()
    transcript = isolated / ".claude" / "projects" / "-srv" / "s.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.touch()
    assert "No session has been read yet: hippo ingest" in needs()
    refresh(store, paths)
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        said = Message("u1", "s", Role.USER, "the kettle is warm", 1.0, "/srv", 1)
        store.archive.append(said, scope=GLOBAL_SCOPE, source_id=source.id)
    assert "Nothing is ready" not in needs() and "No session" not in needs()
    marketplace = paths.plugin / ".claude-plugin" / "marketplace.json"
    marketplace.parent.mkdir(parents=True)
    marketplace.write_text("{}", encoding="utf-8")
    (isolated / ".claude" / "settings.json").write_text('{"enabledPlugins": {"hippo@hippocampus": false}}', "utf-8")
    assert "switched off in Claude Code: claude plugin enable hippo@hippocampus" in needs()
    assert "install.py" not in needs()
    (isolated / ".claude" / "settings.json").write_text('{"enabledPlugins": {"hippo@hippocampus": true}}', "utf-8")
    assert needs() == "No scheduler starts the jobs: hippo schedule install"
    choose.remove(paths, stay_off=True)
    assert needs() == ""
    choose.install(paths, Path(sys.executable), "hooks")
    monkeypatch.setenv("HIPPO_NOW", "1800000000")
    heartbeat.beat(paths, "watch", worked=True, counts={}, error=None, result="ok")
    monkeypatch.setenv("HIPPO_NOW", str(1_800_000_000 + 7_100))
    assert needs() == ""
    monkeypatch.setenv("HIPPO_NOW", str(1_800_000_000 + 7_300))
    assert needs() == "The job watch is late: hippo schedule run watch"
    assert "did work 2 hours ago, LATE" in CliRunner().invoke(status_command).output


def test_alerts_that_are_not_over_are_counted_and_the_last_is_shown(store, paths, tmp_path):
    told = {
        "disk": Alert("the disk is nearly full", True, 100.0, raised=200.0, told=1),
        "unread": Alert("1 transcript not stored", True, 50.0, raised=900.0, told=1),
        "set-aside": Alert("waits", False, 40.0),
        "silent:watch": Alert("is over", True, 30.0, raised=950.0, told=1, gone=960.0),
    }
    write_atomic(paths.alerts / "memo.json", json.dumps(asdict(Memo(alerts=told))).encode())
    status = look(paths, str(tmp_path))
    assert (status.moving.standing, status.moving.alert.text) == (2, "1 transcript not stored")
    assert "2 alerts not over, last: 1 transcript not stored. hippo monitor show" in status.needs


def test_a_repeated_alert_is_the_last_one_and_its_end_is_none(store, paths, tmp_path, monkeypatch):
    for at, kind, text in ((10, "raised", "first"), (20, "repeated", "second"), (30, "over", "third")):
        monkeypatch.setenv("HIPPO_NOW", str(1_800_000_000 + at))
        write_log(paths, kind, f"disk: {text}")
    alert = look(paths, str(tmp_path)).moving.alert
    assert (alert.text, alert.at, alert.standing) == ("second", 1_800_000_020, False)


@pytest.mark.parametrize("settings, state", [
    (None, "not registered"), ("{}", "not registered"), ("no json", "not registered"),
    ('{"enabledPlugins": {"hippo@hippocampus": true}}', "enabled"),
    ('{"enabledPlugins": {"hippo@hippocampus": false}}', "disabled"),
])  # fmt: skip
def test_whether_the_client_runs_the_plugin(store, paths, tmp_path, isolated, settings, state):
    assert look(paths, str(tmp_path)).plugin == "not installed"
    marketplace = paths.plugin / ".claude-plugin" / "marketplace.json"
    marketplace.parent.mkdir(parents=True)
    marketplace.write_text("{}", encoding="utf-8")
    if settings is not None:
        (isolated / ".claude").mkdir()
        (isolated / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    assert look(paths, str(tmp_path)).plugin == state


def test_each_jobs_two_times_and_the_last_alert(store, paths, tmp_path, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", "1800000000")
    heartbeat.beat(paths, "watch", worked=True, counts={}, error=None, result="ok")
    monkeypatch.setenv("HIPPO_NOW", "1800010000")
    heartbeat.beat(paths, "watch", worked=False, counts={}, error=None, result="ok")
    heartbeat.beat(paths, "dream", worked=False, counts={}, error="The disk is full.", result="failed")
    write_log(paths, "raised", "disk: the disk is nearly full")
    write_log(paths, "over", "disk: the disk is nearly full")
    monkeypatch.setenv("HIPPO_NOW", "1800010600")
    status = look(paths, str(tmp_path))
    watch, dream = status.moving.jobs[0], status.moving.jobs[2]
    assert (watch.last_ran, watch.last_worked, dream.last_worked) == (1_800_010_000, 1_800_000_000, None)
    assert status.moving.alert.text == "the disk is nearly full" and not status.moving.alert.standing
    assert any("dream failed: The disk is full." in need for need in status.needs)
    said = CliRunner().invoke(status_command).output
    assert "ran 10 minutes ago, did work 2 hours ago" in said and "no work so far: FAILED" in said
    assert "last 10 minutes ago, over: the disk is nearly full" in said and "not run yet: backstop" in said


def test_without_any_alert_it_says_so_and_while_alerts_are_muted_until_when(store, paths, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", "1800000000")
    assert "alerts      none so far\n" in CliRunner().invoke(status_command).output
    hours.mute(paths, 1_800_003_600)
    assert "alerts      muted until 2027-01-15 09:00\n" in CliRunner().invoke(status_command).output


def test_what_is_set_aside_is_told_from_what_will_be_tried_again(store, paths):
    with store.transaction():
        for name, attempts in (("/once.jsonl", 1), ("/often.jsonl", 3)):
            store.progress.save_source(store.progress.begin_source(name), error="unreadable", attempts=attempts)
    said = CliRunner().invoke(status_command).output
    assert "2 could not be read (1 set aside" in said
    assert "2 transcripts could not be read; the first: unreadable" in said


def test_one_screen_for_people_and_json_for_programs(store, paths):
    tell(store, paths, "one")
    said = CliRunner().invoke(status_command).output
    assert "1 fact" in said and "nobody" in said and str(paths.store.name) in said
    assert len(said.splitlines()) < 24 and max(map(len, said.splitlines())) < 200
    assert json.loads(CliRunner().invoke(status_command, ["--json"]).output)["memories"] == {"fact": 1}


def test_without_a_store_it_says_so(paths, tmp_path):
    with pytest.raises(StoreMissingError, match="hippo ingest"):
        look(paths, str(tmp_path))
