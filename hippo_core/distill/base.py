"""What a distiller is: a finished session in, a handful of typed sentences out. No storage, no reconciling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hippo_core.model.memory import Draft
from hippo_core.store.archive import Archived


@dataclass(frozen=True)
class SessionText:
    """What a distiller sees. messages: the new ones, in order. context: those already distilled before them.

    scope: the scope key its project-bound memories get. project: the project's label.
    """

    session_id: str
    scope: str
    project: str
    messages: Sequence[Archived]
    context: Sequence[Archived] = ()


class Distiller(Protocol):
    """name: what status and the journal call it. paid_by: who pays for a call, in words for the user."""

    name: str
    paid_by: str

    def distill(self, session: SessionText) -> list[Draft]:
        """At most eight machine-authored drafts that stand on their own; none from a trivial session."""
        ...
