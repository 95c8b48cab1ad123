"""What is written for each scheduler: whole, absolute, minimal, and taken by the programs and schemas that judge it."""

import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hippo_core.errors import ScheduleError
from hippo_core.paths import default_home
from hippo_core.schedule import cron, launchd, systemd, windows
from hippo_core.schedule.jobs import JOBS, job_named
from hippo_core.schedule.scheduler import LONGEST_RUN, Target, target_of

_AWKWARD = 'Gedächtnis 100% "of" mine\'s $HOME & a \\ b'


@pytest.fixture
def target(tmp_path) -> Target:
    """An installation in a folder whose name means something to every scheduler."""
    home = tmp_path / (_AWKWARD if os.name == "posix" else "Gedächtnis 100% of mine & co")
    python = home / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return target_of(home, python)


def test_two_installations_never_share_their_units(monkeypatch, tmp_path):
    """Two usual data folders, each under a HOME of its own, neither: a user has one crontab."""
    prefixes = set()
    for name in ("a", "b"):
        monkeypatch.setenv("HOME", str(tmp_path / name))
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / name))
        prefixes.add(target_of(default_home(), Path(sys.executable)).prefix)
    assert len(prefixes) == 2 and all(prefix.startswith("hippocampus-") for prefix in prefixes)


def test_a_job_starts_by_an_absolute_path_and_sees_no_folder_and_no_variable_of_the_user_s(target):
    assert target.command(job_named("watch"))[:3] == [str(target.python), "-I", "-m"] and target.python.is_absolute()


def test_a_path_with_a_line_break_is_refused(tmp_path):
    with pytest.raises(ScheduleError, match="control character"):
        target_of(tmp_path / "two\nlines", Path(sys.executable))


def test_a_job_gets_the_client_folder_that_was_named_at_its_registration(monkeypatch, tmp_path):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "cfg"))
    assert target_of(tmp_path, Path(sys.executable)).environment["CLAUDE_CONFIG_DIR"] == str(tmp_path / "cfg")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert set(target_of(tmp_path, Path(sys.executable)).environment) == {"HIPPO_HOME", "PATH"}


