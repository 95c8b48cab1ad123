"""How much of what matters the offline distiller finds, and how much else it brings, on labelled sessions."""

import pytest
from labelled_sessions import DEVELOPED, HELD_OUT, Labelled

from hippo_core.distill.base import SessionText
from hippo_core.distill.offline import OfflineDistiller
from hippo_core.model.message import Role
from hippo_core.model.scope import project_scope
from hippo_core.store.archive import Archived


def distil(labelled: Labelled):
    scope = project_scope(f"example.org/{labelled.project}", labelled.project)
    messages = [
        Archived(number, f"u{number}", "s1", None, scope.key, Role(role), None, text, float(number), None)
        for number, (role, text) in enumerate(labelled.turns, 1)
    ]
    return OfflineDistiller().distill(SessionText("s1", scope.key, labelled.project, messages))


def answers(draft, wanted) -> bool:
    kind, words = wanted
    return kind in (None, draft.type.value) and all(word.casefold() in draft.text.casefold() for word in words)


def precision_and_recall(sessions) -> tuple[float, float]:
    """Share of the memories that were wanted, and share of the wanted that were found."""
    drafts = right = wanted = found = 0
    for labelled in sessions:
        memories = distil(labelled)
        drafts += len(memories)
        right += sum(any(answers(draft, want) for want in labelled.keep) for draft in memories)
        wanted += len(labelled.keep)
        found += sum(any(answers(draft, want) for draft in memories) for want in labelled.keep)
    return right / drafts, found / wanted


@pytest.mark.parametrize("labelled", DEVELOPED + HELD_OUT, ids=lambda labelled: labelled.name)
def test_what_is_only_in_the_way_is_never_kept(labelled):
    kept = [draft.text for draft in distil(labelled)]
    assert not [text for text in kept for word in labelled.never if word.casefold() in text.casefold()]


def test_precision_and_recall_where_the_cues_were_developed():
    precision, recall = precision_and_recall(DEVELOPED)
    assert precision >= 0.95 and recall >= 0.95


def test_precision_and_recall_on_sessions_no_cue_was_written_for():
    precision, recall = precision_and_recall(HELD_OUT)
    assert precision >= 0.85 and recall >= 0.75
