"""Questions that name a time: what is read as one, in whose time zone, and what it does to the answer."""

from datetime import datetime, timedelta, timezone

import pytest

from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.archive import search_archive
from hippo_core.recall.pipeline import recall
from hippo_core.recall.query import read_query
from hippo_core.recall.timed import weighed
from hippo_core.recall.when import When, read_when

EAST = timezone(timedelta(hours=9))
NOW = datetime(2026, 11, 26, 10, tzinfo=EAST).timestamp()  # a Thursday


def days(text, now=NOW):
    when, _ = read_when(text, now, EAST)
    return tuple(at and datetime.fromtimestamp(at, EAST).strftime("%Y-%m-%d") for at in (when.start, when.end))


SPANS = [
    ("today", "2026-11-26", "2026-11-27"), ("yesterday", "2026-11-25", "2026-11-26"),
    ("yesterday's outage", "2026-11-25", "2026-11-26"), ("the day before yesterday", "2026-11-24", "2026-11-25"),
    ("what did we decide last week", "2026-11-16", "2026-11-23"), ("this week", "2026-11-23", "2026-11-30"),
    ("last month", "2026-10-01", "2026-11-01"), ("last year", "2025-01-01", "2026-01-01"),
    ("in the last 3 days", "2026-11-23", "2026-11-27"), ("over the past two weeks", "2026-11-12", "2026-11-27"),
    ("two weeks ago", "2026-11-09", "2026-11-16"), ("a few days ago", "2026-11-22", "2026-11-25"),
    ("in June", "2026-06-01", "2026-07-01"), ("in december", "2025-12-01", "2026-01-01"),
    ("in June 2025", "2025-06-01", "2025-07-01"), ("december 2024", "2024-12-01", "2025-01-01"),
    ("since June", "2026-06-01", None), ("before June", None, "2026-06-01"), ("until June", None, "2026-07-01"),
    ("between May and July", "2026-05-01", "2026-08-01"), ("on 7 Nov", "2026-11-07", "2026-11-08"),
    ("Nov 30", "2025-11-30", "2025-12-01"), ("the 3rd of March 2026", "2026-03-03", "2026-03-04"),
    ("2026-11-07", "2026-11-07", "2026-11-08"), ("before 2026-11-07", None, "2026-11-07"),
    ("after 2026-11-07", "2026-11-08", None), ("in 2025", "2025-01-01", "2026-01-01"),
    ("on Monday", "2026-11-23", "2026-11-24"), ("last Thursday", "2026-11-19", "2026-11-20"),
    ("since Monday", "2026-11-23", None), ("recently", "2026-10-27", "2026-11-27"),
    ("in the last 24 hours", "2026-11-25", "2026-11-27"), ("an hour ago", "2026-11-25", "2026-11-27"),
    ("on may 5", "2026-05-05", "2026-05-06"), ("in may", "2026-05-01", "2026-06-01"),
    ("between 2026-11-01 and 2026-11-07", "2026-11-01", "2026-11-08"), ("in May or June", "2026-05-01", "2026-07-01"),
    ("from 1 June to 5 June", "2026-06-01", "2026-06-06"), ("between May and July 2025", "2025-05-01", "2025-08-01"),
    ("between November and February", "2025-11-01", "2026-03-01"),
    ("from last week to yesterday", "2026-11-16", "2026-11-26"), ("last weekend", "2026-11-21", "2026-11-23"),
    ("last quarter", "2026-07-01", "2026-10-01"), ("this quarter", "2026-10-01", "2027-01-01"),
    ("ten days ago", "2026-11-15", "2026-11-18"), ("in the last twelve days", "2026-11-14", "2026-11-27"),
]  # fmt: skip


@pytest.mark.parametrize("text, start, end", SPANS)
def test_a_time_is_read_and_taken_out(text, start, end):
    assert days(text) == (start, end)
    assert read_query(f"redis {text}", NOW).when is not None
    assert read_when(f"why redis {text}?", NOW, EAST)[1].startswith("why redis")


@pytest.mark.parametrize(
    "text",
    [
        "which port may the api use", "the march of progress", "retry 3 times", "run it on 8080",
        "version 1.0.21 fails",
        "how does the sun service start", "what has to be restarted before the export worker", "set in 2024.1",
        "docker image :latest", "why may I not push", "second attempt", "the weekly report", "2026-13-45 is no date",
        "the last step", "this function", "sat-solver", "a decimal", "current_user", "last_week.csv",
        "this may fail", "why may 5 processes write at once", "the last day of a sprint", "it answers in 2000 ms",
        "the last week of a sprint",
        "what broke on 2026-02-30", "2026-11-07.log", "see logs/2026-11-07/app.log", "backup-2026-11-07", "node@latest",
        'the phrase "last week"', "`git checkout latest`", "the song “in June”", "git log --since=yesterday",
    ],
)  # fmt: skip
def test_what_is_no_time_stays_in_the_question(text):
    assert read_when(text, NOW, EAST) == (None, text) and read_query(text, NOW).when is None


