"""Alerts on their way: a real HTTP endpoint on loopback that is down, slow or back again, and the queue on disk."""

import json
import threading
from dataclasses import replace

import pytest
from ntfy_server import NtfyServer

from hippo_core.monitor import channels, outbox
from hippo_core.monitor.outbox import Letter

NOW = 1_800_000_000.0


@pytest.fixture
def ntfy(monkeypatch):
    pytest.importorskip("apprise")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = NtfyServer()
    yield server
    server.down()


def letter(number, to=("one",), not_before=NOW):
    return Letter(NOW, f"title {number}", f"body {number}", False, not_before, tuple(to))


def sender(server):
    channel = channels.Channel(server.address)
    return lambda key, letter: channels.send(channel, letter.title, letter.body, letter.urgent)


def test_a_letter_arrives_as_it_was_written(ntfy):
    assert channels.send(channels.Channel(ntfy.up().address), "Hippocampus: überfällig", "Zeile — 記憶", True) is None
    (message,) = ntfy.received
    assert (message["topic"], message["title"]) == ("hippo-topic", "Hippocampus: überfällig")
    assert message["message"] == "Zeile — 記憶"


@pytest.mark.parametrize("urgent, sign", [(True, "warning"), (False, "info")])
def test_a_letter_shows_how_urgent_it_is(ntfy, urgent, sign):
    assert channels.send(channels.Channel(f"json://127.0.0.1:{ntfy.up().port}"), "title", "body", urgent) is None
    assert ntfy.received[0]["type"] == sign


def test_an_address_given_twice_is_one_way_out():
    ways = channels.channels(["json://one", "json://two", "json://one", " "])
    assert [way.address for way in ways] == ["json://one", "json://two"]


def test_down_and_up_again_the_queue_is_drained_in_order_exactly_once(paths, ntfy):
    outbox.put(paths, [letter(number) for number in range(3)])
    down = outbox.drain(paths, ["one"], sender(ntfy), NOW)
    assert down.sent == 0 and set(down.failed) == {"one"}
    outbox.put(paths, [letter(number) for number in range(3, 6)])
    ntfy.up()
    assert outbox.drain(paths, ["one"], sender(ntfy), NOW).sent == 6
    assert outbox.drain(paths, ["one"], sender(ntfy), NOW).sent == 0
    assert ntfy.bodies == [f"body {number}" for number in range(6)]
    assert outbox.waiting(paths) == []


def test_a_server_that_refuses_gets_its_letters_later(paths, ntfy):
    ntfy.up().status = 503
    outbox.put(paths, [letter(0), letter(1)])
    assert outbox.drain(paths, ["one"], sender(ntfy), NOW).sent == 0
    ntfy.status = 200
    assert outbox.drain(paths, ["one"], sender(ntfy), NOW).sent == 2
    assert ntfy.bodies == ["body 0", "body 1"]


def test_a_server_that_never_answers_is_given_up(ntfy):
    ntfy.up().hold = threading.Event()
    try:
        said = channels.send(channels.Channel(ntfy.address), "title", "body", False, deadline=0.3)
        assert said == "no answer within 0 seconds"
    finally:
        ntfy.hold.set()


def test_an_address_that_is_none_is_named_by_its_kind_alone():
    pytest.importorskip("apprise")
    said = channels.send(channels.Channel("smoke://user:password@example.org"), "title", "body", False)
    assert said == "apprise does not understand this smoke address"


def test_an_address_without_a_kind_shows_nothing_of_itself():
    pytest.importorskip("apprise")
    said = channels.send(channels.Channel("hunter2:password@example.org"), "title", "body", False)
    assert said == "apprise does not understand this ? address"


def test_why_it_was_not_taken_holds_no_part_of_the_address(ntfy):
    """Whoever knows the topic reads along, so it is as good as a password."""
    ntfy.up().status = 403
    address = f"ntfy://me:pass%20word@127.0.0.1:{ntfy.port}/our%2Dtopic?mode=private"
    said = channels.send(channels.Channel(address), "title", "body", False)
    assert said == "Failed to send ntfy notification to topic '***': error=403."
    ntfy.down()
    said = channels.send(channels.Channel(address), "title", "body", False)
    assert "Connection error" in said and str(ntfy.port) not in said and "127.0.0.1" not in said


@pytest.mark.parametrize("fails", [lambda: 1 / 0, lambda: None, lambda: False])
def test_a_service_that_fails_in_any_way_did_not_take_it_and_says_nothing_aloud(
    ntfy, monkeypatch, caplog, capfd, fails
):
    monkeypatch.setattr("apprise.Apprise.notify", lambda self, **letter: fails())
    assert channels.send(channels.Channel(ntfy.address), "title", "body", False) == "it was not taken"
    monkeypatch.undo()
    assert "Connection error" in channels.send(channels.Channel(ntfy.address), "title", "body", False)
    assert (caplog.text, *capfd.readouterr()) == ("", "", "")


