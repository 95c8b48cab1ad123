"""What Stop and SessionEnd start: a detached catch-up that keeps nobody waiting, and not more of them than needed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hook_process import SESSION, event, shared_by_hooks

from hippo_core.schedule import choose

_PATIENCE = 20.0  # seconds for a process to start on a busy machine


@pytest.fixture
def data(store, paths):
    """A data folder with a store; processes started for it stay until the test is over."""
    stay = paths.home / "stay"
    stay.touch()
    yield paths
    stay.unlink(missing_ok=True)


def started(data, count: int = 1) -> list[dict]:
    """The records of the catch-ups that were started, once there are `count`."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        records = [json.loads(path.read_bytes()) for path in data.home.glob("started-*.json")]
        if len(records) >= count:
            return records
        assert time.monotonic() < deadline, "no catch-up was started"
        time.sleep(0.01)


def test_the_end_of_a_session_starts_a_catch_up_that_outlives_it(hooks, data):
    """The hook is over, its pipes at their end, while the catch-up still runs."""
    done = hooks.run("session_end", data.home, event("session_end", reason="other"))
    assert done.stdout == b""
    (record,) = started(data)
    assert record["argv"] == ["catch-up", "--session", SESSION]
    assert record["isolated"]
    if os.name == "posix":
        assert record["session"] == record["pid"], "it would die with the terminal"
        assert record["quiet"], "it could still write into the client"
        assert record["nice"] == min(os.nice(0) + 10, 19), "it would slow down what the user does meanwhile"


@pytest.mark.skipif(os.name == "nt", reason="nothing is inherited there unless it is named")
def test_what_the_client_left_open_is_closed_while_the_catch_up_runs(hooks, data):
    ours, the_client_s = os.pipe()
    command = hooks.command("session_end", data.home)
    subprocess.run(command, input=event("session_end"), pass_fds=[the_client_s], check=True)
    os.close(the_client_s)
    started(data)
    os.set_blocking(ours, False)
    assert os.read(ours, 1) == b"", "its end"
    os.close(ours)


def test_on_windows_it_gets_a_console_without_a_window_as_do_the_programs_it_starts():
    """Without any console, the interpreter that an environment's python.exe starts would open one on the screen."""
    no_window, detached, new_console = 0x08000000, 0x8, 0x10
    flags = shared_by_hooks()._UNSEEN
    assert flags & no_window and not flags & (detached | new_console)


@pytest.mark.parametrize("session", ["", "--all", "../x", "a b", None])
def test_a_session_id_that_is_none_becomes_no_argument(hooks, data, session):
    hooks.run("session_end", data.home, event("session_end", session_id=session))
    (record,) = started(data)
    assert record["argv"] == ["catch-up"]


def test_a_turn_s_end_starts_one_that_only_archives(hooks, data):
    assert hooks.run("stop", data.home).stdout == b""
    (record,) = started(data)
    assert record["argv"] == ["catch-up", "--archive-only"]


def stamp_of(data, age: float, name: str = "stop"):
    data.run.mkdir(exist_ok=True)
    stamp = data.run / name
    stamp.touch()
    at = time.time() - age
    os.utime(stamp, (at, at))
    return stamp, stamp.stat().st_mtime_ns


@pytest.mark.parametrize("age", [0, 60, 150])
def test_a_turn_soon_after_starts_nothing(hooks, data, age):
    stamp, before = stamp_of(data, age)
    hooks.run("stop", data.home)
    hooks.run("session_end", data.home)
    (record,) = started(data)
    assert "--archive-only" not in record["argv"]
    assert stamp.stat().st_mtime_ns == before


@pytest.mark.parametrize("age", [240, 7 * 86_400, -3_600])
def test_a_turn_a_few_minutes_later_starts_one_again_whatever_the_clock_did(hooks, data, age):
    stamp, before = stamp_of(data, age)
    hooks.run("stop", data.home)
    assert started(data)
    assert stamp.stat().st_mtime_ns != before


@pytest.mark.parametrize("what", ["folder", "stamp"])
def test_where_the_start_cannot_be_noted_none_is_started_every_turn(hooks, data, what):
    if what == "folder":
        data.run.write_bytes(b"a file in the folder's place")
    else:
        (data.run / "stop").mkdir(parents=True)  # as good as read-only
        os.utime(data.run / "stop", (1e9, 1e9))
    hooks.run("stop", data.home)
    hooks.run("session_end", data.home)
    (record,) = started(data)
    assert "--archive-only" not in record["argv"]


def test_without_a_store_none_is_started_that_would_make_one(hooks, data):
    away = data.store.rename(data.home / "away.db")
    for hook in ("stop", "session_end"):
        hooks.run(hook, data.home)
    away.rename(data.store)
    hooks.run("session_end", data.home, event("session_end", session_id="the-real-one"))
    (record,) = started(data)
    assert record["argv"][-1] == "the-real-one"


def test_a_child_of_ours_starts_nothing(hooks, data):
    for hook in ("stop", "session_end"):
        hooks.run(hook, data.home, HIPPO_CHILD="1")
    hooks.run("session_end", data.home, event("session_end", session_id="the-real-one"))
    (record,) = started(data)
    assert record["argv"][-1] == "the-real-one"


def test_where_no_scheduler_works_the_start_of_a_session_starts_the_jobs_that_are_due(hooks, data):
    choose.install(data, Path(sys.executable), "hooks")  # hooks read what it writes as bytes
    for _ in range(3):
        hooks.run("session_rules", data.home)
    hooks.run("session_end", data.home)
    records = started(data, 2)
    assert sorted(record["argv"][1] for record in records) == ["--jobs-only", "--session"]


@pytest.mark.parametrize("age, starts", [(540, False), (660, True), (-660, True)])
def test_the_start_of_a_session_starts_them_every_ten_minutes_at_most(hooks, data, age, starts):
    data.schedule_record.write_text('{"with": "hooks", "prefix": "hippocampus"}')
    stamp_of(data, age, "start")
    hooks.run("session_rules", data.home)
    hooks.run("session_end", data.home)
    records = started(data, 2 if starts else 1)
    assert ("--jobs-only" in {record["argv"][1] for record in records}) is starts


@pytest.mark.parametrize("scheduler", ["systemd", "off", None])
def test_where_one_works_or_none_is_wanted_it_starts_nothing(hooks, data, scheduler):
    if scheduler:
        data.schedule_record.write_text(json.dumps({"with": scheduler, "prefix": "hippocampus"}, indent=2))
    hooks.run("session_rules", data.home)
    hooks.run("session_end", data.home)
    (record,) = started(data)
    assert record["argv"][1] == "--session"


def test_the_rules_are_told_where_the_jobs_cannot_be_started(hooks, data, store):
    from hippo_core.render.refresh import refresh

    refresh(store, data)
    data.schedule_record.write_text('{"with": "hooks", "prefix": "hippocampus"}')
    data.run.write_bytes(b"a file in the folder's place")
    assert hooks.run("session_rules", data.home).stdout == (data.render / "rules.json").read_bytes()
    assert list(data.home.glob("started-*.json")) == []
