"""When somebody is told of a finding: once, again only if it lasts, once more when it is over. Pure.

An alert is raised when its finding has stood for its patience, and repeated while it stands after 1, 3 and 7 days and
then each week; from the first repetition on it is urgent. It is over when two looks in a row, at least ten minutes
apart, do not find it any more, so that what comes and goes is one alert. Knows no channel, no file, no quiet hours.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hippo_core import clock
from hippo_core.monitor.checks import Finding

REPEATS = (1 * clock.DAY, 3 * clock.DAY, 7 * clock.DAY)
THEN_EVERY = 7 * clock.DAY
SETTLED = 600.0
RAISED, REPEATED, OVER = "raised", "repeated", "over"


@dataclass(frozen=True)
class Alert:
    """What is known of one key. raised: when somebody was first told; None while the finding only waits.

    told: how many times since. gone: when it was first not found any more.
    """

    text: str
    grave: bool
    found: float
    raised: float | None = None
    told: int = 0
    gone: float | None = None


@dataclass(frozen=True)
class Notice:
    """Something to tell. urgent: quiet hours do not hold it back."""

    kind: str
    key: str
    text: str
    urgent: bool
    at: float


State = Mapping[str, Alert]


def step(
    state: State, found: Sequence[Finding], now: float, *, muted: bool = False, unknown: Collection[str] = ()
) -> tuple[dict[str, Alert], list[Notice]]:
    """The state after a look, and what is to be told.

    muted: nobody is told; what still stands afterwards is, then. unknown: keys that this look could not judge.
    """
    after: dict[str, Alert] = {}
    notices: list[Notice] = []
    for finding in found:
        alert, notice = _stands(state.get(finding.key), finding, now, muted)
        after[finding.key] = alert
        notices += [notice] if notice else []
    for key, alert in state.items():
        if key in unknown and key not in after:
            after[key] = alert
        elif key not in after:
            kept, notice = _is_gone(key, alert, now, muted)
            if kept:
                after[key] = kept
            notices += [notice] if notice else []
    return after, notices


def standing(state: State) -> dict[str, Alert]:
    """The alerts that were raised and are not over, by key, the gravest and oldest first."""
    raised = {key: alert for key, alert in state.items() if alert.raised is not None and alert.gone is None}
    return dict(sorted(raised.items(), key=lambda item: (not item[1].grave, item[1].found)))


def _stands(alert: Alert | None, finding: Finding, now: float, muted: bool) -> tuple[Alert, Notice | None]:
    alert = alert or Alert(finding.text, finding.grave, now)
    alert = replace(alert, text=finding.text, grave=finding.grave, gone=None, found=min(alert.found, now))
    if alert.raised is not None:  # by a clock that was put back since, it would be silent until then
        alert = replace(alert, raised=min(alert.raised, now))
    if muted:
        return alert, None
    if alert.raised is None:
        if now - alert.found < finding.patience:
            return alert, None
        return replace(alert, raised=now, told=1), Notice(RAISED, finding.key, finding.text, finding.grave, now)
    if now - alert.raised < _due(alert.told):
        return alert, None
    told = alert.told
    while now - alert.raised >= _due(told):  # after a long sleep only the newest repetition counts
        told += 1
    return replace(alert, told=told), Notice(REPEATED, finding.key, finding.text, True, now)


def _due(told: int) -> float:
    """Seconds after it was raised at which an alert that was told so many times is told again."""
    if told <= len(REPEATS):
        return REPEATS[told - 1]
    return REPEATS[-1] + (told - len(REPEATS)) * THEN_EVERY


def _is_gone(key: str, alert: Alert, now: float, muted: bool) -> tuple[Alert | None, Notice | None]:
    if alert.raised is None:
        return None, None
    if alert.gone is None:
        return replace(alert, gone=now), None
    if muted or 0 <= now - alert.gone < SETTLED:
        return alert, None
    return None, Notice(OVER, key, alert.text, False, now)
