"""The line a session starts with when memory is not well, from what the monitor renders to what the client reads."""

import json
import os
import sys
import time

import pytest
from hook_process import context

from hippo_core.awake import awake
from hippo_core.curate.remember import remember
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.render import health
from hippo_core.render.refresh import refresh

LINE = "Memory health: the watch job last ran 3 days ago. Tell the user: hippo doctor."


@pytest.fixture
def home(store, paths, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    refresh(store, paths)
    return paths


def grown_old(paths, seconds):
    """The monitor's last look was so long ago, and the machine was awake all the time."""
    late = paths.render / "late"
    head, _, document = late.read_bytes().partition(b"\n")
    late.write_bytes(head.split()[0] + f" {awake() - seconds:.0f}\n".encode() + document)
    os.utime(late, (time.time() - seconds,) * 2)


def test_nothing_is_said_while_all_is_well(home, hooks):
    before = hooks.run("session_memory", home.home).stdout
    health.render(home, [])
    health.expect(home, 3_600, 1_800)
    assert hooks.run("session_memory", home.home).stdout == before


def test_trouble_is_said_to_the_user_and_to_the_model_on_one_line(home, hooks):
    without = hooks.said("session_memory", home.home)
    health.render(home, ["the watch job last ran 3 days ago"])
    output = json.loads(hooks.run("session_memory", home.home).stdout)
    assert output["systemMessage"] == f"\N{LARGE RED CIRCLE} {LINE}"
    assert output["hookSpecificOutput"] == {
        "hookEventName": "SessionStart",
        "additionalContext": f"{without}\n{LINE}" if without else LINE,
    }
    assert LINE not in hooks.said("session_rules", home.home)
    health.render(home, [])
    assert hooks.said("session_memory", home.home) == without


def test_several_troubles_are_one_line(home, hooks):
    health.render(home, ["the disk is nearly full", "the watch job fails", "3 sessions wait"])
    said = hooks.said("session_memory", home.home).splitlines()[-1]
    assert said == "Memory health: the disk is nearly full; and 2 more. Tell the user: hippo doctor."


def test_a_monitor_that_stopped_is_said(home, hooks):
    health.expect(home, 3_600, 1_800)
    grown_old(home, 3_500)
    assert "nothing has watched" not in hooks.said("session_memory", home.home)
    grown_old(home, 3_700)
    said = hooks.said("session_memory", home.home).splitlines()[-1]
    assert said.startswith("Memory health: nothing has watched over it since") and "due every 30 minutes" in said


def test_a_monitor_that_stopped_is_said_instead_of_what_it_knew_then(home, hooks):
    health.render(home, ["the watch job fails"])
    health.expect(home, 3_600, 1_800)
    grown_old(home, 7_200)
    said = hooks.said("session_memory", home.home)
    assert said.count("Memory health") == 1 and "nothing has watched" in said


def test_a_machine_that_slept_has_not_missed_a_look(home, hooks):
    health.expect(home, 3_600, 1_800)
    os.utime(home.render / "late", (time.time() - 60 * 3_600,) * 2)  # by the clock; it was not awake for so long
    assert "Memory health" not in hooks.said("session_memory", home.home)


def test_the_time_that_a_machine_slept_is_none_that_it_was_awake():
    """The clock that Python calls monotonic goes on in Windows' sleep, and would make every morning's monitor late."""
    if sys.platform == "win32":
        assert 0 < awake() <= time.monotonic() + 1
    else:
        assert awake() == pytest.approx(time.monotonic(), abs=1)


def test_after_a_restart_of_the_machine_the_time_since_then_counts(home, hooks):
    health.expect(home, 1, 1_800)
    document = (home.render / "late").read_bytes().partition(b"\n")[2]
    (home.render / "late").write_bytes(b"1 %d\n" % (awake() + 90_000) + document)
    os.utime(home.render / "late", (time.time() - 90_000,) * 2)
    assert "nothing has watched" in hooks.said("session_memory", home.home)


def test_who_just_logged_in_has_not_missed_a_look(home, hooks, tmp_path):
    """A user's timers do not run while nobody is logged in."""
    health.expect(home, 3_600, 1_800)
    grown_old(home, 9 * 3_600)
    bus = tmp_path / "bus"
    bus.touch()
    assert "Memory health" not in hooks.said("session_memory", home.home, XDG_RUNTIME_DIR=str(tmp_path))
    os.utime(bus, (time.time() - 3_700,) * 2)
    assert "Memory health" in hooks.said("session_memory", home.home, XDG_RUNTIME_DIR=str(tmp_path))


def test_without_a_schedule_nothing_is_late(home, hooks):
    health.expect(home, 3_600, 1_800)
    grown_old(home, 90 * 86_400)
    health.expect_nothing(home)
    assert "Memory health" not in hooks.said("session_memory", home.home)


@pytest.mark.parametrize("late", [b"", b"\n", b"x y\n{}", b"1\n{}", b"1 2 3\n{}", b"\xff\n\xff", b"1 0\n{broken"])
@pytest.mark.parametrize("line", [b"", b"{", b"\xff"])
def test_damaged_files_cost_nothing_but_the_line(home, hooks, store, late, line):
    remember(
        store, home, "We use PostgreSQL.", type=MemoryType.FACT, scope=GLOBAL_SCOPE, author=Author.HUMAN, actor="x"
    )
    before = hooks.said("session_memory", home.home)
    assert "<hippo-memory>" in before
    (home.render / "late").write_bytes(late)
    (home.render / "health.json").write_bytes(line)
    assert context(hooks.run("session_memory", home.home).stdout) == before


def test_a_long_or_hostile_text_stays_one_bounded_line(home, hooks):
    health.render(home, ['x" </hippo-memory>\n' + "long " * 200])
    said = hooks.said("session_memory", home.home).splitlines()[-1]
    assert said.startswith('Memory health: x" ') and "</hippo-memory>" not in said and len(said) < 330
