"""Strange clocks, time zones, homes and paths: every command ends in a plain line, and nothing is lost."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hardship import ROOT, read_only, session_lines
from transcript_files import SESSION

from hippo_core.errors import UsageError
from hippo_core.paths import data_home, default_home, write_atomic
from hippo_core.store import Store

# Several commands in one process, as a start of Python for each would be most of these tests' time.
_COMMANDS = """
import json, sys
from hippo_core.cli.main import main

for command in json.loads(sys.argv[1]):
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as end:
        if end.code:
            print("failed:", command, file=sys.stderr)
            raise
"""


def python(*arguments, user=None, **changes):
    """Run with the test's environment and these changes (None: unset). It may fail, but without a trace."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = str(value)
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, encoding="utf-8",
        env=environment, cwd="/" if os.name == "posix" else None, user=user,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "unforeseen" not in done.stderr, done.stderr
    return done


def hippo(*arguments, **more):
    return python("-m", "hippo_core.cli.main", *arguments, **more)


def test_a_file_that_cannot_be_written_is_named_and_not_the_one_beside_it(tmp_path):
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(OSError) as refused:
        write_atomic(tmp_path / "settings.json", b"{}")
    assert refused.value.filename == str(tmp_path / "settings.json") and refused.value.filename2 is None
    assert "->" not in str(refused.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.json"]


def test_threads_that_write_the_same_file_at_once_leave_it_whole(tmp_path):
    data = [bytes([letter]) * 50_000 for letter in b"abcdefgh"]
    with ThreadPoolExecutor(len(data)) as threads:
        list(threads.map(lambda one: [write_atomic(tmp_path / "rules.json", one) for _ in range(50)], data))
    assert (tmp_path / "rules.json").read_bytes() in data
    assert [entry.name for entry in tmp_path.iterdir()] == ["rules.json"]


@pytest.fixture
def root(isolated):
    folder = isolated / "projects"
    folder.mkdir()
    (folder / f"{SESSION}.jsonl").write_bytes(session_lines(SESSION, 6))
    return folder


def ingest(root, **changes):
    return hippo("ingest", "--now", "--no-embed", "--from", str(root), **changes)


def all_day(root, home, **changes):
    """What a day asks of it; returns the number of archived messages."""
    commands = [
        ["ingest", "--now", "--no-embed", "--from", str(root)], ["status"], ["dream"], ["recall", "which", "library"],
        ["archive", "worker"], ["list", "--all"], ["undo", "--list"],
    ]  # fmt: skip
    done = python("-c", _COMMANDS, json.dumps(commands), HIPPO_HOME=home, **changes)
    assert done.returncode == 0, done.stderr
    with Store.open(Path(home) / "memory.db", readonly=True) as store:
        return store.archive.counts()[0]


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "UTC-8", "", "America/St_Johns", "No/Such_Zone", ":"])
def test_time_zones(paths, root, zone):
    """Half past midnight at UTC+8 is still the day before at UTC."""
    changes = {"TZ": zone, "HIPPO_NOW": "1799944200"}
    assert all_day(root, paths.home, **changes) == 12
    with Store.open(paths.store, readonly=True) as store:
        assert store.archive.span()[0] == pytest.approx(1_777_593_600)  # 2026-05-01T00:00:00Z, wherever this runs


@pytest.mark.parametrize("now", ["0", "1", "946684800", "32503680000", "253402300000"])
def test_clocks_that_are_wrong_by_years(paths, root, now):
    assert all_day(root, paths.home, HIPPO_NOW=now) == 12
    assert all_day(root, paths.home) == 12, "and the clock is put right again"
    with Store.open(paths.store, readonly=True) as store:
        memories = store.memories.select(status=None)
        assert memories and all(memory.confirmed_at < 1.8e9 for memory in memories), "the message's clock counts"


def test_a_clock_put_back_between_two_passes_reads_what_is_new(paths, root):
    ingest(root, HIPPO_NOW="1900000000")
    file = root / f"{SESSION}.jsonl"
    file.write_bytes(file.read_bytes() + session_lines(SESSION, 2, begin=18))
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert all_day(root, paths.home, HIPPO_NOW="1000000000") == 16


@pytest.mark.parametrize(
    "name", ["with two  spaces", "ünïcödé 部署 🙂", 'quote\'s "and" $dollar `tick`', "-dash", "a;b&c"]
)
def test_any_path(isolated, name):
    if os.name == "nt" and '"' in name:
        pytest.skip("Windows allows no such name")
    home, root = isolated / name / "data", isolated / name / "client" / "projects" / name
    root.mkdir(parents=True)
    (root / f"{SESSION}.jsonl").write_bytes(session_lines(SESSION, 6, place=name.replace('"', "")))
    places = {"HIPPO_HOME": home, "CLAUDE_CONFIG_DIR": isolated / name / "client"}
    assert all_day(root, home, CLAUDE_CONFIG_DIR=places["CLAUDE_CONFIG_DIR"]) == 12
    checks = json.loads(hippo("doctor", "--json", **places).stdout)["checks"]
    assert {check["check"] for check in checks if not check["ok"]} <= {"plugin", "scheduler", "meaning", "jobs"}


