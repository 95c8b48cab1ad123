"""Which facts the monitor gathers: what of the transcripts is missing, and what is none of its business."""

import os
import shutil
from datetime import datetime, timezone

import pytest
import transcript_files as records

from hippo_core.ingest.run import run_pass
from hippo_core.monitor.facts import gather
from hippo_core.schedule.jobs import JOBS
from hippo_core.store import Store, connection

HOUR, DAY = 3_600.0, 86_400.0
NOW = datetime(2026, 11, 27, 12).timestamp()


@pytest.fixture
def projects(paths, isolated, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", str(NOW))
    Store.open(paths.store).close()
    return isolated / ".claude" / "projects"


@pytest.fixture
def facts(paths, projects):
    def now(jobs=JOBS):
        return gather(
            paths, jobs, [projects], awake={}, scheduled_since=0.0, unsent_since=None, thorough=False
        )  # fmt: skip

    return now


def transcript(projects, name, age, *values, folder="-shop"):
    """A file that last changed `age` seconds ago."""
    path = records.write(projects / folder / f"{name}.jsonl", *values) or projects / folder / f"{name}.jsonl"
    os.utime(path, (NOW - age,) * 2)
    return path


def said(name, text="We decided to use PostgreSQL.", age=0.0):
    at = datetime.fromtimestamp(NOW - age, timezone.utc).isoformat()
    return records.user(text, 1, sessionId=name, uuid=f"{name}-1", timestamp=at)


def silent(count=100):
    """Records of a format that nobody can read."""
    return [{"kind": "turn", "words": "x" * 100}] * count


def read(paths, projects, **how):
    return run_pass(paths, roots=[projects], embed=False, **how)


@pytest.mark.parametrize("jobs, age, unread", [
    (JOBS, 2.9 * HOUR, 0), (JOBS, 3.1 * HOUR, 1), ((), 3.1 * HOUR, 0), ((), 23 * HOUR, 0), ((), 25 * HOUR, 1),
])  # fmt: skip
def test_a_transcript_is_missing_once_it_has_rested_longer_than_whoever_reads_it_takes(
    projects, facts, jobs, age, unread
):
    transcript(projects, "s1", age, said("s1"))
    found = facts(jobs)
    assert (found.unread, found.unread_since) == (unread, NOW - age if unread else None)


def test_an_empty_file_and_one_that_was_set_aside_are_not_missing(projects, facts, paths):
    transcript(projects, "empty", DAY)
    file = transcript(projects, "s1", DAY, said("s1"))
    assert facts().unread == 1
    with Store.open(paths.store) as store, store.transaction():
        store.progress.save_source(store.progress.begin_source(str(file)), attempts=3, error="cannot be read")
    assert (facts().unread, facts().set_aside) == (0, 1)


def test_sessions_wait_to_be_learned_from_once_two_days_are_over(projects, facts, paths):
    for name, age in (("s1", 1.9 * DAY), ("s2", 2.1 * DAY)):
        transcript(projects, name, age, said(name, age=age))
    read(paths, projects, archive_only=True)
    assert facts().waiting == 1


def test_a_row_of_the_newest_that_gave_nothing_is_counted_up_to_the_first_that_gave_something(projects, facts, paths):
    ages = [5 * HOUR, 6 * HOUR, 8 * HOUR]
    for number, age in enumerate(ages):
        transcript(projects, f"s{number}", age, *silent())
    transcript(projects, "spoken", 7 * HOUR, said("spoken", "A word. " * 2_000))
    read(paths, projects)
    assert (facts().barren, facts().barren_since) == (2, NOW - 6 * HOUR)


def test_what_may_well_hold_no_message_or_was_not_read_to_its_end_is_not_in_that_row(projects, facts, paths):
    transcript(projects, "short", 5 * HOUR, *silent(3))
    transcript(projects, "agent-1", 5 * HOUR, *silent())
    transcript(projects, "old", 15 * DAY, *silent())
    grown, failed = (transcript(projects, name, 5 * HOUR, *silent()) for name in ("grown", "failed"))
    read(paths, projects)
    assert facts().barren == 2
    with grown.open("ab") as file:
        file.write(b"\n")
    with Store.open(paths.store) as store, store.transaction():
        store.progress.save_source(store.progress.sources()[str(failed)], error="cannot be read", attempts=1)
    assert facts().barren == 0


def test_a_store_that_somebody_has_locked_is_no_trouble_and_one_that_is_gone_is(projects, facts, paths, monkeypatch):
    transcript(projects, "s1", DAY, said("s1"))
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 10)
    with Store.open(paths.store) as store:
        store._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        store._db.execute("PRAGMA journal_mode = delete")
        store._db.execute("BEGIN EXCLUSIVE")
        locked = facts()
    assert (locked.store_problem, locked.store_read, locked.unread) == (None, False, 0)
    shutil.move(paths.store, paths.store.with_name("elsewhere"))
    assert "not there" in facts().store_problem and not facts().store_read
