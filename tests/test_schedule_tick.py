"""Running jobs: each in a process of its own, none twice at once, silent, bounded, and made up for when missed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from transcript_files import SESSION, user, write

from hippo_core import clock, config
from hippo_core.heartbeat import beat, read
from hippo_core.ingest.due import note_over
from hippo_core.lock import one_at_a_time
from hippo_core.log import log
from hippo_core.record import Record
from hippo_core.schedule import choose, tick
from hippo_core.schedule.jobs import JOBS, Job, job_named
from hippo_core.schedule.watch import roots
from hippo_core.store import Store

ROOT = Path(__file__).parent.parent
OLD = "2026-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def no_vectors(paths, monkeypatch):
    config.save(paths, embedder="off")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def transcript(isolated):
    text = "We decided on SQLite because it needs no server."
    return write(isolated / ".claude" / "projects" / "shop" / f"{SESSION}.jsonl", user(text, 1, timestamp=OLD))


@pytest.fixture
def scripted(monkeypatch, tmp_path):
    """Makes a job of a few lines of Python: its command runs them in the place of the real command line."""

    def make(script: str) -> Job:
        package = tmp_path / "scripted" / "hippo_core" / "cli"
        package.mkdir(parents=True)
        (package / "main.py").write_text(script, encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "scripted"))
        return Job("scripted", "does as the test says", ("go",), 3600, (0,))

    return make


def hippo(*arguments, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hippo_core.cli.main", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
    )


def all_ran(paths, *, but: str = "") -> None:
    """Let every job but one have run just now."""
    for job in JOBS:
        if job.name != but:
            beat(paths, job.name, worked=False, counts={}, error=None, result="ok")


def log_of(paths) -> str:
    file = paths.log / "hippo.log"
    return file.read_text(encoding="utf-8") if file.exists() else ""


class TestRunJob:
    def test_a_watch_is_run_and_what_it_did_is_in_its_heartbeat_and_in_the_log(self, paths, transcript):
        done = tick.run_job(paths, job_named("watch"))
        assert done.counts["messages"] == 1 and done.counts["learned"] == 1 and done.last_worked == done.last_ran
        assert "watch: " in log_of(paths)
        again = tick.run_job(paths, job_named("watch"))
        assert again.last_worked == done.last_worked < again.last_ran
        assert log_of(paths).count("watch: ") == 1, "a run that brings nothing is not worth a line"

    def test_a_transcript_that_was_read_and_gave_no_row_is_no_work(self, paths, transcript):
        before = tick.run_job(paths, job_named("watch"))
        write(transcript, transcript.read_bytes(), {"type": "file-history-snapshot"})
        done = tick.run_job(paths, job_named("watch"))
        assert done.counts["files"] == 1 and done.last_worked == before.last_worked

    def test_a_job_works_in_the_data_folder_that_it_was_started_for(self, paths, transcript, tmp_path):
        other = type(paths)(tmp_path / "another")
        config.save(other, embedder="off")
        assert tick.run_job(other, job_named("watch")).counts["messages"] == 1
        assert other.store.exists() and not paths.store.exists()

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a shebang")
    @pytest.mark.parametrize("flag", [1, 0])
    def test_a_job_is_as_isolated_as_what_started_it(self, paths, monkeypatch, tmp_path, flag):
        """Else a file in the data folder, where it runs, could take the place of any module."""
        spy = tmp_path / "python"
        spy.write_text(f"#!{sys.executable}\nimport sys\nsys.exit(' '.join(sys.argv[1:3]))\n", encoding="utf-8")
        spy.chmod(0o755)
        flags = SimpleNamespace(isolated=flag)
        monkeypatch.setattr(tick, "sys", SimpleNamespace(executable=str(spy), flags=flags))
        expected = "-I -m" if flag else "-m hippo_core.cli.main"
        assert tick.run_job(paths, job_named("watch")).error == expected

    @pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a shebang")
    def test_a_job_of_an_interpreter_without_a_console_runs_in_the_one_with(self, paths, monkeypatch, tmp_path):
        """What it starts, git for example, would open a window on Windows, every night."""
        spy = tmp_path / "python.exe"
        spy.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('this one')\n", encoding="utf-8")
        spy.chmod(0o755)
        windowless = SimpleNamespace(executable=str(tmp_path / "pythonw.exe"), flags=SimpleNamespace(isolated=1))
        monkeypatch.setattr(tick, "sys", windowless)
        assert tick.run_job(paths, job_named("watch")).error == "this one"

    def test_a_job_that_dies_without_a_word_fails_all_the_same(self, paths, scripted):
        job = scripted("import os, sys; print('half a word'); sys.stdout.flush(); os._exit(3)")
        before = beat(paths, job.name, worked=True, counts={"messages": 3}, error=None, result="ok")
        done = tick.run_job(paths, job)
        assert (done.result, done.error, done.counts) == ("failed", "half a word", {}), "of this run, not of the last"
        assert done.last_worked == before.last_worked < done.last_ran == read(paths, job.name).last_ran
        assert "scripted: half a word" in log_of(paths)

    def test_a_job_that_keeps_no_heartbeat_has_run_all_the_same(self, paths, scripted):
        done = tick.run_job(paths, scripted("print('nothing to do')"))
        assert (done.result, done.error, done.last_worked) == ("ok", None, None) and log_of(paths) == ""

    def test_a_job_that_another_process_kept_out_says_so_in_the_log_and_has_not_failed(self, paths):
        with one_at_a_time(paths, "ingest"):
            done = tick.run_job(paths, job_named("watch"))
        assert (done.result, done.error) == ("busy", None) and "is at work" in log_of(paths)

    def test_what_cannot_even_begin_is_in_the_log_alone(self, paths):
        paths.home.mkdir(parents=True, exist_ok=True)
        paths.run.write_text("a file in the folder's place", encoding="utf-8")
        done = hippo("schedule", "run", "--scheduled", "watch")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "") and "schedule: " in log_of(paths)

    def test_a_job_asks_nobody(self, paths, scripted):
        """Whatever it was started from: what it reads is at its end."""
        waiting, kept = os.pipe(), os.dup(0)
        os.dup2(waiting[0], 0)
        try:
            done = tick.run_job(paths, scripted("import sys; sys.exit(repr(sys.stdin.read()))"), limit=30)
        finally:
            os.dup2(kept, 0)
            for descriptor in (*waiting, kept):
                os.close(descriptor)
        assert done.error == "''"

    def test_a_job_has_three_hours(self, paths, monkeypatch):
        given = []
        monkeypatch.setattr(tick, "_call", lambda paths, job, limit: given.append(limit) or (0, ""))
        tick.run_job(paths, job_named("watch"))
        assert given == [3 * 3600]

    def test_a_job_that_hangs_is_stopped_with_all_it_started(self, paths, scripted, tmp_path):
        mark = tmp_path / "children"
        job = scripted(
            "import subprocess, sys, time\n"
            f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
            "time.sleep(600)"
        )
        done = tick.run_job(paths, job, limit=3)
        assert done.result == "failed" and "was stopped" in done.error
        if sys.platform.startswith("linux"):
            assert not _runs(int(mark.read_text(encoding="utf-8")))

    def test_who_interrupts_a_run_stops_the_job_which_no_terminal_reaches(self, paths, scripted, monkeypatch):
        started = []

        class Interrupted(subprocess.Popen):
            def wait(self, timeout=None):
                if timeout is None:
                    return super().wait()
                started.append(self)
                raise KeyboardInterrupt

        monkeypatch.setattr(subprocess, "Popen", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            tick.run_job(paths, scripted("import time; time.sleep(60)"))
        assert started[0].poll() is not None

    def test_what_a_chatterbox_says_is_bounded_and_redacted(self, paths, scripted, monkeypatch):
        held = []
        monkeypatch.setattr(tick, "log", lambda *of: held.append(of[-1]) or log(*of))
        secret = "ghp_" + "a1B2" * 9
        job = scripted(f"import sys\nprint('x' * 50_000_000)\nprint({secret!r}, 'is refused')\nsys.exit(1)")
        done = tick.run_job(paths, job)
        assert secret not in done.error and done.error.endswith("is refused")
        assert secret not in log_of(paths) and len(log_of(paths)) < 5000 and len(held[0]) < 5000

    def test_two_at_once_are_one(self, paths):
        with one_at_a_time(paths, "job-watch"):
            assert tick.run_job(paths, job_named("watch")) is None
        assert read(paths, "watch") is None

    def test_a_job_runs_with_next_to_no_environment(self, paths, transcript, isolated):
        bare = {"HOME": str(isolated), "HIPPO_HOME": str(paths.home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
        if os.name == "nt":
            bare |= {"SYSTEMROOT": os.environ["SYSTEMROOT"], "USERPROFILE": str(isolated)}
        all_ran(paths, but="watch")
        done = subprocess.run(
            [sys.executable, "-m", "hippo_core.cli.main", "schedule", "run", "--scheduled", "watch"],
            cwd="/",
            env=bare,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert read(paths, "watch").counts["learned"] == 1


def _runs(pid: int) -> bool:
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.05)
    return True


class TestDue:
    def test_only_what_is_due_is_run(self, paths, transcript):
        all_ran(paths, but="watch")
        assert list(tick.run_due(paths)) == ["watch"]
        assert tick.run_due(paths) == {}

    def test_of_two_that_find_it_due_one_runs_it(self, paths):
        beat(paths, "watch", worked=False, counts={}, error=None, result="ok")
        assert tick.run_job(paths, job_named("watch"), if_due=True) is None

    def test_what_another_process_ran_meanwhile_is_not_run_again(self, paths, monkeypatch):
        def another_is_quicker(*of):
            all_ran(paths)
            return one_at_a_time(*of)

        all_ran(paths, but="watch")
        monkeypatch.setattr(tick, "one_at_a_time", another_is_quicker)
        assert tick.run_due(paths) == {}

    def test_after_a_sleep_one_job_s_run_makes_up_for_the_others(self, paths, transcript, monkeypatch):
        """cron knows no missed run: the monitor's line is the first to be reached after waking up."""
        monday = 1_773_136_800.0  # 10 March 2026, 10:00 UTC
        monkeypatch.setenv("TZ", "UTC")
        monkeypatch.setenv("HIPPO_NOW", str(monday - 12 * 3600))
        all_ran(paths)
        monkeypatch.setenv("HIPPO_NOW", str(monday))
        assert hippo("schedule", "run", "--scheduled", "monitor").stdout == ""
        ran = {job.name: read(paths, job.name).last_ran == monday for job in JOBS}
        assert ran == {"watch": True, "backstop": False, "dream": True, "snapshot": True, "monitor": True}

    def test_what_another_line_is_about_to_run_is_left_to_it(self, paths, monkeypatch):
        """At 03:18 the snapshot of 03:47 is not missed, nor is the watch of 03:07 while its line may be late."""
        night = 1_773_112_680.0  # 10 March 2026, 03:18 UTC
        monkeypatch.setenv("TZ", "UTC")
        monkeypatch.setenv("HIPPO_NOW", str(night - 3600))
        all_ran(paths)
        monkeypatch.setenv("HIPPO_NOW", str(night))
        hippo("schedule", "run", "--scheduled", "monitor")
        assert [job.name for job in JOBS if read(paths, job.name).last_ran == night] == ["monitor"]