def test_without_apprise_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "apprise", None)
    assert "--with alerts" in channels.send(channels.Channel("ntfy://topic"), "title", "body", False)


def test_an_address_never_gets_into_a_file(paths):
    channel = channels.Channel("ntfy://user:pass-in-address@example.org/topic")
    outbox.put(paths, [letter(0, [channel.key])])
    outbox.drain(paths, [channel.key], lambda key, letter: "down", NOW)
    assert b"pass-in-address" not in b"".join(file.read_bytes() for file in paths.home.rglob("*") if file.is_file())


def test_one_channel_that_fails_costs_the_others_nothing(paths):
    got = []

    def send(key, letter):
        if key == "broken":
            return "down"
        got.append(letter.body)
        return None

    outbox.put(paths, [letter(0, ["broken", "whole"]), letter(1, ["broken", "whole"])])
    for _ in range(3):
        outbox.drain(paths, ["broken", "whole"], send, NOW)
    assert got == ["body 0", "body 1"]
    assert [waiting.to for waiting in outbox.waiting(paths)] == [("broken",), ("broken",)]


def test_a_channel_that_failed_gets_nothing_more_at_that_look_so_that_no_letter_overtakes_another(paths):
    got, answers = [], iter(["down", None, None, None])

    def send(key, letter):
        problem = next(answers)
        got.extend([] if problem else [letter.body])
        return problem

    outbox.put(paths, [letter(0), letter(1)])
    assert outbox.drain(paths, ["one"], send, NOW).sent == 0
    assert outbox.drain(paths, ["one"], send, NOW).sent == 2 and got == ["body 0", "body 1"]


def test_a_crash_while_sending_repeats_nothing_that_was_noted(paths):
    got = []

    def send(key, letter):
        got.append(letter.body)
        if len(got) == 2:
            raise KeyboardInterrupt
        return None

    outbox.put(paths, [letter(number) for number in range(3)])
    with pytest.raises(KeyboardInterrupt):
        outbox.drain(paths, ["one"], send, NOW)
    outbox.drain(paths, ["one"], send, NOW)
    assert got == ["body 0", "body 1", "body 1", "body 2"]  # only the one that was under way


def test_what_is_held_waits_for_its_time_and_holds_nothing_else(paths):
    got = []
    outbox.put(paths, [letter("low", not_before=NOW + 60), letter("high")])
    outbox.drain(paths, ["one"], lambda key, letter: got.append(letter.body), NOW)
    assert got == ["body high"]
    outbox.drain(paths, ["one"], lambda key, letter: got.append(letter.body), NOW + 60)
    assert got == ["body high", "body low"]


def test_what_a_clock_years_ahead_held_is_not_held_until_then(paths):
    got, ahead = [], NOW + 3_000 * 86_400
    outbox.put(paths, [replace(letter("low", not_before=ahead + 60), at=ahead)])
    outbox.drain(paths, ["one"], lambda key, letter: got.append(letter.body), NOW)
    assert got == ["body low"]


def test_the_queue_is_bounded_and_keeps_the_newest(paths):
    assert outbox.put(paths, [letter(number) for number in range(205)]) == 5
    assert [outbox.waiting(paths)[place].body for place in (0, -1)] == ["body 5", "body 204"]


def test_letters_for_a_channel_that_was_taken_out_of_the_settings_go(paths):
    outbox.put(paths, [letter(0, ["gone"])])
    assert outbox.drain(paths, ["one"], lambda key, letter: None, NOW).sent == 0
    assert outbox.waiting(paths) == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'[{"at": 1}]', json.dumps([{"to": None}]).encode()])
def test_a_damaged_queue_is_an_empty_one(paths, content):
    paths.alerts.mkdir(parents=True)
    (paths.alerts / "outbox.json").write_bytes(content)
    assert outbox.waiting(paths) == []
    outbox.put(paths, [letter(0)])
    assert [waiting.body for waiting in outbox.waiting(paths)] == ["body 0"]


def test_the_log_is_redacted_and_bounded(paths):
    token = "ghp_" + "".join(chr(97 + number % 26) for number in range(36))
    for number in range(400):
        channels.write_log(paths, "found", f"{number} {token} " + "x" * 1_500)
    files = sorted(file.name for file in paths.log.iterdir())
    assert files == ["alerts.log", "alerts.log.1"]
    text = "".join((paths.log / name).read_text(encoding="utf-8") for name in files)
    assert token not in text and "399 " in text and len(text) < 600_000
