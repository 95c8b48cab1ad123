"""Memories that more than one sentence makes: an error and its remedy, a decision and its subject; and lone halves."""

import pytest

from hippo_core.distill.base import SessionText
from hippo_core.distill.offline import OfflineDistiller
from hippo_core.model.message import Role
from hippo_core.model.types import MemoryType
from hippo_core.store.archive import Archived

SCOPE = "p00000000000000aa"
USER, AGENT = Role.USER, Role.ASSISTANT


def distil(*turns, agents=()):
    messages = [
        Archived(n, f"u{n}", "s1", dict(agents).get(n), SCOPE, role, None, text, float(n), None)
        for n, (role, text) in enumerate(turns, 1)
    ]
    return OfflineDistiller().distill(SessionText("s1", SCOPE, "api", messages))


def texts(*turns, **more):
    return [draft.text for draft in distil(*turns, **more)]


FAILED = "Running pytest failed with `ImportError: No module named 'pydantic'`."
PINNED = "I pinned pydantic to 2.7 in requirements.txt, and pytest passes now: 214 tests."
MENDED = (
    "Running pytest failed with `ImportError: No module named 'pydantic'`. "
    "Fixed: pinned pydantic to 2.7 in requirements.txt, and pytest passes now: 214 tests."
)


def test_an_error_the_agent_finds_and_fixes_itself_is_one_memory():
    (draft,) = distil((USER, "run the tests"), (AGENT, FAILED), (AGENT, PINNED))
    assert draft.text == MENDED
    assert draft.type is MemoryType.INSIGHT and draft.sources == ("u2", "u3")


def test_error_and_fix_in_one_message_have_one_source():
    (draft,) = distil((AGENT, f"{FAILED}\n\n{PINNED}"))
    assert draft.text == MENDED and draft.sources == ("u1",)


def test_a_problem_the_user_told_and_the_agent_proved_fixed_needs_no_confirmation():
    (draft,) = distil(
        (USER, "The importer crashes on empty files."),
        (AGENT, "I added a length check to `read_rows()` in `load.py`. The tests pass again."),
    )
    assert draft.text == (
        "In api: The importer crashes on empty files. Fixed: added a length check to `read_rows()` in `load.py`."
    )
    assert draft.sources == ("u1", "u2")


@pytest.mark.parametrize(
    "after",
    [
        "I pinned pydantic to 2.7 in requirements.txt.",
        "I pinned pydantic to 2.7 in requirements.txt, so pytest should pass now.",
        "I pinned pydantic to 2.7 in requirements.txt, but pytest still fails.",
        "I pinned pydantic to 2.7 in requirements.txt. Let me check that pytest passes now.",
        "I'll pin pydantic to 2.7. All 214 tests pass now.",
    ],
)
def test_without_a_deed_and_the_word_that_it_worked_nothing_is_mended(after):
    assert not [text for text in texts((AGENT, FAILED), (AGENT, after)) if "ImportError" in text]


def test_the_deed_of_another_task_mends_nothing():
    found = texts(
        (USER, "The importer crashes on empty files."),
        (USER, "First add a --limit flag to `csvq`, we need it for the demo today."),
        (AGENT, "I added the flag to `args.py`. All 61 tests pass now."),
    )
    assert not [text for text in found if "crashes" in text]


def test_what_a_sub_agent_does_is_not_the_remedy_of_its_parents_error():
    found = texts((AGENT, FAILED), (AGENT, PINNED), agents=[(2, "a1")])
    assert not [text for text in found if "ImportError" in text]


def test_of_several_deeds_the_one_that_speaks_of_the_error_is_the_remedy():
    unrelated = "I renamed `run.sh` to `start.sh`."
    assert MENDED in texts((AGENT, FAILED), (AGENT, unrelated), (AGENT, PINNED))
    unclear = "I moved `a.py` to `lib/`. I added `b.py` to the list. The tests pass now."
    assert not [text for text in texts((AGENT, FAILED), (AGENT, unclear)) if "Fixed" in text]


@pytest.mark.parametrize(
    "complaint",
    [
        "The checkout API is timing out under load.",
        "Rate limiting keeps rejecting our partners.",
        "Users report that `Quantity` isn't hashable since 2.0.",
        "The nightly import takes 40 minutes to finish.",
        "Our staging database is slow on Mondays.",
    ],
)
def test_a_users_complaint_is_no_lasting_fact(complaint):
    assert not texts((USER, complaint), (AGENT, "I'll have a look."))


def test_a_solved_complaint_is_kept_with_its_remedy_only():
    found = texts(
        (USER, "Rate limiting keeps rejecting our partners."),
        (AGENT, "I raised the burst to 200 in `limits.toml`. The partner tests pass again."),
    )
    assert len(found) == 1
    assert "Rate limiting keeps rejecting our partners. Fixed: raised the burst to 200 in `limits.toml`." in found[0]


def test_a_symptom_that_is_the_reason_of_a_decision_is_kept_with_it():
    (text,) = texts((USER, "We replaced Celery with arq because its workers keep hanging on Redis."))
    assert "arq" in text and "hanging" in text


def test_a_decision_on_a_bare_number_keeps_the_sentence_that_says_of_what():
    (draft,) = distil((USER, "Set the pool size to 20. We decided on 20 because Postgres allows 100 connections."))
    assert draft.text == ("In api: Set the pool size to 20. We decided on 20 because Postgres allows 100 connections.")
    assert draft.type is MemoryType.DECISION


def test_a_decision_on_something_unnamed_is_dropped():
    assert not texts((USER, "We decided on 20 because Postgres allows 100 connections."))
    assert not texts((USER, "Thanks for the list. We chose it because our partners know it."))


def test_a_deed_on_it_names_the_thing_or_is_dropped():
    panics = "Writing to a closed pipe panics in `println!`."
    assert texts((AGENT, f"{panics} I replaced it with `writeln!` because of that bug.")) == [
        "Replaced `println!` with `writeln!` because of that bug."
    ]
    assert not texts((AGENT, "I compared `a.py` with `b.py`. I replaced it with `c.py` because of a bug."))


def test_a_sentence_goes_on_after_code_that_ends_in_a_mark():
    (text,) = texts((AGENT, "The trick is to call `panic!` only in `main.rs` because workers are not unwound."))
    assert text.endswith("because workers are not unwound.")
