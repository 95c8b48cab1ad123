"""When somebody is told: once, again only if it lasts, once when it is over."""

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.errors import UsageError
from hippo_core.monitor import hours
from hippo_core.monitor.alerts import OVER, RAISED, REPEATED, standing, step
from hippo_core.monitor.checks import Finding

HOUR, DAY = 3_600.0, 86_400.0
LATE = Finding("silent:watch", "the watch job is silent")
NOW = 1_800_000_000.0


def play(looks, every=HOUR / 2, **options):
    """(look number, kind) of everything told over a series of looks, each the findings of that look."""
    state, told = {}, []
    for number, found in enumerate(looks):
        state, notices = step(state, found, NOW + number * every, **options)
        told += [(number, notice.kind) for notice in notices]
    return told


def test_a_finding_that_stands_is_told_once():
    assert play([[LATE]] * 40) == [(0, RAISED)]


def test_it_is_told_again_after_a_day_three_and_seven_and_then_each_week():
    days = [number for number, kind in play([[LATE]] * 30, every=DAY) if kind == REPEATED]
    assert days == [1, 3, 7, 14, 21, 28]


def test_a_repetition_is_urgent_even_if_the_finding_could_wait():
    state, (first,) = step({}, [Finding("set-aside", "one file", grave=False)], NOW)
    _, (second,) = step(state, [Finding("set-aside", "one file", grave=False)], NOW + DAY)
    assert (first.urgent, second.urgent) == (False, True)


def test_after_a_long_sleep_only_one_repetition_is_told():
    state, _ = step({}, [LATE], NOW)
    state, told = step(state, [LATE], NOW + 40 * DAY)
    assert [notice.kind for notice in told] == [REPEATED]
    assert step(state, [LATE], NOW + 40 * DAY + HOUR)[1] == []


def test_a_clock_that_was_years_ahead_for_a_while_does_not_silence_it_until_then():
    state, _ = step({}, [LATE], NOW + 3_000 * DAY)
    state, told = step(state, [LATE], NOW)
    assert told == []
    assert [notice.kind for notice in step(state, [LATE], NOW + DAY)[1]] == [REPEATED]


def test_its_end_is_told_once():
    assert play([[LATE], [], [], [], []]) == [(0, RAISED), (2, OVER)]


def test_what_comes_and_goes_is_one_alert():
    assert play([[LATE], [], [LATE], [], [LATE], [LATE]]) == [(0, RAISED)]


def test_what_passes_within_its_patience_is_never_told():
    patient = Finding("failing:watch", "fails", patience=HOUR)
    assert play([[patient], [patient], [], []]) == []
    assert play([[patient]] * 4) == [(2, RAISED)]


def test_what_a_look_could_not_judge_is_not_over():
    told = play([[Finding("unread", "files")], [], [], []], unknown=("unread",))
    assert told == [(0, RAISED)]


def test_muted_nobody_is_told_and_what_still_stands_afterwards_is():
    state, told = step({}, [LATE], NOW, muted=True)
    assert told == []
    state, told = step(state, [LATE], NOW + HOUR)
    assert [notice.kind for notice in told] == [RAISED] and list(standing(state)) == ["silent:watch"]


def test_what_began_and_ended_while_muted_is_never_told():
    state, _ = step({}, [LATE], NOW, muted=True)
    state, told = step(state, [], NOW + HOUR, muted=True)
    assert (state, told) == ({}, [])


def test_what_ended_while_muted_is_told_afterwards():
    state, _ = step({}, [LATE], NOW)
    state, told = step(state, [], NOW + HOUR, muted=True)
    state, more = step(state, [], NOW + 2 * HOUR, muted=True)
    assert told == more == []
    assert [notice.kind for notice in step(state, [], NOW + 3 * HOUR)[1]] == [OVER]


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.floats(0, 3 * DAY)), max_size=60))
def test_of_each_key_telling_and_its_end_alternate_whatever_happens(looks):
    state, now, open_now = {}, NOW, set()
    for keys, pause in looks:
        now += pause
        state, notices = step(state, [Finding(key, key) for key in sorted(keys)], now)
        for notice in notices:
            assert (notice.kind == RAISED) == (notice.key not in open_now)
            open_now ^= {notice.key} if notice.kind in (RAISED, OVER) else set()
        assert keys <= open_now