def test_no_time_lies_before_any_message_so_that_every_system_can_count_its_seconds():
    assert read_when("what broke 999 years ago", NOW)[0].end > 0
    assert read_when("what broke in the last 999 years", NOW)[0].start > 0


@pytest.mark.parametrize("text, start, end", [
    ("last month", "2026-12-01", "2027-01-01"), ("last week", "2026-12-21", "2026-12-28"),
    ("this week", "2026-12-28", "2027-01-04"), ("yesterday", "2026-12-31", "2027-01-01"),
    ("in January", "2027-01-01", "2027-02-01"), ("in December", "2026-12-01", "2027-01-01"),
    ("since November", "2026-11-01", None), ("last year", "2026-01-01", "2027-01-01"),
])  # fmt: skip
def test_on_the_first_day_of_a_year_what_is_past_lies_in_the_year_before(text, start, end):
    assert days(text, datetime(2027, 1, 1, 0, 30, tzinfo=EAST).timestamp()) == (start, end)


@pytest.mark.parametrize("now, hours", [("2026-03-30T01:00", 23), ("2026-10-26T23:00", 25)])
def test_a_day_on_which_clocks_change_is_from_midnight_to_midnight(set_zone, now, hours):
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3")
    yesterday, _ = read_when("yesterday", datetime.fromisoformat(now).timestamp())
    assert yesterday.end - yesterday.start == hours * 3600
    assert yesterday.end == datetime.fromisoformat(now[:10]).timestamp()


def test_yesterday_is_the_users_yesterday():
    west = timezone(timedelta(hours=-8))
    late = datetime(2026, 11, 26, 20, tzinfo=timezone.utc).timestamp()
    east, here = (read_when("yesterday", late, zone)[0].start for zone in (EAST, west))
    assert here - east == 17 * 3600 - 86_400 and read_when("yesterday", late, west)[0].holds(here + 3600)


def test_both_searches_read_a_time_in_the_zone_of_the_process(in_tokyo, store):
    """At eight in the morning in Tokyo it is still the day before at UTC: the two call another day yesterday."""
    yesterday, before = (datetime(2026, 11, day, hour, tzinfo=EAST).timestamp() for day, hour in ((25, 5), (24, 19)))
    now = datetime(2026, 11, 26, 8, tzinfo=EAST).timestamp()
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        source = store.progress.begin_source("/t.jsonl")
        for name, at in (("one", yesterday), ("two", before)):
            text = f"Redis was restarted, {name}"
            store.memories.add(Draft(text, MemoryType.FACT, GLOBAL, Author.MACHINE, observed_at=at), "t")
            message = Message(name, name, Role.USER, text, at, "/srv", 0)
            store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id)
    for asked in ("yesterday", "redis restarted yesterday"):
        found = recall(store, asked, embedder=None, scopes=None, now=now)
        said = search_archive(store, asked, scopes=None, now=now)
        assert [result.memory.text for result in found.results] == ["Redis was restarted, one"]
        assert said.hits[0].message.text == "Redis was restarted, one"
        assert asked != "yesterday" or len(said.hits) == 1
        assert all("yesterday: 25 Nov 2026" in answer.notes for answer in (found, said))


@pytest.fixture
def remember(store):
    def add(text, day, confirmed=None):
        at = datetime.fromisoformat(day).timestamp() + 43_200
        with store.transaction():
            store.memories.ensure_scope(GLOBAL_SCOPE)
            memory = store.memories.add(Draft(text, MemoryType.FACT, GLOBAL, Author.MACHINE, observed_at=at), "t")
            if confirmed:
                again = datetime.fromisoformat(confirmed).timestamp() + 43_200
                memory = store.memories.reinforce(memory.id, "t", (), again, 1.0)
        return memory.id

    return add


@pytest.fixture
def ask(store):
    def run(query):
        found = recall(store, query, embedder=None, scopes=None, now=datetime(2026, 11, 26, 10).timestamp())
        return [result.memory.id for result in found.results], " ".join(found.notes)

    return run