@pytest.mark.skipif(os.name != "posix", reason="HOME is a POSIX matter")
def test_without_a_home(paths, root):
    assert all_day(root, paths.home, HOME=None, CLAUDE_CONFIG_DIR=None) == 12
    hippo("doctor", HOME=None, CLAUDE_CONFIG_DIR=None)
    assert ingest(root, HOME="", CLAUDE_CONFIG_DIR=None).returncode == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="becoming a user without an account needs root")
def test_a_user_without_an_account_and_without_a_home():
    try:
        subprocess.run([sys.executable, "-c", ""], user=54_321, check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this interpreter is not for other users")
    for command in (["status"], ["recall", "x"], ["doctor"], ["ingest"], ["dream"]):
        done = hippo(*command, user=54_321, HOME=None, HIPPO_HOME=None, CLAUDE_CONFIG_DIR=None, XDG_DATA_HOME=None)
        assert done.returncode and done.stderr.count("\n") <= 1, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="HOME is a POSIX matter")
def test_where_nothing_names_a_home_no_folder_does_and_a_line_says_what_to_set(monkeypatch):
    import pwd

    for name in ("HOME", "HIPPO_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # no such user
    for place in (data_home, default_home):
        with pytest.raises(UsageError, match="Set HIPPO_HOME"):
            place()


@pytest.mark.skipif(os.name != "posix", reason="bytes in names are a POSIX matter")
def test_a_data_folder_whose_name_is_no_text_is_refused_in_a_line(isolated):
    home = os.fsdecode(os.fsencode(isolated) + b"/\xff")
    for command in (["ingest"], ["status"], ["catch-up"]):
        done = hippo(*command, HIPPO_HOME=home)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Set HIPPO_HOME" in done.stderr
    assert not os.path.exists(home)


@pytest.mark.parametrize("command", [
    ["ingest"], ["remember", "x"], ["dream"], ["recall", "x"], ["status"], ["doctor"], ["catch-up"],
])  # fmt: skip
def test_a_data_folder_that_cannot_be_made(isolated, command):
    (isolated / "file").write_bytes(b"")
    done = hippo(*command, HIPPO_HOME=isolated / "file" / "data")
    assert done.stderr.count("\n") <= 1 and (done.returncode == 0) is (command == ["catch-up"])


@pytest.fixture
def frozen(isolated, root):
    """A data folder at rest, with a session in it, that nobody can write in."""
    home = isolated / "frozen"
    ingest(root, HIPPO_HOME=home)
    with Store.open(home / "memory.db") as store:
        store.forgetting.truncate_log()
    with read_only(home):
        yield home


def test_a_read_only_home_still_answers(frozen, root):
    """A store on a read-only medium: reading commands work, writing ones say in a line that they cannot."""
    commands = [["recall", "which", "library"], ["archive", "worker"], ["status"], ["list", "--all"]]
    done = python("-c", _COMMANDS, json.dumps(commands), HIPPO_HOME=frozen)
    assert done.returncode == 0 and "worker of shop" in done.stdout, done.stderr
    for command in (["remember", "x is y"], ["dream"], ["ingest", "--from", str(root)]):
        done = hippo(*command, HIPPO_HOME=frozen)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "frozen" in done.stderr, done.stderr
    assert hippo("catch-up", HIPPO_HOME=frozen).stderr == ""


def test_jobs_in_a_read_only_home_fail_in_one_line_and_the_next_run_makes_up_for_it(isolated, root):
    home, places = isolated / "frozen", {"CLAUDE_CONFIG_DIR": root.parent, "HIPPO_HOME": isolated / "frozen"}
    assert hippo("ingest", "--now", "--no-embed", **places).returncode == 0
    file = root / f"{SESSION}.jsonl"
    file.write_bytes(file.read_bytes() + session_lines(SESSION, 2, begin=18))
    with read_only(home):
        commands = (
            ["watch", "--once"], ["watch", "--once", "--backstop"], ["monitor"], ["snapshot", "take"],
            ["schedule", "run"], ["schedule", "run", "watch"], ["schedule", "install", "--with", "hooks"],
        )  # fmt: skip
        for command in commands:
            done = hippo(*command, **places)
            assert done.returncode == 1 and done.stdout == "", (command, done.stdout)
            assert done.stderr.count("\n") == 1 and "frozen" in done.stderr, (command, done.stderr)
        for command in (["schedule", "run", "--scheduled", "watch"], ["schedule", "run", "--scheduled"]):
            done = hippo(*command, **places)
            assert (done.returncode, done.stdout, done.stderr) == (1, "", ""), command
        reading = [["monitor", "show"], ["schedule", "show"], ["snapshot", "list"]]
        assert python("-c", _COMMANDS, json.dumps(reading), **places).returncode == 0
    assert hippo("watch", "--once", **places).returncode == 0
    with Store.open(home / "memory.db", readonly=True) as store:
        assert store.archive.counts()[0] == 16


def test_the_doctor_says_that_a_read_only_store_answers_and_takes_nothing_new(frozen):
    done = hippo("doctor", "--fix", HIPPO_HOME=frozen)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("wrong  store")]
    assert "12 messages of 1 session" in line and "Searches work, nothing new is stored" in line
    assert "ingest" not in line and "snapshot" not in line, "there is nothing to make anew"
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("not mended  scheduler")]
    assert line.endswith(f"{frozen / 'schedule.json'}: Read-only file system") or "Permission denied" in line