def at(text):
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("now", "setting", "until"),
    [
        ("2026-11-29 23:30", "22:00-07:00", "2026-11-30 07:00"),
        ("2026-11-29 03:00", "22:00-07:00", "2026-11-29 07:00"),
        ("2026-11-29 07:00", "22:00-07:00", None),
        ("2026-11-29 21:59", "22:00-07:00", None),
        ("2026-11-29 12:30", "12:00-13:00", "2026-11-29 13:00"),
        ("2026-11-29 12:30", "", None),
        ("2026-11-29 12:30", "08:00-08:00", None),
    ],
)
def test_quiet_hours_are_local_time_and_may_cross_midnight(now, setting, until):
    assert hours.quiet_until(setting, at(now)) == (at(until) if until else None)


def test_hours_are_those_of_the_users_clock(in_tokyo):
    midnight = datetime(2026, 11, 28, 15, tzinfo=timezone.utc).timestamp()
    assert hours.quiet_until("22:00-07:00", midnight) == midnight + 7 * HOUR
    assert hours.quiet_until("22:00-07:00", midnight + 12 * HOUR) is None
    assert hours.parse_moment("08:00", midnight) == midnight + 8 * HOUR


@pytest.mark.parametrize("setting", ["at night", "22-07", "25:00-07:00", "22:60-07:00"])
def test_quiet_hours_that_are_no_span_are_refused(setting):
    with pytest.raises(UsageError, match="quiet_hours"):
        hours.quiet_until(setting, NOW)


def test_it_is_over_ten_minutes_after_it_was_last_found_and_not_sooner():
    state, _ = step({}, [LATE], NOW)
    state, told = step(state, [], NOW + HOUR)
    assert told == [] and standing(state) == {}, "what is not found any more stands no longer"
    state, told = step(state, [], NOW + HOUR + 590)
    assert told == []
    state, told = step(state, [], NOW + HOUR + 610)
    assert [notice.kind for notice in told] == [OVER] and state == {}


def test_a_clock_that_was_put_back_does_not_keep_what_is_over():
    state, _ = step({}, [LATE], NOW)
    state, _ = step(state, [], NOW + 365 * DAY)
    state, told = step(state, [], NOW + HOUR)
    assert [notice.kind for notice in told] == [OVER] and state == {}


def test_a_finding_that_only_waits_is_told_in_time_though_the_clock_was_put_back():
    waits = Finding("unread", "1 transcript not stored", patience=HOUR)
    state, _ = step({}, [waits], NOW + 365 * DAY)
    state, told = step(state, [waits], NOW)
    assert told == []
    assert [notice.kind for notice in step(state, [waits], NOW + HOUR)[1]] == [RAISED]


def test_the_gravest_stands_first_and_of_these_the_oldest():
    light = Finding("set-aside", "1 transcript was set aside", grave=False)
    state, _ = step({}, [light], NOW)
    state, _ = step(state, [light, LATE], NOW + HOUR)
    state, _ = step(state, [light, LATE, Finding("disk", "the disk is nearly full")], NOW + 2 * HOUR)
    assert list(standing(state)) == ["silent:watch", "disk", "set-aside"]


def test_quiet_hours_are_over_at_their_end():
    assert hours.quiet_until("12:00-13:00", at("2026-11-29 13:00")) is None


def test_a_switch_that_would_mute_for_years_mutes_nothing(paths):
    hours.mute(paths, NOW + 91 * DAY)
    assert hours.muted_until(paths, NOW) is None


def test_the_switch_mutes_until_its_time_and_not_longer(paths):
    hours.mute(paths, NOW + HOUR)
    assert hours.muted_until(paths, NOW) == NOW + HOUR
    assert hours.muted_until(paths, NOW + HOUR) is None
    hours.mute(paths, NOW + HOUR)
    hours.unmute(paths)
    assert hours.muted_until(paths, NOW) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"until": "x"}', b'{"until": null}', b'{"until": 9e99}'])
def test_a_damaged_switch_mutes_nothing(paths, content):
    paths.alerts.mkdir(parents=True)
    (paths.alerts / "mute.json").write_bytes(content)
    assert hours.muted_until(paths, NOW) is None


def test_times_as_people_write_them():
    assert [hours.parse_duration(text) for text in ("30m", "4h", "2d", "1w")] == [1_800, 14_400, 172_800, 604_800]
    now = at("2026-11-29 20:00")
    assert hours.parse_moment("21:30", now) == at("2026-11-29 21:30")
    assert hours.parse_moment("08:00", now) == at("2026-11-30 08:00")
    assert hours.parse_moment("2026-12-01 18:30", now) == at("2026-12-01 18:30")
    for wrong in ("", "soon", "4", "0h", "-1h"):
        with pytest.raises(UsageError):
            hours.parse_duration(wrong)
    for wrong in ("", "soon", "25:00"):
        with pytest.raises(UsageError):
            hours.parse_moment(wrong, now)
