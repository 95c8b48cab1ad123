"""`hippo ingest` says what it did; `hippo catch-up` says nothing, whatever happens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from transcript_files import SESSION, user, write

from hippo_core import config
from hippo_core.cli.watch import watch_command
from hippo_core.ingest.due import noted
from hippo_core.lock import one_at_a_time
from hippo_core.log import MOST_BYTES, log, log_error
from hippo_core.store import Store

NOW = "2099-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def no_vectors(paths):
    config.save(paths, embedder="off")


@pytest.fixture
def transcript(isolated):
    text = "We decided on SQLite because it needs no server."
    return write(isolated / ".claude" / "projects" / "shop" / f"{SESSION}.jsonl", user(text, 1, timestamp=NOW))


def hippo(*arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hippo_core.cli.main", *arguments],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def memories(paths):
    with Store.open(paths.store, readonly=True) as store:
        return store.memories.select()


def test_ingest_reports_in_a_few_lines(paths, transcript):
    done = hippo("ingest", "--now")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "  read      1 new or changed transcript",
        "  archived  1 message",
        "  learned   1 memory from 1 session",
    ]
    assert done.stderr.splitlines() == ["1 transcript looked at", "1 session learned from"]


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_ingest_says_what_it_could_not_read(paths, transcript):
    write(transcript, transcript.read_bytes(), b"{broken\n")
    (link := transcript.with_name("link.jsonl")).symlink_to(transcript.with_name("nowhere.jsonl"))
    first = hippo("ingest").stdout.splitlines()
    assert "  skipped   1 unreadable line" in first
    why = f"{link} cannot be read (No such file or directory)."
    assert f"  failed    1 file, tried three times at most; the first: {why}" in first
    for _ in range(2):
        hippo("ingest")
    last = hippo("ingest").stdout.splitlines()
    assert last[-1] == "  set aside 1 file that failed three times (--retry tries them again)"
    assert any(line.startswith("  failed") for line in hippo("ingest", "--retry").stdout.splitlines())


def test_a_watch_that_goes_on_says_why_it_made_no_pass(paths, transcript, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", stop)
    with one_at_a_time(paths, "ingest"):
        said = CliRunner().invoke(watch_command).output
    assert "Another hippo ingest" in said and "is at work" in said


def test_ingest_says_which_sessions_wait(paths, transcript):
    assert "1 session that may still be running" in hippo("ingest").stdout


def test_ingest_json_is_nothing_but_json(paths, transcript):
    done = hippo("ingest", "--now", "--json", "--no-embed")
    assert done.stderr == "" and json.loads(done.stdout)["learned"] == 1


def test_ingest_from_other_folders(paths, isolated):
    for name in ("one", "two"):
        write(isolated / name / f"{name}.jsonl", user(f"We chose {name} because of rain.", len(name), sessionId=name))
    done = hippo("ingest", "--from", str(isolated / "one"), "--from", str(isolated / "two"), "--json")
    assert json.loads(done.stdout)["files"] == 2


def test_ingest_from_a_folder_that_is_not_there(paths, isolated):
    done = hippo("ingest", "--from", str(isolated / "nowhere"))
    assert done.returncode == 2 and "There is no folder" in done.stderr and len(done.stderr.splitlines()) == 1


def test_ingest_from_what_holds_no_transcripts(paths, isolated):
    wrong = ["", " "]
    if hasattr(os, "mkfifo"):
        os.mkfifo(isolated / "pipe")
        wrong.append(str(isolated / "pipe"))
    for name in wrong:
        done = hippo("ingest", "--from", name)
        assert done.returncode == 2 and "Nothing was read." in done.stderr and len(done.stderr.splitlines()) == 1


def test_ingest_while_another_is_at_work(paths, transcript):
    with one_at_a_time(paths, "ingest"):
        done = hippo("ingest")
    assert done.returncode == 1 and f"pid {os.getpid()}" in done.stderr and len(done.stderr.splitlines()) == 1


def test_ingest_into_a_damaged_store(paths, transcript):
    paths.home.mkdir(parents=True, exist_ok=True)
    paths.store.write_bytes(b"no database " * 50)
    done = hippo("ingest")
    assert done.returncode == 1 and "was left untouched" in done.stderr and len(done.stderr.splitlines()) == 1


def assert_silent(done):
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_catch_up_learns_from_the_session_that_ended(paths, transcript):
    assert_silent(hippo("catch-up", "--session", SESSION))
    assert len(memories(paths)) == 1 and not noted(paths)


def test_catch_up_leaves_running_sessions_alone(paths, transcript):
    assert_silent(hippo("catch-up", "--session", "another"))
    assert not memories(paths)


def test_catch_up_archives_only_when_told_so(paths, transcript):
    os.utime(transcript, (1e9, 1e9))  # it has rested, so that any other pass would learn from it
    assert_silent(hippo("catch-up", "--archive-only"))
    with Store.open(paths.store, readonly=True) as store:
        assert store.archive.counts()[0] == 1 and not store.memories.select()
    assert_silent(hippo("catch-up"))
    assert len(memories(paths)) == 1


def test_catch_up_that_finds_another_at_work_leaves_at_once_and_loses_nothing(paths, transcript):
    with one_at_a_time(paths, "ingest"):
        assert_silent(hippo("catch-up", "--session", SESSION))
        assert not paths.store.exists() and not paths.log.exists()
    assert_silent(hippo("catch-up", "--archive-only"))
    assert len(memories(paths)) == 1
    assert not (paths.log / "hippo.log").exists(), "which is nothing to tell of"


def test_a_child_of_ours_stores_nothing(paths, transcript):
    assert_silent(hippo("catch-up", "--session", SESSION, HIPPO_CHILD="1"))
    assert not paths.store.exists()


def test_catch_up_writes_what_went_wrong_into_the_log(paths, transcript):
    paths.home.mkdir(parents=True, exist_ok=True)
    paths.store.write_bytes(b"no database " * 50)
    assert_silent(hippo("catch-up", "--session", SESSION))
    (line,) = (paths.log / "hippo.log").read_text(encoding="utf-8").splitlines()
    assert "catch-up:" in line and "damaged" in line
    assert noted(paths) == {SESSION}, "the session must be due when the store is mended"


def test_catch_up_with_damaged_settings_is_silent(paths, transcript):
    paths.config.write_text("{", encoding="utf-8")
    assert_silent(hippo("catch-up", "--session", SESSION))
    assert "cannot be read" in (paths.log / "hippo.log").read_text(encoding="utf-8")


def test_the_log_is_kept_whatever_the_clock_says(paths, monkeypatch):
    monkeypatch.setenv("HIPPO_NOW", "1e14")
    log(paths, "job", "still here")
    assert (paths.log / "hippo.log").read_text(encoding="utf-8") == "100000000000000s job: still here\n"


def test_several_lines_are_told_apart_in_the_one_of_the_log(paths):
    log(paths, "dream", "  counted   8 times\n\n  rebuilt   2 indexes\n")
    line = (paths.log / "hippo.log").read_text(encoding="utf-8")
    assert line.endswith(" dream: counted 8 times · rebuilt 2 indexes\n")


def test_the_log_is_redacted_bounded_and_private(paths):
    secret = "ghp_" + "x1Y2" * 9
    log_error(paths, "job", ValueError(f"the token {secret} was refused\nby the server"))
    text = (paths.log / "hippo.log").read_text(encoding="utf-8")
    assert secret not in text and len(text.splitlines()) == 1 and "ValueError" in text
    for _ in range(2 * MOST_BYTES // 1_900 + 10):
        log(paths, "job", "x" * 5_000)
    sizes = [path.stat().st_size for path in paths.log.iterdir()]
    assert len(sizes) == 2 and max(sizes) < MOST_BYTES + 3_000
    if os.name == "posix":
        assert (paths.log / "hippo.log").stat().st_mode & 0o077 == 0
