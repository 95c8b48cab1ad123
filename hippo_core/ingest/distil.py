"""The distil step: a session's new messages become memories, in one transaction with the session's watermark.

Most sessions give nothing; how far these were read is written with the next one that does, or at the end.

Knows neither how sentences are found (distill) nor what becomes of a draft (reconcile).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hippo_core.distill.base import Distiller, SessionText
from hippo_core.errors import HippoError
from hippo_core.guard.trust import may_become
from hippo_core.ingest.reconcile import Outcome, reconcile
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL_SCOPE, Scope
from hippo_core.store import Store
from hippo_core.store.archive import Archived

ACTOR = "distil"
_MOST_WAITING = 50  # watermarks; read again for nothing after a pass that was killed


@dataclass
class DistilReport:
    """sessions: how many were distilled. outcomes: what became of their drafts. failed: (session, error), due again."""

    sessions: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failed: list[tuple[str, str]] = field(default_factory=list)

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
    """Distil what is new in each of these sessions. One that the distiller fails on costs only itself.

    Raises StoreError when the store fails; what earlier sessions gave is kept.
    """
    report = DistilReport()
    with store.reading():
        scopes = {**store.archive.projects(), GLOBAL_SCOPE.key: GLOBAL_SCOPE}
        done = store.progress.distilled_to(sessions)
    waiting: dict[str, int] = {}
    for count, session_id in enumerate(sessions, 1):
        try:
            _distil_session(store, distiller, session_id, done.get(session_id, 0), scopes, report, waiting)
        except HippoError:
            raise
        except Exception as error:  # whatever a session holds, the others must not suffer
            report.failed.append((session_id, f"{type(error).__name__}: {error}"))
        if len(waiting) >= _MOST_WAITING or (waiting and count == len(sessions)):
            with store.transaction():
                store.progress.save_distilled(waiting)
            waiting.clear()
        if on_progress:
            on_progress(count, len(sessions))
    return report


def _distil_session(
    store: Store,
    distiller: Distiller,
    session_id: str,
    done: int,
    scopes: dict[str, Scope],
    report: DistilReport,
    waiting: dict[str, int],
) -> None:
    """Distil one session. done: the number of its last message that was. waiting: the watermarks of sessions that gave
    nothing, which this one may join.
    """
    with store.reading():
        messages = store.archive.session(session_id)
    new = [message for message in messages if message.id > done]
    if not new:
        return
    scope = scopes[_main_scope(new)]
    session = SessionText(session_id, scope.key, scope.label, new, [m for m in messages if m.id <= done])
    drafts = [draft for draft in distiller.distill(session) if _is_trusted(draft, messages)]
    if not drafts:
        waiting[session_id] = new[-1].id
        report.sessions += 1
        return
    outcomes: Counter[Outcome] = Counter()
    with store.transaction():
        for known in (scope, GLOBAL_SCOPE):
            store.memories.ensure_scope(known)
        for draft in drafts:
            outcomes[reconcile(store, draft, ACTOR)] += 1
        store.progress.save_distilled({**waiting, session_id: new[-1].id})
    waiting.clear()
    report.outcomes += outcomes
    report.sessions += 1


def _is_trusted(draft: Draft, messages: Sequence[Archived]) -> bool:
    """Whether every message that a draft comes from may be distilled, and may say what it says."""
    sources = [message for message in messages if message.uid in draft.sources]
    return bool(sources) and all(
        message.withheld is None and may_become(draft.type, message.role) for message in sources
    )


def _main_scope(messages: Sequence[Archived]) -> str:
    """The project that most of these messages belong to."""
    return Counter(message.scope for message in messages).most_common(1)[0][0]
