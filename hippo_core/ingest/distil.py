"""The distil step: a session's new messages become memories, in one transaction with the session's watermark.

Knows neither how sentences are found (distill) nor what becomes of a draft (reconcile).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hippo_core.distill.base import Distiller, SessionText
from hippo_core.ingest.reconcile import Outcome, reconcile
from hippo_core.model.scope import GLOBAL_SCOPE, Scope
from hippo_core.store import Store
from hippo_core.store.archive import Archived

ACTOR = "distil"


@dataclass
class DistilReport:
    """sessions: how many were distilled. outcomes: what became of their drafts."""

    sessions: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    @property
    def learned(self) -> int:
        """Memories that are new."""
        return self.outcomes[Outcome.ADD] + self.outcomes[Outcome.SUPERSEDE]


def distil_sessions(
    store: Store,
    distiller: Distiller,
    sessions: Sequence[str],
    on_progress: Callable[[int, int], None] | None = None,
) -> DistilReport:
    """Distil what is new in each of these sessions. A crash costs at most the session at hand."""
    report = DistilReport()
    with store.reading():
        scopes = {**store.archive.projects(), GLOBAL_SCOPE.key: GLOBAL_SCOPE}
    for count, session_id in enumerate(sessions, 1):
        _distil_session(store, distiller, session_id, scopes, report)
        if on_progress:
            on_progress(count, len(sessions))
    return report


def _distil_session(
    store: Store, distiller: Distiller, session_id: str, scopes: dict[str, Scope], report: DistilReport
) -> None:
    with store.reading():
        done = store.progress.distilled_to(session_id)
        messages = store.archive.session(session_id)
    new = [message for message in messages if message.id > done]
    if not new:
        return
    scope = scopes[_main_scope(new)]
    session = SessionText(session_id, scope.key, scope.label, new, [m for m in messages if m.id <= done])
    drafts = distiller.distill(session)
    with store.transaction():
        if drafts:
            store.memories.ensure_scope(scope)
            store.memories.ensure_scope(GLOBAL_SCOPE)
        for draft in drafts:
            report.outcomes[reconcile(store, draft, ACTOR)] += 1
        store.progress.save_distilled(session_id, new[-1].id)
    report.sessions += 1


def _main_scope(messages: Sequence[Archived]) -> str:
    """The project that most of these messages belong to."""
    return Counter(message.scope for message in messages).most_common(1)[0][0]
