"""Heartbeats: last ran and last did work are apart, and no run ends without one."""

import json
from pathlib import Path

import pytest

from hippo_core.errors import BusyError, StoreFullError
from hippo_core.heartbeat import Run, beat, read, running
from hippo_core.ingest.run import PassReport
from hippo_core.schedule.watch import note_work


def at(monkeypatch, seconds: float) -> None:
    monkeypatch.setenv("HIPPO_NOW", str(seconds))


def test_a_run_that_brings_nothing_does_not_count_as_work(paths, monkeypatch):
    at(monkeypatch, 1000)
    with running(paths, "watch") as run:
        run.worked, run.counts = True, {"messages": 3}
    at(monkeypatch, 5000)
    with running(paths, "watch"):
        pass
    found = read(paths, "watch")
    assert (found.last_ran, found.last_worked) == (5000, 1000)
    assert (found.result, found.counts, found.error) == ("ok", {}, None)


@pytest.mark.parametrize("rows", ["messages", "learned", "embedded", "embedded_messages"])
def test_rows_of_any_kind_that_arrived_are_work(rows):
    run = Run()
    note_work(run, PassReport(**{rows: 7}))
    assert run.worked and {name: number for name, number in run.counts.items() if number} == {rows: 7}


def test_whatever_else_a_pass_did_is_counted_and_no_work():
    run, failed = Run(), [(Path("x"), "cannot be read")]
    note_work(run, PassReport(files=1, bad_lines=2, failed=failed, set_aside=3, sessions=4, waiting=5, confirmed=6))
    assert not run.worked
    counts = {name: number for name, number in run.counts.items() if number}
    assert counts == {"files": 1, "bad_lines": 2, "failed": 1, "set_aside": 3, "waiting": 5, "confirmed": 6}


def test_a_job_that_never_ran_has_no_heartbeat(paths):
    assert read(paths, "watch") is None


def test_a_job_that_fails_leaves_its_error_and_what_it_had_done(paths, monkeypatch):
    at(monkeypatch, 1000)
    with pytest.raises(StoreFullError), running(paths, "watch") as run:
        run.worked, run.counts = True, {"messages": 2}
        raise StoreFullError("The disk is full.")
    found = read(paths, "watch")
    assert (found.result, found.error, found.counts) == ("failed", "The disk is full.", {"messages": 2})
    assert found.last_worked == 1000


def test_an_unforeseen_error_does_not_put_what_it_quotes_into_the_file(paths):
    with pytest.raises(ValueError), running(paths, "watch"):
        raise ValueError("my diary says hello")
    assert read(paths, "watch").error == "ValueError"
    assert b"diary" not in (paths.run / "heartbeat" / "watch.json").read_bytes()


def test_a_job_that_is_stopped_by_hand_has_failed(paths):
    with pytest.raises(KeyboardInterrupt), running(paths, "watch"):
        raise KeyboardInterrupt
    assert (read(paths, "watch").result, read(paths, "watch").error) == ("failed", "KeyboardInterrupt")


def test_who_finds_another_at_work_is_busy_and_not_failed(paths):
    with pytest.raises(BusyError), running(paths, "watch"):
        raise BusyError("Another one is at work.")
    found = read(paths, "watch")
    assert (found.result, found.error) == ("busy", None)


AT = b'{"last_ran": %s, "last_worked": null, "result": "ok", "counts": {}, "error": null}'


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"last_ran": "x"}',
        b'{"last_ran": 1}',
        AT % b"1e14",
        AT % b"-1e14",
        AT % b"NaN",
        AT % (b"9" * 400),
        b"[" * 100_000,
    ],
)
def test_a_damaged_heartbeat_is_none_and_the_next_run_mends_it(paths, damage):
    beat(paths, "dream", worked=True, counts={"retired": 1}, error=None, result="ok")
    (paths.run / "heartbeat" / "dream.json").write_bytes(damage)
    assert read(paths, "dream") is None
    beat(paths, "dream", worked=False, counts={}, error=None, result="ok")
    assert read(paths, "dream").last_worked is None


def test_an_error_is_one_redacted_line(paths):
    secret = "ghp_" + "a1B2" * 9
    beat(paths, "monitor", worked=False, counts={}, error=f"refused\n{secret} " + "x" * 5000, result="failed")
    raw = (paths.run / "heartbeat" / "monitor.json").read_text(encoding="utf-8")
    assert secret not in raw and len(raw) < 1000 and "\n" not in json.loads(raw)["error"]


def test_an_error_that_names_a_file_in_another_encoding_is_kept(paths):
    beat(paths, "watch", worked=False, counts={}, error="caf\udce9.jsonl cannot be read", result="failed")
    assert "cannot be read" in read(paths, "watch").error


def test_a_job_does_its_work_where_its_heartbeat_cannot_be_written(paths):
    paths.home.mkdir(parents=True)
    paths.run.write_text("no folder")
    with running(paths, "watch") as run:
        run.worked = True
    assert read(paths, "watch") is None
