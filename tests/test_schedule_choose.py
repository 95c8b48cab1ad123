"""Which scheduler is chosen, and what it leaves behind."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from scheduler_programs import OTHERS, Programs, only

from hippo_core.errors import ScheduleError, UsageError
from hippo_core.schedule import choose, cron, launchd, scheduler, systemd, windows
from hippo_core.schedule.jobs import JOBS
from hippo_core.schedule.scheduler import target_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are scripts with a shebang")
PYTHON = Path(sys.executable)


@pytest.fixture
def programs(tmp_path, monkeypatch) -> Programs:
    return only(tmp_path, monkeypatch)


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")


def everything_below(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


class TestChoice:
    @pytest.mark.parametrize(
        "there, expected",
        [([], "hooks"), (["crontab"], "cron"), (["systemctl"], "systemd"), (["crontab", "systemctl"], "systemd")],
    )
    def test_the_first_that_works(self, programs, linux, paths, there, expected):
        for name in there:
            programs.add(name)
        done = choose.install(paths, PYTHON)
        assert (done.scheduler.name, done.jobs, choose.chosen(paths)) == (expected, 5, expected)
        assert {reason.split(":")[0] for reason in done.passed_over} <= {"systemd", "cron"}
        assert choose.registered(paths) == [job.name for job in JOBS]

    def test_one_that_is_there_but_refuses_is_passed_over_and_leaves_nothing(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        programs.refuse()
        before = everything_below(isolated)
        done = choose.install(paths, PYTHON)
        assert done.scheduler.name == "hooks"
        assert any("refused: no bus" in reason for reason in done.passed_over)
        assert everything_below(isolated).keys() - before.keys() == {"hippo data", "hippo data/schedule.json"}

    def test_systemd_that_ignores_what_it_is_asked_is_passed_over(self, programs, linux, paths):
        """As systemctl does in a chroot, with success."""
        program = programs.folder / "systemctl"
        program.write_text("#!/bin/sh\necho \"Running in chroot, ignoring command '$2'\" >&2\n", encoding="utf-8")
        program.chmod(0o755)
        done = choose.install(paths, PYTHON)
        assert done.scheduler.name == "hooks" and "Running in chroot" in done.passed_over[0]

    def test_one_that_does_not_answer_is_not_waited_for(self, programs, linux, paths, monkeypatch):
        program = programs.folder / "systemctl"
        program.write_text("#!/bin/sh\nexec /bin/sleep 60\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setattr(scheduler, "_PATIENCE", 0.5)
        done = choose.install(paths, PYTHON)
        assert done.scheduler.name == "hooks" and "timed out" in done.passed_over[0]

    def test_one_that_cannot_be_run_is_passed_over(self, programs, linux, paths):
        (programs.folder / "systemctl").write_bytes(b"\x7fELF of another machine")
        (programs.folder / "systemctl").chmod(0o755)
        done = choose.install(paths, PYTHON)
        assert done.scheduler.name == "hooks" and "Exec format error" in done.passed_over[0]

    def test_cron_without_its_daemon_does_not_work(self, programs, linux, paths, monkeypatch):
        programs.add("crontab")
        monkeypatch.setattr(cron, "_daemon_runs", lambda: False)
        assert choose.install(paths, PYTHON).scheduler.name == "hooks"
        assert not programs.crontab.exists()

    def test_the_users_choice_holds_or_fails_with_its_reason(self, programs, linux, paths):
        for name in ("systemctl", "crontab", "launchctl"):
            programs.add(name)
        assert choose.install(paths, PYTHON, "cron").scheduler.name == "cron"
        with pytest.raises(ScheduleError, match="there is no launchd here"):
            choose.install(paths, PYTHON, "launchd")
        assert choose.registered(paths) == [job.name for job in JOBS], "what worked before still does"
        with pytest.raises(UsageError, match="systemd, launchd, windows, cron, hooks"):
            choose.install(paths, PYTHON, "fcron")

    def test_the_environment_may_choose(self, programs, linux, paths, monkeypatch):
        programs.add("crontab")
        monkeypatch.setenv("HIPPO_SCHEDULER", "hooks")
        assert choose.install(paths, PYTHON).scheduler.name == "hooks"

    def test_a_change_of_mind_leaves_the_jobs_in_one_place(self, programs, linux, paths, isolated):
        programs.add("crontab")
        programs.add("systemctl")
        programs.crontab.write_bytes(OTHERS)
        choose.install(paths, PYTHON, "cron")
        choose.install(paths, PYTHON, "systemd")
        assert programs.crontab.read_bytes() == OTHERS
        choose.install(paths, PYTHON, "cron")
        assert not (isolated / ".config").exists()

    def test_jobs_that_cannot_be_taken_out_of_one_place_are_not_put_into_another(self, programs, linux, paths):
        programs.add("crontab")
        programs.add("systemctl")
        programs.crontab.write_bytes(OTHERS)
        choose.install(paths, PYTHON, "cron")
        programs.refuse()
        with pytest.raises(ScheduleError, match="the disk is full"):
            choose.install(paths, PYTHON, "systemd")
        assert choose.chosen(paths) == "cron" and choose.registered(paths) == [job.name for job in JOBS]

    def test_a_removal_by_the_user_is_remembered(self, programs, linux, paths):
        programs.add("crontab")
        choose.install(paths, PYTHON)
        assert choose.remove(paths, stay_off=True) == []
        assert choose.switched_off(paths) and choose.chosen(paths) is None and choose.registered(paths) == []
        choose.install(paths, PYTHON)
        assert not choose.switched_off(paths)

    @pytest.mark.parametrize(
        "damage", [b"", b"[]", b"{", b'{"with": 7, "prefix": "x"}', b'{"with": "x", "prefix": "y"}']
    )
    def test_a_damaged_record_is_no_obstacle(self, programs, linux, paths, damage):
        paths.home.mkdir(parents=True)
        paths.schedule_record.write_bytes(damage)
        assert choose.registered(paths) == [] and choose.chosen(paths) is None
        assert choose.remove(paths) == []
        assert choose.install(paths, PYTHON).scheduler.name == "hooks"


@pytest.mark.parametrize(
    "program, system, name",
    [("systemctl", "linux", "systemd"), ("launchctl", "darwin", "launchd"), ("crontab", "linux", "cron")],
)
def test_a_job_that_somebody_took_out_is_missed(programs, paths, monkeypatch, program, system, name):
    monkeypatch.setattr(sys, "platform", system)
    programs.add(program)
    choose.install(paths, PYTHON, name)
    assert choose.registered(paths) == [job.name for job in JOBS]
    prefix = target_of(paths.home, PYTHON).prefix
    if program == "crontab":
        rows = programs.crontab.read_bytes().splitlines(keepends=True)
        programs.crontab.write_bytes(b"".join(b"#" * row.endswith(b" dream\n") + row for row in rows))
    else:
        programs.switch_off(f"{prefix}-dream")
    assert choose.registered(paths) == ["watch", "backstop", "snapshot", "monitor"]


class TestSystemd:
    def test_it_is_told_of_new_files_and_a_timer_that_runs_begins_anew_with_its_new_times(self, programs, linux, paths):
        programs.add("systemctl")
        choose.install(paths, PYTHON)
        prefix = target_of(paths.home, PYTHON).prefix
        timers = " ".join(f"{prefix}-{job.name}.timer" for job in JOBS)
        told = [call.removeprefix("--user ") for call in programs.calls]
        assert told[-3:] == ["daemon-reload", f"enable {timers}", f"restart {timers}"]
        choose.remove(paths)
        assert programs.calls[-1] == "--user daemon-reload"

    @pytest.mark.parametrize("absolute", [True, False])
    def test_units_are_where_the_user_keeps_settings(self, programs, linux, paths, isolated, monkeypatch, absolute):
        """A relative folder is none: systemd reads it no more than we do."""
        own = isolated / "my settings"
        monkeypatch.setenv("XDG_CONFIG_HOME", str(own) if absolute else "settings")
        programs.add("systemctl")
        choose.install(paths, PYTHON)
        units = (own if absolute else isolated / ".config") / "systemd" / "user"
        assert len(list(units.glob("hippocampus-*.timer"))) == 5
        choose.remove(paths)
        assert not own.exists() and not (isolated / ".config").exists()

    def test_what_is_registered_is_removed_without_a_trace(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        (isolated / ".config").mkdir()
        (isolated / ".local" / "share").mkdir(parents=True)
        before = everything_below(isolated)
        for _ in range(2):  # an upgrade registers again
            choose.install(paths, PYTHON)
        folder = isolated / ".config" / "systemd" / "user"
        assert len(list(folder.glob("hippocampus-*.timer"))) == len(list(folder.glob("hippocampus-*.service"))) == 5
        assert "enable" in " ".join(programs.calls)
        stamps = isolated / ".local" / "share" / "systemd" / "timers"
        stamps.mkdir(parents=True)
        for timer in folder.glob("hippocampus-*.timer"):  # as systemd does, and never takes away
            (stamps / f"stamp-{timer.name}").touch()
        choose.remove(paths)
        paths.home.rmdir()
        assert everything_below(isolated) == before
        assert any("disable --now" in call for call in programs.calls)

    def test_one_that_was_asked_for_and_refuses_leaves_nothing_of_itself(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        programs.refuse()
        with pytest.raises(ScheduleError, match="refused: no bus"):
            choose.install(paths, PYTHON, "systemd")
        assert not (isolated / ".config").exists() and choose.chosen(paths) is None

    def test_where_its_units_cannot_be_written_the_next_one_is_taken(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        (isolated / ".config").write_text("a file in the folder's place", encoding="utf-8")
        done = choose.install(paths, PYTHON)
        assert done.scheduler.name == "hooks" and "systemd: " in done.passed_over[0]

    def test_units_that_cannot_be_removed_are_said_with_what_to_type(self, programs, linux, paths, monkeypatch):
        programs.add("systemctl")
        choose.install(paths, PYTHON)
        refusal = PermissionError(13, "Permission denied")
        monkeypatch.setattr(systemd.Path, "unlink", lambda self: (_ for _ in ()).throw(refusal))
        (note,) = choose.remove(paths)
        assert "Permission denied" in note and "systemctl --user disable --now" in note
        assert choose.chosen(paths) == "systemd"

    def test_it_is_removed_where_systemd_is_gone(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        choose.install(paths, PYTHON)
        (programs.folder / "systemctl").unlink()
        assert choose.remove(paths) == []
        assert not (isolated / ".config").exists()

    def test_the_users_own_units_stay(self, programs, linux, paths, isolated):
        programs.add("systemctl")
        own = isolated / ".config" / "systemd" / "user" / "hippocampus.timer"
        own.parent.mkdir(parents=True)
        own.write_text("mine", encoding="utf-8")
        choose.install(paths, PYTHON)
        choose.remove(paths)
        assert everything_below(own.parent) == {"hippocampus.timer": b"mine"}


def test_launch_agents_are_loaded_and_removed_without_a_trace(programs, paths, isolated, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    programs.add("launchctl")
    done = choose.install(paths, PYTHON)
    agents = isolated / "Library" / "LaunchAgents"
    assert done.scheduler.name == "launchd" and len(list(agents.glob("*.plist"))) == 5
    assert sum(call.startswith("bootstrap gui/") for call in programs.calls) == 5
    verbs = [call.split()[0] for call in programs.calls if call.split()[0] != "print"]
    assert verbs == ["bootout", "bootstrap"] * 5, "one that is loaded would keep its old times"
    choose.remove(paths)
    assert not (isolated / "Library").exists()
    assert sum(call.startswith("bootout gui/") for call in programs.calls) == 10


def test_launchd_without_a_session_of_the_user_is_passed_over(programs, paths, monkeypatch):
    """As over ssh, while nobody sits at the Mac."""
    monkeypatch.setattr(sys, "platform", "darwin")
    programs.add("launchctl")
    programs.switch_off(str(os.getuid()))
    done = choose.install(paths, PYTHON)
    said = [reason.partition(":")[0] for reason in done.passed_over]
    assert (done.scheduler.name, said) == ("hooks", ["launchd", "cron"]), "systemd is no Mac's"
    assert "could not find service" in done.passed_over[0]


def test_tasks_of_windows_are_registered_missed_and_removed(programs, paths, monkeypatch):
    with monkeypatch.context() as anywhere:  # the rest of the library would take it for Windows, too
        anywhere.setattr(windows, "sys", SimpleNamespace(platform="win32"))
        assert "no Windows Task Scheduler" in windows.TaskScheduler().problem()
        programs.add("schtasks")
        choose.install(paths, PYTHON, "windows")
        choose.install(paths, PYTHON, "windows")  # an upgrade registers again
    target = target_of(paths.home, PYTHON)
    for job in JOBS:
        assert ElementTree.parse(programs.tasks / target.name(job)).getroot().tag.endswith("}Task")
    assert choose.registered(paths) == [job.name for job in JOBS]
    (programs.tasks / f"{target.prefix}-dream").unlink()
    (programs.tasks / "somebody's own").touch()
    assert choose.registered(paths) == ["watch", "backstop", "snapshot", "monitor"]
    assert choose.remove(paths) == [] and choose.registered(paths) == []
    assert [file.name for file in programs.tasks.iterdir()] == ["somebody's own"]


def test_launchd_may_take_a_moment_to_clear_away_what_was_there_before(programs, paths, monkeypatch):
    """An upgrade while a job runs must not end with another scheduler."""
    monkeypatch.setattr(sys, "platform", "darwin")
    programs.add("launchctl")
    programs.drain()
    assert choose.install(paths, PYTHON).scheduler.name == "launchd"
    assert sum(call.startswith("bootstrap gui/") for call in programs.calls) == 6


def test_tasks_that_cannot_be_looked_for_are_not_taken_for_removed(programs, paths, monkeypatch):
    monkeypatch.setattr(windows.TaskScheduler, "system", sys.platform)
    programs.add("schtasks")
    choose.install(paths, PYTHON)
    (programs.folder / "schtasks").unlink()
    (note,) = choose.remove(paths)
    assert "By hand: schtasks /Delete" in note and choose.chosen(paths) == "windows"


def test_where_windows_takes_no_task_hooks_start_the_jobs(programs, paths, monkeypatch):
    monkeypatch.setattr(windows.TaskScheduler, "system", sys.platform)
    programs.add("schtasks")
    programs.refuse()
    done = choose.install(paths, PYTHON)
    assert done.scheduler.name == "hooks" and "Access is denied" in str(done.passed_over)


@pytest.mark.parametrize("asked", [one for one in choose.SCHEDULERS if one.name != "hooks"])
def test_what_a_user_is_told_to_type_names_every_job_and_its_files(asked, programs, isolated):
    said = asked.by_hand("hippocampus-1234", JOBS)
    if asked.name == "cron":
        assert "crontab -e" in said and "'# <<< hippocampus-1234'" in said
    else:
        assert all(f"hippocampus-1234-{job.name}" in said for job in JOBS)
    if asked.place and os.name == "posix":
        target = dataclasses.replace(target_of(isolated, PYTHON), prefix="hippocampus-1234")
        programs.add("systemctl"), programs.add("launchctl")
        asked.install(target, JOBS)
        subprocess.run(["/bin/sh", "-c", said], env={"PATH": f"{programs.path}:/bin:/usr/bin"}, check=True)
        assert not any("hippocampus" in name for name in everything_below(asked.place.parent))


@pytest.mark.parametrize(
    "process, runs",
    [
        ("/usr/sbin/cron\0-f\0", True),
        ("crond\0-n\0", True),
        ("/bin/busybox\0crond\0-f\0", True),
        ("busybox\0sh\0", False),
        ("vim\0cron\0", False),
        ("", False),
        (None, True),
    ],
)
def test_cron_is_taken_to_run_where_its_daemon_does_or_nobody_can_tell(tmp_path, monkeypatch, process, runs):
    """macOS has no /proc, and starts cron when there is a crontab. The kernel's own processes have no command."""
    if process is not None:
        (tmp_path / "7").mkdir()
        (tmp_path / "7" / "cmdline").write_text(process, encoding="utf-8")
    monkeypatch.setattr(cron, "Path", lambda _: tmp_path)
    assert cron._daemon_runs() is runs


def test_no_scheduler_module_needs_a_package():
    """The uninstaller removes the jobs with any Python, when the environment may be gone already."""
    code = (
        "import hippo_core.schedule.choose, sys; print([m for m in ('click', 'filelock', 'apsw') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONPATH": str(Path(choose.__file__).parents[2])},
    )
    assert done.stdout.strip() == "[]", done.stderr
    assert {systemd.SystemdTimers.name, launchd.LaunchAgents.name} <= set(choose.NAMES)
