"""What the monitor takes for wrong, and what it does not: judged from facts alone."""

import pytest

from hippo_core import clock
from hippo_core.heartbeat import Beat
from hippo_core.monitor.checks import Facts, findings
from hippo_core.registration import DISABLED, ENABLED, NOT_INSTALLED, NOT_REGISTERED, UNKNOWN
from hippo_core.schedule.jobs import job_named
from hippo_core.store.room import Room

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_800_000_000.0
WATCH = job_named("watch")


def beat(ran, worked=None, error=None):
    return Beat(last_ran=ran, last_worked=worked, result="ok", counts={}, error=error)


def keys(**facts):
    return [finding.key for finding in findings(Facts(now=NOW, **facts))]


def test_all_well_is_nothing_found():
    assert keys(jobs=[WATCH], beats={"watch": beat(NOW - 600)}, awake={"watch": 600}, room=Room(10**10, 0),
                plugin=ENABLED) == []  # fmt: skip


def test_a_job_silent_for_twice_its_interval_is_found():
    assert keys(jobs=[WATCH], beats={"watch": beat(NOW - 1.9 * HOUR)}, awake={"watch": 1.9 * HOUR}) == []
    assert keys(jobs=[WATCH], beats={"watch": beat(NOW - 2.1 * HOUR)}, awake={"watch": 2.1 * HOUR}) == ["silent:watch"]


def test_a_job_that_never_ran_is_found_once_it_had_time_to():
    assert keys(jobs=[WATCH], scheduled_since=NOW - HOUR, awake={"watch": HOUR}) == []
    (found,) = findings(Facts(NOW, jobs=[WATCH], scheduled_since=NOW - 3 * HOUR, awake={"watch": 3 * HOUR}))
    assert (found.key, found.text) == ("silent:watch", "the watch job has never run, due every hour")


def test_a_machine_that_slept_over_the_weekend_is_not_late():
    assert keys(jobs=[WATCH], beats={"watch": beat(NOW - 60 * HOUR)}, awake={"watch": 0.5 * HOUR}) == []


def test_a_daily_job_is_silent_once_the_machine_was_awake_for_two_hours_of_its_lateness():
    backstop, last = job_named("backstop"), {"backstop": beat(NOW - 2.1 * DAY)}
    assert keys(jobs=[backstop], beats=last, awake={"backstop": 1.9 * HOUR}) == []
    assert keys(jobs=[backstop], beats=last, awake={"backstop": 2.1 * HOUR}) == ["silent:backstop"]


def test_a_job_with_a_short_interval_need_not_be_waited_for_as_long():
    half_hourly, last = job_named("monitor"), {"monitor": beat(NOW - 1.1 * HOUR)}
    assert keys(jobs=[half_hourly], beats=last, awake={"monitor": 0.9 * HOUR}) == []
    assert keys(jobs=[half_hourly], beats=last, awake={"monitor": 1.1 * HOUR}) == ["silent:monitor"]


def test_a_schedule_that_was_installed_again_after_months_is_given_time():
    last = {"watch": beat(NOW - 90 * DAY)}
    assert keys(jobs=[WATCH], beats=last, scheduled_since=NOW - HOUR, awake={"watch": 9 * HOUR}) == []
    assert keys(jobs=[WATCH], beats=last, scheduled_since=NOW - 3 * HOUR, awake={"watch": 9 * HOUR}) == ["silent:watch"]


def test_a_store_that_is_away_for_a_moment_is_not_told_of():
    """A restore puts another file in its place; damage does not pass."""
    assert 0 < findings(Facts(NOW, store_problem="is not there"))[0].patience < HOUR
    assert findings(Facts(NOW, damage=["row 7"]))[0].patience == 0


def test_without_a_schedule_no_job_is_late():
    assert keys(beats={"watch": beat(NOW - 90 * DAY)}, awake={"watch": 90 * DAY}) == []


