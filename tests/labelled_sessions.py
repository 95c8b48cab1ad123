"""What a labelled session is, and how the distiller is measured on a set of them.

`keep`: words that all must stand in one memory of that type (any type where none is named). `never`: words that may
stand in no memory. The sets are in labelled_sessions_developed, _held_out, _long, _unseen, _messy, _messy_unseen,
_fresh and _last.
"""

from dataclasses import dataclass

from hippo_core.distill.base import SessionText
from hippo_core.distill.offline import OfflineDistiller
from hippo_core.model.message import Role
from hippo_core.model.scope import project_scope
from hippo_core.store.archive import Archived


@dataclass(frozen=True)
class Labelled:
    name: str
    project: str
    turns: tuple[tuple[str, str], ...]
    keep: tuple[tuple[str | None, tuple[str, ...]], ...] = ()
    never: tuple[str, ...] = ()


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


def memories_per_session(sessions, turns=10) -> float:
    """How many memories a session of at least so many turns yields on average."""
    counts = [len(distil(labelled)) for labelled in sessions if len(labelled.turns) >= turns]
    return sum(counts) / len(counts)
