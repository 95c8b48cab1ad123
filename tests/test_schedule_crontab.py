"""The user's crontab, byte for byte."""

import dataclasses
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scheduler_programs import OTHERS, Programs, only

from hippo_core.cli.schedule import schedule_command
from hippo_core.errors import ScheduleError
from hippo_core.heartbeat import beat
from hippo_core.ops.uninstall import uninstall
from hippo_core.record import Record
from hippo_core.schedule import choose, cron
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


@pytest.mark.parametrize("before", [None, b"", OTHERS, OTHERS.rstrip(b"\n"), b"\n\n", b"# only a remark\r\n"])
def test_after_removal_it_is_as_it_was_byte_for_byte(programs, linux, paths, before):
    programs.add("crontab")
    if before is not None:
        programs.crontab.write_bytes(before)
    for _ in range(2):  # an upgrade registers again
        choose.install(paths, PYTHON, "cron")
    there = programs.crontab.read_bytes()
    assert there.startswith(before or b"") and there.count(b"schedule run --scheduled") == 5
    choose.remove(paths)
    assert (programs.crontab.read_bytes() if programs.crontab.exists() else None) == before


@pytest.mark.parametrize("said", ["no crontab for ann", "crontab: can't open 'ann': No such file or directory"])
def test_that_there_is_none_yet_is_understood_from_any_program_and_no_other_complaint(monkeypatch, said):
    """The second is BusyBox's way to say it."""
    monkeypatch.setattr(cron, "ask", lambda command: (1, b"", said))
    assert cron.read_crontab() is None
    monkeypatch.setattr(cron, "ask", lambda command: (1, b"", "You (ann) are not allowed to use this program"))
    with pytest.raises(ScheduleError, match="not allowed"):
        cron.read_crontab()


def test_a_line_added_below_stays_a_line_of_its_own(programs, linux, paths):
    """Where the crontab had no end to its last line."""
    programs.add("crontab")
    programs.crontab.write_bytes(b"1 2 * * * /bin/true")
    choose.install(paths, PYTHON, "cron")
    with programs.crontab.open("ab") as file:
        file.write(b"9 9 * * * /bin/false\n")
    choose.remove(paths)
    assert programs.crontab.read_bytes() == b"1 2 * * * /bin/true\n9 9 * * * /bin/false\n"


def test_what_the_user_changed_meanwhile_stays(programs, linux, paths):
    programs.add("crontab")
    choose.install(paths, PYTHON, "cron")
    rows = programs.crontab.read_bytes().splitlines(keepends=True)
    mine = [b"1 2 * * * /bin/true\n", b"# between\n", b"9 9 * * * /bin/false\n"]
    programs.crontab.write_bytes(b"".join([mine[0], *rows[:3], mine[1], *rows[3:], mine[2]]))
    choose.remove(paths)
    assert programs.crontab.read_bytes() == b"".join(mine)


def test_half_a_block_is_removed_and_nothing_else(programs, linux, paths):
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    choose.install(paths, PYTHON, "cron")
    rows = programs.crontab.read_bytes().splitlines(keepends=True)
    programs.crontab.write_bytes(b"".join(rows[:-1]) + b"7 7 * * * /bin/mine\n")
    choose.install(paths, PYTHON, "cron")
    assert programs.crontab.read_bytes().count(b"schedule run --scheduled") == 5
    choose.remove(paths)
    assert programs.crontab.read_bytes() == OTHERS + b"7 7 * * * /bin/mine\n"


def test_line_ends_that_an_editor_changed_are_no_obstacle(programs, linux, paths):
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    choose.install(paths, PYTHON, "cron")
    programs.crontab.write_bytes(programs.crontab.read_bytes().replace(b"\n", b"\r\n"))
    choose.remove(paths)
    assert programs.crontab.read_bytes() == OTHERS.replace(b"\n", b"\r\n")


def test_two_installations_keep_their_own_blocks(programs, linux, paths, tmp_path):
    programs.add("crontab")
    other = type(paths)(tmp_path / "another")
    choose.install(paths, PYTHON, "cron")
    one = programs.crontab.read_bytes()
    choose.install(other, PYTHON, "cron")
    both = programs.crontab.read_bytes()
    choose.remove(other)
    assert programs.crontab.read_bytes() == one
    theirs = both.removeprefix(one)
    programs.crontab.write_bytes(one.rpartition(b"# <<<")[0] + theirs)  # the end of ours is lost
    choose.remove(paths)
    assert programs.crontab.read_bytes() == theirs


def test_jobs_that_an_earlier_version_named_otherwise_are_replaced(programs, linux, paths, monkeypatch):
    programs.add("crontab")
    with monkeypatch.context() as earlier:
        earlier.setattr(choose, "target_of", lambda *of: dataclasses.replace(target_of(*of), prefix="hippocampus"))
        choose.install(paths, PYTHON, "cron")
    assert b"# >>> hippocampus:" in programs.crontab.read_bytes()
    choose.install(paths, PYTHON, "cron")
    there = programs.crontab.read_bytes()
    assert b"# >>> hippocampus:" not in there and there.count(b"schedule run --scheduled") == 5