def test_five_weeks_of_successful_runs_that_store_nothing_are_found_by_their_output():
    """As "Not logged in" did for five weeks, while health said ok."""
    healthy = {"watch": beat(NOW - 600, worked=NOW - 35 * DAY), "monitor": beat(NOW, worked=NOW)}
    found = findings(Facts(NOW, jobs=[WATCH], beats=healthy, unread=12, unread_since=NOW - 35 * DAY))
    assert [finding.key for finding in found] == ["unread"] and found[0].grave
    assert "12 transcripts" in found[0].text and "35 days" in found[0].text
    assert f"last work done on {clock.day(NOW - 35 * DAY)}" in found[0].text, (
        "an alert is the monitor's work, not theirs"
    )
    assert keys(jobs=[WATCH], beats=healthy, waiting=3) == ["unlearned"]
    assert keys(jobs=[WATCH], beats=healthy, barren=5, barren_since=NOW - DAY) == ["barren"]


@pytest.mark.parametrize(
    "facts", [{"unread": 1, "unread_since": NOW - DAY}, {"barren": 5, "barren_since": NOW - DAY}, {"waiting": 1}]
)
def test_whoever_brings_transcripts_in_has_an_hour_before_anybody_is_told(facts):
    (found,) = findings(Facts(NOW, **facts))
    assert found.patience == HOUR


def test_output_counts_without_a_schedule_too():
    assert keys(unread=1, unread_since=NOW - 2 * DAY) == ["unread"]


def test_a_few_empty_transcripts_prove_nothing():
    assert keys(barren=4, barren_since=NOW - DAY) == []


def test_a_disk_without_room_to_rewrite_the_store_is_nearly_full():
    assert keys(room=Room(400_000_000, 0)) == ["disk"]
    assert keys(room=Room(600_000_000, 0)) == []
    assert keys(room=Room(2_000_000_000, 950_000_000)) == ["disk"]
    assert keys(room=Room(2_000_000_000, 850_000_000)) == []


@pytest.mark.parametrize("state", [NOT_REGISTERED, NOT_INSTALLED])
def test_a_plugin_that_the_client_lost_is_found(state):
    """Every job may run and all they bring in be in order, while no session hears of it."""
    (found,) = findings(Facts(NOW, plugin=state))
    assert found.key == "plugin" and found.grave and 0 < found.patience < DAY


def test_a_plugin_that_the_user_switched_off_is_shown_and_told_to_nobody():
    (found,) = findings(Facts(NOW, plugin=DISABLED))
    assert found.key == "plugin-off" and not found.grave and found.patience > 3_650 * DAY


def test_without_an_installer_or_where_the_settings_cannot_be_read_nothing_is_said_of_the_plugin():
    assert keys(plugin=None) == [] == keys(plugin=UNKNOWN)


def test_one_failed_run_waits_for_the_next_before_anybody_is_told():
    (found,) = findings(Facts(NOW, jobs=[WATCH], beats={"watch": beat(NOW - 60, error="the store is locked")}))
    assert found.key == "failing:watch" and found.patience > WATCH.every


@pytest.mark.parametrize(
    "facts", [{"store_problem": "/home/me/secret project is gone"}, {"damage": ["row 7 of memory"]}]
)
def test_what_may_name_files_or_rows_stays_out_of_the_text_that_is_sent(facts):
    (found,) = findings(Facts(NOW, **facts))
    assert found.grave and found.detail and found.detail not in found.text and "secret" not in found.text


def test_a_jobs_error_stays_on_this_machine():
    (found,) = findings(Facts(NOW, jobs=[WATCH], beats={"watch": beat(NOW, error="could not learn: my dog is Rex")}))
    assert "Rex" in found.detail and "Rex" not in found.text


def test_what_works_all_the_same_comes_last():
    assert keys(set_aside=2, room=Room(1, 0)) == ["disk", "set-aside"]
    found = findings(Facts(NOW, set_aside=1))
    assert not found[0].grave and "1 transcript failed three times and was set aside" == found[0].text
