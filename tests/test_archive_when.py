"""Times in a question to the archive: what was said then comes first, and the answer tells what was made of it."""

from datetime import datetime

import pytest

from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.archive import search_archive

API, WEB = project_scope("example.org/team/api", "api"), project_scope("example.org/team/web", "web")
NOW = datetime(2026, 11, 26, 10).timestamp()


@pytest.fixture
def say(store):
    count = 0

    def add(day, *texts, session=None, scope=API, role=Role.USER, withheld=None):
        nonlocal count
        with store.transaction():
            source = store.progress.begin_source(f"/{session or day}.jsonl")
            for text in texts:
                count += 1
                at = datetime.fromisoformat(day).timestamp() + 43_200 + count if day else None
                message = Message(f"u{count}", session or str(day), role, text, at, "/srv", count)
                store.archive.append(message, scope=scope, source_id=source.id, withheld=withheld)

    return add


@pytest.fixture
def ask(store):
    def run(query, scopes=None, k=5):
        answer = search_archive(store, query, scopes=scopes, k=k, now=NOW)
        return [hit.message.text for hit in answer.hits], " ".join(answer.notes)

    return run


OLD, NEW = "redis evicts sessions when its memory is full", "redis evicts sessions when memory of it is full"


@pytest.mark.parametrize(
    ("asked", "first", "span"),
    [
        ("why does redis evict sessions, last week?", NEW, "last week: 16 Nov 2026 to 22 Nov 2026"),
        ("why does redis evict sessions in June", OLD, "in June: 1 Jun 2026 to 30 Jun 2026"),
        ("redis evicts sessions since October", NEW, "since October: since 1 Oct 2026"),
        ("redis evicts sessions before 2026-07-01", OLD, "before 2026-07-01: before 1 Jul 2026"),
    ],
)
def test_what_was_said_at_the_time_comes_first_and_the_answer_says_which_days(say, ask, asked, first, span):
    say("2026-06-10", OLD)
    say("2026-11-18", NEW)
    found, notes = ask(asked)
    assert found[0] == first and len(found) == 2 and span in notes


def test_what_was_said_at_another_time_is_still_found_and_the_answer_says_that_it_is(say, ask):
    say("2026-06-10", OLD)
    say("2026-11-18", "lunch is at noon")
    found, notes = ask("redis evicts sessions last week")
    assert found == [OLD] and "nothing that fits is of last week (16 Nov 2026 to 22 Nov 2026)" in notes


def test_a_much_better_answer_of_another_time_stays_first(say, ask):
    say("2026-06-10", OLD)
    say("2026-11-18", "redis was mentioned")
    assert ask("redis evicts sessions when memory is full, last week")[0][0] == OLD


def test_a_busy_year_does_not_hide_a_quiet_week(say, ask):
    for number in range(900):
        say("2026-06-10", "redis was restarted" if number % 2 else "lunch was late", session=f"busy{number}")
    say("2026-11-18", "redis was restarted, once more")
    assert "once more" in ask("redis restarted last week")[0][0]


def test_in_a_session_that_went_on_the_turn_of_that_time_speaks_for_it(say, ask):
    say("2026-06-10", OLD, session="long")
    say("2026-11-18", NEW, session="long")
    assert ask("redis evicts sessions last week", k=1)[0] == [NEW]
    assert ask("redis evicts sessions in June", k=1)[0] == [OLD]


def test_a_time_alone_brings_how_each_session_of_it_began_the_latest_first(say, ask):
    say("2026-06-10", OLD)
    say("2026-11-25", "fix the login page", "and its colours", session="a")
    say("2026-11-25", "deploy the api", session="b")
    say("2026-11-25", "withheld words", session="c", withheld="a password")
    say("2026-11-25", "somebody else's", session="d", scope=WEB)
    found, notes = ask("what did we work on yesterday?", scopes=[API.key])
    assert found == ["deploy the api", "fix the login page"] and "yesterday: 25 Nov 2026" in notes
    found, notes = ask("what happened in May?")
    assert found == [] and "nothing that fits is of in May (1 May 2026 to 31 May 2026)" in notes


def test_before_an_event_prefers_what_was_said_before_the_memory_that_dates_it(store, say, ask):
    at = datetime(2026, 10, 10).timestamp()
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        draft = Draft("The migration to postgres is done", MemoryType.FACT, GLOBAL, Author.MACHINE, observed_at=at)
        memory = store.memories.add(draft, "t")
    say("2026-06-10", OLD)
    say("2026-11-18", NEW)
    before, notes = ask("why did redis evict sessions before the migration")
    assert before[0] == OLD and f"before the migration: taken as before 10 Oct 2026, by {memory.public_id}" in notes
    assert ask("why does redis evict sessions after the migration")[0][0] == NEW


def test_an_event_that_no_memory_dates_changes_nothing(say, ask):
    say("2026-06-10", OLD)
    assert ask("redis evicts sessions before the outage") == ([OLD], "no embedding model: keywords only")


def test_the_latest_prefers_what_was_said_last(say, ask):
    say("2026-11-18", NEW)
    say("2026-06-10", OLD)
    assert ask("the latest on how redis evicts sessions when its memory is full")[0][0] == NEW


@pytest.mark.parametrize("asked", ["can you recommend something, last week", "?! last week", "in June please"])
def test_words_of_asking_and_a_time_are_no_error(say, ask, asked):
    say("2026-11-18", NEW)
    assert ask(asked)[0] in ([], [NEW])


def test_what_has_no_date_is_of_no_time_and_is_found(say, ask):
    say(None, OLD)
    assert ask("redis evicts sessions last week")[0] == [OLD]


def test_the_words_of_a_time_are_looked_for_as_well(say, ask):
    say("2026-11-20", "the fun run of May is cancelled, as the one of June was")
    say("2026-11-20", "the fun run of March is cancelled, as the one of June was", session="march")
    assert "March" in ask("the fun run in March")[0][0]


def test_a_time_in_a_long_prompt_is_not_that_of_what_is_looked_for(say, ask):
    say("2026-06-10", OLD)
    say("2026-11-18", NEW)
    prompt = "redis evicts sessions, its memory is full, on the machine bought last week with fans and cables and disks"
    assert "last week" not in ask(prompt)[1] and ask(prompt)[0]


def test_nobody_has_to_have_said_the_name_of_the_month(say, ask):
    say("2026-06-10", "redis was restarted")
    assert ask("redis in June 2026")[0] == ["redis was restarted"]