class TestCatchUp:
    def test_without_a_scheduler_the_end_of_a_session_runs_what_is_due(self, paths, transcript):
        choose.install(paths, Path(sys.executable), "hooks")
        all_ran(paths, but="watch")
        done = hippo("catch-up", "--jobs-only")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert read(paths, "watch").counts["learned"] == 1

    def test_where_the_user_wants_none_it_runs_nothing(self, paths, transcript):
        choose.remove(paths, stay_off=True)
        hippo("catch-up", "--jobs-only")
        assert not any(read(paths, job.name) for job in JOBS)

    def test_a_child_of_ours_runs_no_job(self, paths, transcript):
        choose.install(paths, Path(sys.executable), "hooks")
        for command in (["catch-up", "--jobs-only"], ["schedule", "run", "watch"], *(job.command for job in JOBS)):
            done = hippo(*command, HIPPO_CHILD="1")
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert not paths.store.exists() and not paths.run.exists()

    @pytest.mark.parametrize(
        "hook, scheduler, minutes, runs",
        [
            ("--jobs-only", "hooks", 5, True),
            ("--archive-only", "hooks", 5, True),
            ("--session=another", "hooks", 5, True),
            ("--archive-only", "cron", 5, False),
            ("--archive-only", "cron", 65, True),
            ("--archive-only", "off", 65, False),
            ("--archive-only", None, 65, False),
        ],
    )
    def test_hooks_run_what_is_due_and_beside_a_scheduler_only_what_it_left(
        self, paths, transcript, monkeypatch, hook, scheduler, minutes, runs
    ):
        """All jobs ran a minute before the backstop's time; a session begins, pauses or ends so long after that."""
        planned = 1_773_146_820.0  # 10 March 2026, 12:47 UTC
        monkeypatch.setenv("TZ", "UTC")
        monkeypatch.setenv("HIPPO_NOW", str(planned - 60))
        all_ran(paths)
        if scheduler:
            paths.schedule_record.write_text(json.dumps({"with": scheduler, "prefix": "x"}), encoding="utf-8")
        now = planned + minutes * 60
        monkeypatch.setenv("HIPPO_NOW", str(now))
        for job in ("watch", "monitor"):
            beat(paths, job, worked=False, counts={}, error=None, result="ok")
        assert hippo("catch-up", hook).returncode == 0
        ran = [job.name for job in JOBS if read(paths, job.name).last_ran == now]
        assert ran == (["watch", "backstop", "monitor"] if runs else ["watch", "monitor"])

    def test_what_a_turn_s_end_starts_loads_no_model_whatever_it_finds_to_do(self, paths, transcript):
        """A session that ended while a pass kept its own catch-up out is learned from all the same."""
        config.save(paths, embedder="local")

        def loaded(option: str) -> set[str]:
            command = [sys.executable, "-X", "importtime", "-m", "hippo_core.cli.main", "catch-up", option]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
            modules = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines()}
            return modules & {"numpy", "onnxruntime", "tokenizers", "hippo_core.ingest.run"}

        assert loaded("--archive-only") == {"hippo_core.ingest.run"} and read(paths, "catch-up").counts["messages"] == 1
        note_over(paths, SESSION)
        assert loaded("--archive-only") == {"hippo_core.ingest.run"} and read(paths, "catch-up").counts["learned"] == 1
        assert {"numpy", "onnxruntime"} <= loaded("--session=another"), "the memory has no vectors yet"

    def test_its_own_pass_has_a_heartbeat_of_its_own(self, paths, transcript):
        hippo("catch-up", "--archive-only")
        assert read(paths, "catch-up").counts["messages"] == 1 and read(paths, "watch") is None