def test_a_job_finds_what_is_installed_for_all_and_nothing_of_the_terminal_it_was_registered_in(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    folders = target_of(tmp_path, Path(sys.executable)).environment["PATH"].split(os.pathsep)
    assert folders[:3] == ["/usr/local/bin", "/usr/bin", "/bin"] and str(tmp_path) not in folders


def _systemd_words(text: str) -> list[str]:
    """The words of a unit file's line: systemd.syntax(7) for quotes, systemd.unit(5) for specifiers."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [(re.sub(r"\\(.)", r"\1", quoted) or bare).replace("%%", "%") for quoted, bare in found]


class TestSystemd:
    def test_systemd_analyze_finds_no_fault(self, target, tmp_path):
        program = shutil.which("systemd-analyze")
        if program is None:
            pytest.skip("systemd-analyze is not installed here")
        folder = tmp_path / "units"
        folder.mkdir()
        files = []
        for job in JOBS:
            for name, text in systemd.units(target, job).items():
                (folder / name).write_text(text, encoding="utf-8")
                files.append(folder / name)
        done = subprocess.run(
            [program, "--user", "--man=no", "verify", *files],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "LC_ALL": "C.UTF-8"},
        )
        ours = [row for row in done.stderr.splitlines() if "hippocampus" in row]
        assert (done.returncode, ours) == (0, [])
        assert len(files) == 10

    @pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
    def test_a_timer_is_lenient_and_its_service_private_quiet_and_modest(self, target, job):
        service, timer = systemd.units(target, job).values()
        when = dict(row.split("=", 1) for row in timer.splitlines() if "=" in row)
        late = int(when["RandomizedDelaySec"]) + int(when["AccuracySec"])
        assert 0 < late < job.grace, "or another job's run would take it for missed"
        assert when["WantedBy"] == "timers.target"
        said = dict(row.split("=", 1) for row in service.splitlines() if "=" in row)
        assert said["UMask"] == "0077" and said["StandardInput"] == said["StandardOutput"] == "null"
        assert (said["Type"], said["Nice"], said["IOSchedulingClass"]) == ("oneshot", "10", "idle")
        assert int(said["TimeoutStartSec"]) > LONGEST_RUN, "or a job that hangs would be gone without a heartbeat"
        # Without its environment it does not start, instead of failing every hour.
        assert said["ConditionFileIsExecutable"].replace("%%", "%") == str(target.python)

    @pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
    def test_systemd_reads_back_the_command_and_environment_that_were_meant(self, target, job):
        service, _ = systemd.units(target, job).values()
        assert re.fullmatch("([^%]|%%)*", service)  # one alone would begin a specifier
        command = _systemd_words(re.search("^ExecStart=(.*)$", service, re.M)[1])
        assert all(re.fullmatch(r"([^$]|\$\$)*", word) for word in command)  # one alone would begin a variable
        assert [word.replace("$$", "$") for word in command] == ["/usr/bin/env", *target.command(job)]
        environment = [_systemd_words(found) for found in re.findall("^Environment=(.*)$", service, re.M)]
        assert environment == [[f"{name}={value}"] for name, value in target.environment.items()]


_PLIST_KEYS = {
    # launchd.plist(5), as far as it is used here
    "Label": str,
    "ProgramArguments": list,
    "EnvironmentVariables": dict,
    "StartCalendarInterval": list,
    "RunAtLoad": bool,
    "ProcessType": str,
    "LowPriorityIO": bool,
    "Nice": int,
    "Umask": int,
    "StandardInPath": str,
    "StandardOutPath": str,
    "StandardErrorPath": str,
}


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_launch_agent_parses_and_has_the_documented_keys(target, job):
    agent = plistlib.loads(plistlib.dumps(launchd.agent(target, job)))
    assert {key: type(value) for key, value in agent.items()} == _PLIST_KEYS
    assert agent["Label"] == f"{target.prefix}-{job.name}"
    assert agent["ProgramArguments"] == target.command(job) and agent["EnvironmentVariables"] == target.environment
    assert (agent["ProcessType"], agent["Nice"], agent["LowPriorityIO"]) == ("Background", 10, True)
    assert agent["Umask"] == 0o077 and not agent["RunAtLoad"]
    assert {agent[f"Standard{name}Path"] for name in ("In", "Out", "Error")} == {os.devnull}
    for moment in agent["StartCalendarInterval"]:
        assert set(moment) <= {"Minute", "Hour"} and 0 <= moment["Minute"] < 60 and 0 <= moment.get("Hour", 0) < 24


class TestTaskScheduler:
    """Against the elements and their order in Microsoft's Task Scheduler schema, as far as they are used here."""

    _SPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"
    _SCHEMA = {
        # element: its children in order, "?" for one that may be missing; or what its text may be
        "Task": ["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"],
        "RegistrationInfo": ["Description"],
        "Triggers": ["CalendarTrigger"],
        "CalendarTrigger": ["Enabled", "StartBoundary", "Repetition?", "ScheduleByDay"],
        "Repetition": ["Interval", "Duration", "StopAtDurationEnd"],
        "ScheduleByDay": ["DaysInterval"],
        "Principals": ["Principal"],
        "Principal": ["UserId?", "LogonType", "RunLevel"],
        "Settings": [
            "MultipleInstancesPolicy",
            "DisallowStartIfOnBatteries",
            "StopIfGoingOnBatteries",
            "StartWhenAvailable",
            "Enabled",
            "ExecutionTimeLimit",
            "Priority",
        ],
        "Actions": ["Exec"],
        "Exec": ["Command", "Arguments"],
        "Description": r".+",
        "StartBoundary": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
        "Interval": r"PT\d+M",
        "Duration": r"P1D",
        "DaysInterval": r"\d+",
        "UserId": r".+",
        "LogonType": r"InteractiveToken|S4U|Password|Group|ServiceAccount",
        "RunLevel": r"LeastPrivilege|HighestAvailable",
        "MultipleInstancesPolicy": r"Parallel|Queue|IgnoreNew|StopExisting",
        "ExecutionTimeLimit": r"PT\d+S",
        "Priority": r"[0-9]|10",
        "Command": r".+",
        "Arguments": r".+",
    }
    _BOOLEANS = (
        "Enabled",
        "StopAtDurationEnd",
        "DisallowStartIfOnBatteries",
        "StopIfGoingOnBatteries",
        "StartWhenAvailable",
    )

    def _check(self, element):
        assert element.tag.startswith(self._SPACE)
        name = element.tag[len(self._SPACE) :]
        allowed = r"true|false" if name in self._BOOLEANS else self._SCHEMA[name]
        if isinstance(allowed, str):
            assert len(element) == 0 and re.fullmatch(allowed, element.text), name
            return
        children = [child.tag[len(self._SPACE) :] for child in element]
        assert children == [child.rstrip("?") for child in allowed if child.rstrip("?") in children], name
        assert {child for child in allowed if not child.endswith("?")} <= set(children), name
        for child in element:
            self._check(child)

    @pytest.mark.parametrize("user", [{}, {"USERNAME": "ann & <co>", "USERDOMAIN": "HÄUSCHEN"}])
    @pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
    def test_a_task_is_what_the_schema_wants(self, target, job, user, monkeypatch):
        for name in ("USERNAME", "USERDOMAIN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in user.items():
            monkeypatch.setenv(name, value)
        task = ElementTree.fromstring(windows.task(target, job).encode("utf-16"))
        self._check(task)
        found = {element.tag[len(self._SPACE) :]: element.text for element in task.iter()}
        assert found["Command"] == str(target.python)
        assert "Hidden" not in found, "the user finds it in the list of tasks"
        assert (found["Priority"], found["RunLevel"]) == ("7", "LeastPrivilege")
        assert int(found["ExecutionTimeLimit"][2:-1]) > LONGEST_RUN, "or a job that hangs would leave no heartbeat"
        assert found["Arguments"].endswith(f"schedule run --scheduled {job.name}")
        assert found.get("UserId") == (f"{user['USERDOMAIN']}\\{user['USERNAME']}" if user else None)

    def test_an_account_of_no_domain_is_known_by_its_name_alone(self, target, monkeypatch):
        """In a session of SSH, Windows names the workgroup as the domain, by which nobody is found."""
        monkeypatch.setenv("USERNAME", "ann")
        monkeypatch.setenv("USERDOMAIN", "WORKGROUP")
        assert "<UserId>ann</UserId>" in windows.task(target, job_named("watch"))

    def test_no_console_flashes_up(self, target):
        target.python.with_name("pythonw.exe").touch()
        assert "pythonw.exe</Command>" in windows.task(target, job_named("monitor"))


@pytest.mark.skipif(os.name == "nt", reason="there is no cron on Windows")
@pytest.mark.parametrize("shell", [name for name in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(name)])
def test_a_line_of_the_crontab_runs_in_any_shell_as_it_was_meant(target, shell, tmp_path):
    spy = tmp_path / "spy"
    spy.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([sys.argv[1:], dict(os.environ)]))\n",
        encoding="utf-8",
    )
    spy.chmod(0o755)
    target.python.unlink()
    target.python.symlink_to(spy)
    _, _, command = cron.line(target, job_named("dream")).partition(" /usr/bin/env ")
    assert "%" not in command.replace("\\%", "")
    told = ("/usr/bin/env " + command).replace("\\%", "%")  # as cron hands it on
    done = subprocess.run(
        [shutil.which(shell), "-c", told], capture_output=True, env={"HOME": "/", "PATH": "/usr/bin:/bin"}
    )
    arguments, environment = json.loads(done.stdout)
    assert arguments == target.command(job_named("dream"))[1:]
    assert {name: environment[name] for name in target.environment} == target.environment
