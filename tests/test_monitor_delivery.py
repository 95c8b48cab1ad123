"""Who is told when: quiet hours, a time offline, a mute, settings that cannot be read. A real endpoint on loopback."""

import re
from datetime import datetime

import pytest
from click.testing import CliRunner
from monitored_machine import HOUR, NOON, keys

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.ingest.run import run_pass
from hippo_core.monitor import hours, outbox
from hippo_core.monitor.run import look_only
from hippo_core.store import Store


def let_a_transcript_fail(machine):
    with Store.open(machine.paths.store) as store, store.transaction():
        source = store.progress.begin_source("/x.jsonl")
        store.progress.save_source(source, attempts=3, error="cannot be read")


def test_quiet_hours_hold_what_can_wait_until_morning(machine, ntfy):
    settings.save(machine.paths, quiet_hours="22:00-07:00")
    let_a_transcript_fail(machine)
    machine.at(datetime(2026, 11, 27, 23).timestamp())
    look = machine.look()
    assert (len(look.told), look.sent, look.waiting) == (1, 0, 1)
    assert not outbox.waiting(machine.paths)[0].urgent
    assert re.search(r"held until \d{4}-\d\d-\d\d 07:00", machine.logged())
    machine.at(datetime(2026, 11, 28, 6, 50).timestamp())
    assert machine.look().sent == 0
    assert machine.look(after=900).sent == 1
    assert ntfy.bodies == ["1 transcript failed three times and was set aside. Next: hippo doctor"]


def test_quiet_hours_hold_the_news_that_it_is_over(machine, ntfy):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    machine.at(datetime(2026, 11, 27, 21).timestamp())
    for _ in range(3):
        machine.look(after=HOUR / 2)
    run_pass(machine.paths, roots=[machine.projects], embed=False)
    looks = [machine.look(after=HOUR / 2) for _ in range(2)]
    assert [notice.kind for notice in looks[-1].told] == ["over"] and looks[-1].waiting == 1 == len(ntfy.bodies)
    machine.at(datetime(2026, 11, 28, 7).timestamp())
    assert machine.look().sent == 1 and ntfy.bodies[-1].startswith("It is over: ")


def test_quiet_hours_do_not_hold_what_is_grave(machine, ntfy):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    machine.at(datetime(2026, 11, 27, 23).timestamp())
    for _ in range(3):
        machine.look(after=HOUR / 2)
    assert len(ntfy.bodies) == 1


def test_offline_for_hours_everything_arrives_later_in_order_exactly_once(machine, ntfy):
    ntfy.down()
    look = machine.lose_watch_for_hours()
    assert (look.sent, look.waiting) == (0, 2) and set(look.failed) == {"ntfy"}
    assert " unsent: ntfy: A Connection error" in machine.logged()
    ntfy.up()
    assert machine.look(after=HOUR / 2).sent == 2
    assert machine.look(after=HOUR / 2).sent == 0
    assert [body.partition(" ")[0] for body in ntfy.bodies] == ["The", "It"]


def test_what_the_queue_has_no_room_for_is_counted_in_the_log(machine, ntfy, monkeypatch):
    monkeypatch.setattr("hippo_core.monitor.outbox.MOST", 1)
    ntfy.down()
    look = machine.lose_watch_for_hours()
    assert look.waiting == 1 and " outbox: full: the 1 oldest were dropped" in machine.logged()


def test_alerts_that_cannot_be_sent_for_a_day_are_said_at_session_start(machine, ntfy):
    ntfy.down()
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(60):
        look = machine.look(after=HOUR / 2)
    assert "delivery" in look.standing
    assert "could not be sent" in look.standing["delivery"].text
    ntfy.up()
    machine.look(after=HOUR / 2)
    assert keys(machine.look(after=HOUR / 2)) == ["unread"]


def test_muted_nothing_is_sent_and_afterwards_what_still_stands_is(machine, ntfy):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    hours.mute(machine.paths, NOON + 4 * HOUR)
    looks = [machine.look(after=HOUR / 2) for _ in range(7)]
    assert looks[-1].muted_until and ntfy.bodies == [] and "muted" in machine.logged()
    assert [look.told for look in looks] == [[]] * 7 and looks[-1].waiting == 0, (
        "else what passed meanwhile is told, too"
    )
    assert (machine.paths.render / "health.json").read_bytes() == b""
    machine.look(after=HOUR)
    assert len(ntfy.bodies) == 1


