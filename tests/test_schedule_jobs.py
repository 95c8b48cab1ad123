"""When a job is due: by the clock on the user's wall, whatever that clock does."""

from datetime import datetime, timezone

import pytest

from hippo_core.errors import UsageError
from hippo_core.heartbeat import BUSY, Beat
from hippo_core.schedule.jobs import JOBS, job_named


@pytest.fixture(params=["Asia/Shanghai", "UTC", "", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"])
def zone(request, set_zone):
    set_zone(request.param)
    return request.param


def utc(*moment: int) -> float:
    return datetime(*moment, tzinfo=timezone.utc).timestamp()


def ran(at: float) -> Beat:
    return Beat(at, None, "ok", {}, None)


def test_the_five_jobs_of_the_table():
    assert [job.name for job in JOBS] == ["watch", "backstop", "dream", "snapshot", "monitor"]
    assert [job.every for job in JOBS] == [3600, 86_400, 86_400, 86_400, 1800]
    assert [job.grace for job in JOBS] == [1800, 3600, 3600, 3600, 900], "half the interval, an hour at most"
    with pytest.raises(UsageError, match="watch, backstop, dream, snapshot, monitor"):
        job_named("sleep")


def test_half_past_midnight_at_utc_8_is_before_that_night_s_work(set_zone):
    """Still the day before in UTC: the night that is due is the last one, and the next comes at 03:17 there."""
    set_zone("Asia/Shanghai")
    dream, now = job_named("dream"), utc(2026, 3, 9, 16, 30)
    assert datetime.fromtimestamp(now).strftime("%d %H:%M") == "10 00:30"
    assert dream.planned(now) == utc(2026, 3, 8, 19, 17)
    assert not dream.is_due(ran(utc(2026, 3, 8, 19, 20)), now)
    assert dream.is_due(ran(utc(2026, 3, 8, 19, 20)), utc(2026, 3, 9, 19, 18))


def test_an_empty_time_zone_is_utc(set_zone):
    set_zone("")
    assert job_named("dream").planned(utc(2026, 3, 10, 0, 30)) == utc(2026, 3, 9, 3, 17)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_in_any_zone_each_planned_time_comes_once_changes_of_the_clock_included(zone, job):
    """Looked at every ten minutes and run whenever it is due. New York goes forward on 8 March, Lord Howe back by half
    an hour on 5 April."""
    days, start, beat, runs = 40, utc(2026, 3, 1), None, []
    for step in range(days * 144):
        now = start + step * 600
        if job.is_due(beat, now):
            beat = ran(now)
            runs.append(now)
    gaps = [later - earlier for earlier, later in zip(runs[1:], runs[2:], strict=False)]
    assert abs(len(runs) - days * 86_400 / job.every) <= 4
    assert max(gaps) <= job.every + 3600 + 600
    assert all(datetime.fromtimestamp(at).hour in (job.hour, job.hour + 1) for at in runs[1:] if job.hour is not None)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_is_due_when_it_never_ran_and_when_the_clock_was_put_back(job):
    now = utc(2026, 3, 10, 12, 0)
    assert job.is_due(None, now) and job.is_overdue(None, now)
    assert job.is_overdue(ran(now + 86_400 * 400), now)
    assert not job.is_due(ran(now), now) and not job.is_due(ran(now + 60), now), "a clock is set right by seconds"
    assert not job.is_due(ran(job.planned(now)), now), "it ran in the very second that it was planned for"


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_that_another_process_kept_out_has_not_had_its_turn(job):
    """After a sleep cron starts watch and backstop in the same minute: one of them must not be lost for the day."""
    now = utc(2026, 3, 10, 12, 50)
    kept_out = Beat(now - 60, None, BUSY, {}, None)
    assert job.is_due(kept_out, now) and job.is_overdue(kept_out, now)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_is_overdue_only_after_its_own_scheduler_has_had_its_chance(job):
    planned = job.planned(utc(2026, 3, 10, 12, 50))
    before = ran(planned - job.every + 60)
    assert job.is_due(before, planned) and not job.is_overdue(before, planned + 60)
    assert job.is_overdue(before, planned + job.grace + 1)
    just_before = ran(planned - 60)  # by hand, or by a hook
    assert job.is_due(just_before, planned + 60) and not job.is_overdue(just_before, planned + 60)
    assert job.is_overdue(just_before, planned + job.grace + 1)


def test_after_a_night_that_the_machine_slept_through_it_is_overdue_in_the_morning(set_zone):
    set_zone("Europe/Berlin")
    dream = job_named("dream")
    assert dream.is_overdue(ran(utc(2026, 3, 9, 2, 17)), utc(2026, 3, 10, 7, 0))
