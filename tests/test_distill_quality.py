"""How much of what matters the offline distiller finds, and how much else it brings, on labelled sessions."""

import pytest
from labelled_sessions import distil, memories_per_session, precision_and_recall
from labelled_sessions_developed import DEVELOPED
from labelled_sessions_fresh import FRESH
from labelled_sessions_held_out import HELD_OUT
from labelled_sessions_last import LAST
from labelled_sessions_long import LONG
from labelled_sessions_messy import MESSY
from labelled_sessions_messy_unseen import MESSY_UNSEEN
from labelled_sessions_unseen import UNSEEN

ALL = DEVELOPED + HELD_OUT + LONG + UNSEEN + MESSY + MESSY_UNSEEN + FRESH + LAST


@pytest.mark.parametrize("labelled", ALL, ids=lambda labelled: labelled.name)
def test_what_is_only_in_the_way_is_never_kept(labelled):
    kept = [draft.text for draft in distil(labelled)]
    assert not [text for text in kept for word in labelled.never if word.casefold() in text.casefold()]


def test_precision_and_recall_where_the_cues_were_developed():
    precision, recall = precision_and_recall(DEVELOPED)
    assert precision >= 0.95 and recall >= 0.95


def test_precision_and_recall_on_sessions_no_cue_was_written_for():
    precision, recall = precision_and_recall(HELD_OUT)
    assert precision >= 0.85 and recall >= 0.75


def test_precision_and_recall_on_longer_sessions():
    for labelled in (LONG, UNSEEN):
        precision, recall = precision_and_recall(labelled)
        assert precision >= 0.9 and recall >= 0.75


def test_precision_and_recall_on_messy_sessions_in_several_languages():
    for labelled in (MESSY, MESSY_UNSEEN, FRESH):
        precision, recall = precision_and_recall(labelled)
        assert precision >= 0.9 and recall >= 0.8


def test_precision_and_recall_on_sessions_that_no_rule_was_changed_for():
    precision, recall = precision_and_recall(LAST)
    assert precision >= 0.8 and recall >= 0.65


@pytest.mark.parametrize("labelled", [one for one in ALL if not one.keep], ids=lambda labelled: labelled.name)
def test_a_session_in_which_nothing_was_said_yields_nothing(labelled):
    assert distil(labelled) == []


def test_a_session_about_several_things_yields_five_to_eight_memories_on_average():
    assert 5 <= memories_per_session(LONG + UNSEEN + MESSY + MESSY_UNSEEN) <= 8