def test_what_was_told_before_is_not_said_at_a_session_start_while_muted(machine):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(3):
        machine.look(after=HOUR / 2)
    line = machine.paths.render / "health.json"
    assert b"not stored" in line.read_bytes()
    hours.mute(machine.paths, machine.now + HOUR)
    machine.look(after=HOUR / 2)
    assert line.read_bytes() == b""
    machine.look(after=HOUR)
    assert b"not stored" in line.read_bytes()


def test_muted_a_session_is_not_told_that_nobody_looks_until_that_is_over_or_taken_back(machine, monkeypatch):
    late, line = machine.paths.render / "late", machine.paths.render / "health.json"
    monkeypatch.setattr("hippo_core.monitor.run.schedule_of", lambda paths: machine.schedule)

    def run(*arguments):
        CliRunner().invoke(hippo, ["monitor", *arguments], catch_exceptions=False, standalone_mode=False)

    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(3):
        machine.look(after=HOUR / 2)
    run("mute", "--for", "4h")
    assert late.read_bytes().startswith(b"18000 ") and line.read_bytes() == b""
    machine.look(after=HOUR)
    assert late.read_bytes().startswith(b"14400 ")
    run("unmute")
    assert late.read_bytes().startswith(b"3600 ") and b"not stored" in line.read_bytes()


def test_what_waited_already_waits_on_while_muted(machine, ntfy):
    ntfy.down()
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(3):
        machine.look(after=HOUR / 2)
    ntfy.up()
    hours.mute(machine.paths, machine.now + HOUR)
    look = machine.look(after=HOUR / 2)
    assert (look.sent, look.waiting, look.failed) == (0, 1, {}) and ntfy.bodies == []
    assert machine.look(after=HOUR).sent == 1


def test_a_session_start_is_told_of_what_is_grave_alone(machine):
    let_a_transcript_fail(machine)
    for _ in range(3):
        look = machine.look(after=HOUR / 2)
    assert set(look.standing) == {"set-aside"}
    assert (machine.paths.render / "health.json").read_bytes() == b""
    machine.transcript("s1", machine.now - 5 * HOUR, "Words.")
    for _ in range(3):
        look = machine.look(after=HOUR / 2)
    assert set(look.standing) == {"set-aside", "unread"}
    line = (machine.paths.render / "health.json").read_text(encoding="utf-8")
    assert "not stored" in line and "set aside" not in line


def test_without_an_address_the_log_says_it_all(machine):
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(3):
        machine.look(after=HOUR / 2)
    assert " found: unread: 1 transcript not stored" in machine.logged()
    assert " raised: unread: " in machine.logged()
    assert not (machine.paths.alerts / "outbox.json").exists()


@pytest.mark.parametrize("content", ['{"quiet_hours": "at night"}', "{", "[]"])
def test_settings_that_cannot_be_read_are_a_finding_and_stop_nothing(machine, content):
    machine.paths.config.write_text(content, encoding="utf-8")
    look = machine.look()
    assert keys(look) == ["settings"] and look.found[0].detail and look.found[0].detail in machine.logged()
    assert look_only(machine.paths, machine.schedule, [machine.projects]).found == look.found


def test_what_waits_goes_on_waiting_while_the_settings_cannot_be_read(machine, ntfy):
    """Nobody knows then to whom it may go."""
    ntfy.down()
    machine.transcript("s1", NOON - 5 * HOUR, "Words.")
    for _ in range(3):
        machine.look(after=HOUR / 2)
    whole = machine.paths.config.read_bytes()
    machine.paths.config.write_bytes(whole[:-4])
    ntfy.up()
    look = machine.look(after=HOUR / 2)
    assert (keys(look), look.sent, look.waiting) == (["settings", "unread"], 0, 1)
    machine.paths.config.write_bytes(whole)
    assert machine.look(after=HOUR / 2).sent == 1 and ntfy.bodies[0].startswith("1 transcript not stored")


def test_quiet_hours_that_are_none_hold_nothing_back_and_are_told_wherever_alerts_go(machine, ntfy):
    settings.save(machine.paths, quiet_hours="at night")
    let_a_transcript_fail(machine)
    machine.at(datetime(2026, 11, 27, 23).timestamp())
    assert machine.look().sent == 2 and ntfy.bodies[0] == "The settings cannot be read. Next: hippo doctor"
    assert ntfy.bodies[1].startswith("1 transcript failed three times"), "which any quiet hours would hold"