class TestWatch:
    def test_the_backstop_does_not_wait_for_a_session_to_rest(self, paths, isolated):
        said = user("We decided on SQLite because it needs no server.", 1, timestamp="2099-01-01T00:00:00.000Z")
        write(isolated / ".claude" / "projects" / "shop" / f"{SESSION}.jsonl", said)
        assert hippo("watch", "--once").returncode == 0
        assert read(paths, "watch").counts["waiting"] == 1
        assert hippo("watch", "--once", "--backstop").returncode == 0
        assert read(paths, "backstop").counts["learned"] == 1
        with Store.open(paths.store, readonly=True) as store:
            assert store.memories.count_active() == 1

    def test_the_backstop_notices_a_file_rewritten_to_the_same_size_and_time(self, paths, transcript):
        write(transcript, user("Good morning.", 1, timestamp=OLD))
        hippo("watch", "--once")
        stat = transcript.stat()
        transcript.write_bytes(transcript.read_bytes().replace(b"morning", b"evening"))
        os.utime(transcript, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with Store.open(paths.store) as store:  # which then knows as little as where the system tells no more
            store._db.execute("UPDATE ingest_source SET identity = NULL")
        hippo("watch", "--once")
        assert read(paths, "watch").counts["messages"] == 0
        hippo("watch", "--once", "--backstop")
        assert read(paths, "backstop").counts["messages"] == 1

    def test_after_a_watch_another_opens_no_transcript_and_a_backstop_loads_no_model_either(self, paths, transcript):
        write(transcript, user("Good morning.", 1, timestamp=OLD))
        config.save(paths, embedder="local")
        hippo("watch", "--once")
        heavy = ("numpy", "onnxruntime", "tokenizers", "mcp", "openai")
        code = (
            "import sys; from hippo_core import paths; from hippo_core.schedule.watch import watch\n"
            "opened = []\n"
            "sys.addaudithook(lambda event, what: event == 'open' and opened.append(str(what[0])))\n"
            "watch(paths.current()); print([name for name in opened if name.endswith('.jsonl')])\n"
            "watch(paths.current(), backstop=True); print(len([name for name in opened if name.endswith('.jsonl')]))\n"
            f"print([name for name in {heavy} if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8")
        assert done.stdout.splitlines() == ["[]", "1", "[]"], done.stderr
        assert read(paths, "watch").last_worked and read(paths, "backstop").last_worked is None

    @pytest.mark.skipif(os.name == "nt", reason="links need a right there")
    def test_what_was_set_aside_is_tried_again_on_request(self, paths, transcript):
        transcript.with_name("broken.jsonl").symlink_to(transcript.with_name("nowhere.jsonl"))

        def failed_and_set_aside(*command: str) -> tuple[int, int]:
            report = json.loads(hippo(*command, "--json").stdout)
            return len(report["failed"]), report["set_aside"]

        assert [failed_and_set_aside("watch", "--once") for _ in range(4)] == [(1, 0)] * 3 + [(0, 1)]
        assert failed_and_set_aside("watch", "--once", "--retry") == (1, 0)
        assert failed_and_set_aside("watch", "--once") == failed_and_set_aside("ingest") == (0, 1)
        assert failed_and_set_aside("ingest", "--retry") == (1, 0)

    def test_every_client_folder_that_the_plugin_is_registered_in_is_read(self, paths, isolated):
        Record(paths).put(clients={str(isolated / "work"): {}, str(isolated / ".claude"): {}})
        assert roots(paths) == [isolated / ".claude" / "projects", isolated / "work" / "projects"]

    def test_a_failure_is_in_the_heartbeat_and_said_in_one_line(self, paths, transcript):
        paths.store.write_bytes(b"no database at all" * 100)
        done = hippo("watch", "--once")
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
        assert read(paths, "watch").result == "failed" and "damaged" in read(paths, "watch").error
        done = hippo("schedule", "run", "watch")
        assert done.returncode == 1 and done.stderr.startswith("watch failed: ") and "damaged" in done.stderr
        all_ran(paths, but="watch")
        done = hippo("schedule", "run", "--scheduled", "watch")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


class TestScreen:
    def test_show_tells_both_times_and_who_starts_the_jobs(self, paths, transcript):
        choose.install(paths, Path(sys.executable), "hooks")
        hippo("schedule", "run", "watch")
        rows = hippo("schedule", "show").stdout.splitlines()
        assert "the client's hooks" in rows[0] and len(rows) == 7
        watch = next(row for row in rows if row.strip().startswith("watch"))
        assert watch.count("just now") == 2 and "1 memory learned" in watch
        assert next(row for row in rows if row.strip().startswith("dream")).count("never") == 2

    def test_show_says_in_words_how_each_went(self, paths):
        for job, error, result in (("watch", "the disk is full", "failed"), ("dream", None, "busy"),
                                   ("snapshot", None, "no git on this machine")):  # fmt: skip
            beat(paths, job, worked=False, counts={}, error=error, result=result)
        rows = hippo("schedule", "show").stdout.splitlines()
        said = {row.split()[0]: row for row in rows[2:]}
        assert "failed: the disk is full" in said["watch"] and "another process was at it" in said["dream"]
        assert "no git on this machine" in said["snapshot"]

    def test_show_json_is_nothing_but_json(self, paths, transcript):
        shown = json.loads(hippo("schedule", "show", "--json").stdout)
        assert shown["with"] is None and [job["name"] for job in shown["jobs"]] == [job.name for job in JOBS]
        assert all(job["due"] and not job["registered"] and job["beat"] is None for job in shown["jobs"])
        choose.install(paths, Path(sys.executable), "hooks")
        all_ran(paths)
        shown = json.loads(hippo("schedule", "show", "--json").stdout)
        assert all(not job["due"] and job["registered"] and job["beat"]["result"] == "ok" for job in shown["jobs"])

    def test_run_runs_what_is_due_and_says_what_came_of_it(self, paths, transcript):
        all_ran(paths, but="watch")
        with one_at_a_time(paths, "job-watch"):
            assert hippo("schedule", "run", "watch").stdout == "watch is at work in another process.\n"
        said = "watch: 1 transcript read, 1 message archived, 1 memory learned\n"
        assert [hippo("schedule", "run").stdout for _ in range(2)] == [said, "No job is due.\n"]

    def test_remove_then_install(self, paths):
        assert "5 jobs registered with the client's hooks" in hippo("schedule", "install").stdout
        assert "To register them again: hippo schedule install" in hippo("schedule", "remove").stdout
        shown = hippo("schedule", "show").stdout
        assert "nobody" in shown and shown.count("(not registered)") == len(JOBS)
        assert hippo("schedule", "remove").stdout == "No jobs were registered.\n"

    def test_an_unknown_job_is_refused_in_one_go(self, paths):
        done = hippo("schedule", "run", "sleep")
        assert done.returncode == 2 and "watch" in done.stderr

    def test_a_heartbeat_from_the_future_is_called_that(self, paths, monkeypatch):
        monkeypatch.setenv("HIPPO_NOW", str(clock.now() + 86_400))
        all_ran(paths)
        monkeypatch.delenv("HIPPO_NOW")
        assert hippo("schedule", "show").stdout.count("in the future") == len(JOBS)