def test_a_crontab_that_cannot_be_written_is_said_and_the_old_one_stays(programs, linux, paths):
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    programs.refuse()
    with pytest.raises(ScheduleError, match="the disk is full"):
        choose.install(paths, PYTHON, "cron")
    assert programs.crontab.read_bytes() == OTHERS


def test_one_that_this_user_may_not_have_costs_nothing_that_is_registered(programs, linux, paths):
    programs.add("systemctl")
    choose.install(paths, PYTHON, "systemd")
    refusal = programs.folder / "crontab"
    refusal.write_text("#!/bin/sh\necho 'You (ann) are not allowed to use this program' >&2\nexit 1\n")
    refusal.chmod(0o755)
    with pytest.raises(ScheduleError, match="not allowed"):
        choose.install(paths, PYTHON, "cron")
    assert choose.chosen(paths) == "systemd" and choose.registered(paths) == [job.name for job in JOBS]


def test_how_the_jobs_went_is_shown_where_cron_cannot_be_asked(programs, linux, paths):
    programs.add("crontab")
    choose.install(paths, PYTHON, "cron")
    beat(paths, "watch", worked=True, counts={"messages": 3}, error=None, result="ok")
    (programs.folder / "crontab").unlink()
    shown = CliRunner().invoke(schedule_command, ["show"])
    assert shown.exit_code == 0 and "3 messages archived" in shown.output and "crontab" in shown.output


def test_the_commands_say_what_was_passed_over_and_what_is_still_there(programs, linux, paths):
    def said(*words):
        done = CliRunner().invoke(schedule_command, words)
        return f"{done.output}{done.exception or ''}"

    programs.add("systemctl")
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    programs.refuse()
    assert "the client's hooks" in (there := said("install"))
    assert "passed over  systemd: systemctl refused (refused: no bus)" in there and "cron: crontab refused" in there
    programs.relent()
    choose.install(paths, PYTHON, "cron")
    programs.refuse()
    assert "By hand: crontab -e" in said("remove") and choose.chosen(paths) == "cron"


def test_a_cron_that_is_gone_is_no_obstacle(programs, linux, paths):
    programs.add("crontab")
    choose.install(paths, PYTHON)
    (programs.folder / "crontab").unlink()
    assert choose.remove(paths) == [] and choose.chosen(paths) is None


def test_a_removal_that_fails_is_said_and_can_be_repeated(programs, linux, paths):
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    choose.install(paths, PYTHON, "cron")
    programs.refuse()
    (note,) = choose.remove(paths)
    assert "the disk is full" in note and choose.chosen(paths) == "cron"


def test_the_uninstaller_takes_the_jobs_out(programs, linux, paths, capsys, monkeypatch):
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    Record(paths).put(done={})
    choose.install(paths, PYTHON, "cron")
    paths.venv.mkdir()
    remove, startable = choose.remove, []
    monkeypatch.setattr(choose, "remove", lambda paths: startable.append(paths.venv.exists()) or remove(paths))
    assert uninstall(paths, purge=False) == 0
    assert programs.crontab.read_bytes() == OTHERS and choose.chosen(paths) is None
    assert startable == [True] and not paths.venv.exists(), "first of all, or a job starts in what is half removed"


@pytest.mark.parametrize("purge", [False, True])
def test_an_uninstaller_that_is_refused_names_the_lines_and_can_be_repeated(programs, linux, paths, capsys, purge):
    """`hippo`, which could say what to do, is gone by then."""
    programs.add("crontab")
    programs.crontab.write_bytes(OTHERS)
    Record(paths).put(done={})
    choose.install(paths, PYTHON, "cron")
    start, end = (programs.crontab.read_text(encoding="latin-1").splitlines()[at] for at in (-7, -1))
    programs.refuse()
    assert uninstall(paths, purge=purge) == 1
    said = capsys.readouterr().out
    assert f"crontab -e, and delete the lines from '{start}' to '{end}'" in said
    assert "hippo schedule -h" not in said and "Not ours" not in said
    programs.relent()
    assert uninstall(paths, purge=purge) == 0
    assert programs.crontab.read_bytes() == OTHERS and not paths.home.exists()


def test_a_crontab_that_somebody_took_away_is_no_obstacle(programs, linux, paths):
    programs.add("crontab")
    choose.install(paths, PYTHON, "cron")
    programs.crontab.unlink()
    assert choose.remove(paths) == [] and choose.chosen(paths) is None


@given(st.none() | st.binary(max_size=200).filter(lambda text: b">>>" not in text), st.binary(max_size=80))
def test_whatever_bytes_are_in_it_they_come_back(before, after):
    target = target_of(Path("/x"), PYTHON)
    lines = [cron.line(target, job) for job in JOBS]
    after = after.replace(b"<<<", b"")
    there = cron.with_block(before, target.prefix, lines)
    assert cron.without_block(there, target.prefix) == before
    kept = cron.without_block(there + after, target.prefix)
    assert (kept or b"").startswith(before or b"") and (kept or b"").endswith(after)
