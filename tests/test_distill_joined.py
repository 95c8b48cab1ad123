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


def test_a_problem_that_the_agent_mended_and_the_user_confirmed_is_told_once():
    drafts = distil(
        (USER, "The importer crashes on empty files."),
        (AGENT, "I added a length check to `read_rows()` in `load.py`. The tests pass again."),
        (AGENT, "The fix is to drop rows without a column separator before `parse()` sees the header line."),
        (USER, "that fixed it"),
    )
    (told,) = [draft for draft in drafts if "crashes" in draft.text]
    assert told.sources == ("u1", "u3", "u4")


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


def test_an_answer_that_picks_one_of_two_is_a_decision_with_its_question_and_reason():
    (draft,) = distil(
        (USER, "mbtiles or vector tiles from our own server?"),
        (AGENT, "The former need more space, the latter a style file."),
        (USER, "Vector tiles. Users complained about the download size more than about anything else."),
    )
    assert draft.type is MemoryType.DECISION and draft.sources == ("u1", "u3")
    assert draft.text == (
        'In api: Asked "mbtiles or vector tiles from our own server?", the user chose: Vector tiles. '
        "Users complained about the download size more than about anything else."
    )


def test_an_answer_to_what_the_agent_offered_is_a_decision():
    offer = "There are two ways: keep sessions in Redis, or keep sessions in Postgres"
    (text,) = texts((AGENT, f"{offer}."), (USER, "let's go with Postgres then"))
    assert text == f'Offered "{offer}", the user chose: Postgres.'


@pytest.mark.parametrize(
    "answer", ["yes", "both please", "maybe Redis", "Redis or Postgres", "what about SQLite?", "go on"]
)
def test_an_answer_that_picks_nothing_is_no_decision(answer):
    offer = (AGENT, "There are two ways: keep sessions in Redis, or keep sessions in Postgres.")
    assert not [text for text in texts(offer, (USER, answer)) if "chose" in text]


def test_what_was_built_and_where_is_kept_and_small_edits_are_not():
    built = "I added `FragmentCache` in `app/cache/fragments.py`, which drops pages by their edit time."
    (draft,) = distil((AGENT, built))
    assert draft.type is MemoryType.ARCHITECTURE and draft.text == built[2:].replace("added", "Added")
    for edit in (
        "I added the import of `os` in `app/run.py`.",
        "Added a comment to `app/run.py`.",
        "I updated `a.py`.",
    ):
        assert not texts((AGENT, edit))


def test_figures_without_a_unit_and_compared_figures_are_results():
    for told in (
        "Macro F1 fell from 0.93 to 0.81 with sites kept apart.",
        "An epoch takes 3 minutes instead of 41 minutes.",
        "`csvq` runs in 0.02 s on a file of 2 GB.",
    ):
        assert [draft.type for draft in distil((AGENT, told))] == [MemoryType.RESULT], told


def test_a_consequence_is_told_after_what_it_follows_from():
    (text,) = texts((AGENT, "`load_orders` appends instead of merging. So every retry inserts the same orders again."))
    assert text == "`load_orders` appends instead of merging. So every retry inserts the same orders again."


def test_a_long_session_about_many_things_yields_five_to_eight_memories():
    drafts = distil(
        (USER, "The invoice export crashes for customers without a VAT number."),
        (AGENT, "Let me look at the export first."),
        (AGENT, "The crash comes from `format_vat()` in `export/vat.py`: it calls `.strip()` on None."),
        (AGENT, "I made `format_vat()` return an empty string for None. The export tests pass again."),
        (USER, "good. where should the exports go, S3 or the local disk?"),
        (AGENT, "Both work; S3 costs a little, the disk fills up."),
        (USER, "S3. The accountants have to reach the files without a VPN."),
        (AGENT, "I added `S3Target` in `export/targets.py`, which writes one object per month."),
        (USER, "Always write the exports in ISO-8859-15, DATEV cannot read UTF-8."),
        (AGENT, "Understood. The bucket's name is read from `EXPORT_BUCKET`, which must be set in the environment."),
        (AGENT, "Exporting March went from 95 s to 12 s with the new query."),
        (USER, "Tomasz owns the DATEV contract, ask Tomasz before changing the columns."),
        (AGENT, "Noted. We still need to delete exports after ten years."),
        (USER, "ok, commit that"),
        (AGENT, "Committed."),
    )
    assert 5 <= len(drafts) <= 8
    told = " ".join(draft.text for draft in drafts)
    for part in ("format_vat", "S3", "ISO-8859-15", "EXPORT_BUCKET", "12 s", "Tomasz"):
        assert part in told, part
    assert len({draft.type for draft in drafts}) >= 4


@pytest.mark.parametrize(
    "denial", ["no, uploads still fail", "it still fails for me", "that didn't help", "same error"]
)
def test_what_the_user_denies_next_was_not_mended(denial):
    mended = (AGENT, "I set `client_max_body_size` to 5m in `nginx.conf`. Uploads work now.")
    assert [t for t in texts((USER, "Uploads fail with a 413."), mended, (USER, "ok, next")) if "Fixed" in t]
    assert not [t for t in texts((USER, "Uploads fail with a 413."), mended, (USER, denial)) if "Fixed" in t]


def test_passing_tests_do_not_prove_that_something_slow_is_fast():
    slow = (USER, "The search page is slow.")
    deed = "I moved the counting out of `search()` in `views.py`."
    assert not [t for t in texts(slow, (AGENT, f"{deed} All 12 tests pass now.")) if "Fixed" in t]
    assert [t for t in texts(slow, (AGENT, f"{deed} A search takes 0.2 s instead of 3 s.")) if "Fixed" in t]


@pytest.mark.parametrize(
    ("offer", "answer"),
    [
        ("Do you want me to commit or push?", "commit"),
        ("Should I run the tests or commit first?", "run the tests"),
        ("Would you like me to add tests now, or move on to the docs?", "move on to the docs"),
        ("Should I continue with step 2 or stop here?", "continue"),
    ],
)
def test_what_to_do_next_is_no_decision(offer, answer):
    assert not texts((AGENT, offer), (USER, answer))


@pytest.mark.parametrize(
    "talk",
    [
        (USER, "our API must be down"),
        (USER, "You must be kidding"),
        (USER, "don't install anything"),
        (AGENT, "Added `x-large` to `Button.tsx`."),
        (AGENT, "Looks good, but the tests never ran."),
    ],
)
def test_words_of_the_moment_are_no_memory(talk):
    assert not texts(talk)