def test_a_date_narrows_and_the_answer_says_to_what(remember, ask):
    remember("Redis was dropped for sessions", "2026-09-01")
    inside = remember("Redis got an eviction policy", "2026-11-18")
    found, notes = ask("what about redis last week")
    assert found == [inside] and "last week: 16 Nov 2026 to 22 Nov 2026" in notes
    assert len(ask("what about redis")[0]) == 2


def test_a_memory_belongs_to_when_it_was_said_and_to_when_it_was_confirmed(remember, ask):
    both = remember("Redis holds the sessions", "2026-06-03", confirmed="2026-11-18")
    remember("Redis holds the jobs of the night", "2026-09-01")
    assert ask("redis in June")[0] == ask("redis last week")[0] == [both]


def test_where_nothing_that_fits_is_of_the_time_the_others_are_shown_and_it_is_said(remember, ask):
    other = remember("Redis was dropped for sessions", "2026-09-01")
    remember("Lunch is at noon", "2026-11-18")
    found, notes = ask("redis sessions last week")
    assert found == [other] and "nothing that fits is of last week" in notes


def test_what_hardly_fits_does_not_narrow_for_being_of_the_time():
    when, times = When("last week", start=10.0, end=20.0), {1: (5.0,), 2: (15.0,)}
    assert weighed(when, {1: 0.5, 2: 0.05}, times, False) == {1: 0.5, 2: 0.05}
    assert weighed(when, {1: 0.5, 2: 0.06}, times, False) == {2: 0.06}


def test_a_time_alone_brings_all_of_it_and_nothing_else(remember, ask):
    remember("Redis was dropped", "2026-09-01")
    wanted = {remember("Lunch is at noon", "2026-11-25"), remember("Deploys need a review", "2026-11-25")}
    assert set(ask("what happened yesterday?")[0]) == set(ask("yesterday")[0]) == wanted
    found, notes = ask("what happened in May?")
    assert found == [] and "nothing that fits is of in May (1 May 2026 to 31 May 2026)" in notes


def test_before_an_event_prefers_what_was_said_before_it(remember, ask):
    remember("The migration of sessions to postgres is done", "2026-10-10")
    old = remember("Sessions are stored in redis with a ttl", "2026-08-01")
    new = remember("Sessions are stored in postgres with a job", "2026-11-01")
    before, notes = ask("how were sessions stored before the migration")
    after, _ = ask("how are sessions stored after the migration")
    assert before.index(old) < before.index(new) and after.index(new) < after.index(old)
    assert "before the migration: taken as before 10 Oct 2026, by m1" in notes


def test_an_event_nobody_noted_changes_nothing(remember, ask):
    kept = remember("Sessions are stored in redis", "2026-08-01")
    assert ask("sessions before the outage") == ([kept], "no embedding model: keywords only")
    remember("The outage of billing began at noon", "2026-07-01")
    assert "taken as" not in ask("sessions before the search outage")[1], "it was another outage"


def test_the_latest_prefers_the_newest_confirmed_value(remember, ask):
    remember("The api port is 9090 since the move", "2025-03-01")
    newest = remember("The port of the api is 7070, after many other changes to the setup", "2025-06-01")
    remember("The api port is 8080", "2025-01-01")
    assert ask("the latest api port")[0][0] == newest
    assert ask("what is the current api port")[0][0] == newest
    assert ask("api port")[0][0] != newest


def test_the_latest_is_the_one_confirmed_last_of_those_that_compete_and_of_no_others():
    latest = When("latest", latest=True)
    times = {1: (1.0, 9.0), 2: (5.0, 5.0), 3: (20.0, 20.0)}
    assert weighed(latest, {1: 0.8, 2: 0.8, 3: 0.1}, times, False) == {1: 0.8, 2: pytest.approx(0.56), 3: 0.1}
    assert weighed(latest, {1: 0.8, 3: 0.1}, times, False) == {1: 0.8, 3: 0.1}, "one alone is not the oldest"
    assert weighed(latest, {1: 0.8, 3: 0.4}, times, False) == {1: pytest.approx(0.56), 3: 0.4}


def test_a_name_beside_a_time_is_no_question_for_the_time_alone():
    assert read_query("yesterday", NOW).time_alone and not read_query('"happened" yesterday', NOW).time_alone


def test_scope_and_type_hold_for_times_as_well(store, remember):
    remember("Lunch is at noon", "2026-11-25")
    now = datetime(2026, 11, 26, 10).timestamp()
    for more in ({"scopes": ["p0000000000000000"]}, {"scopes": None, "types": [MemoryType.RULE]}):
        assert recall(store, "what happened yesterday", embedder=None, now=now, **more).results == []
