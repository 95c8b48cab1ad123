"""The whole examination: every check in order, and mending what can be mended. Knows the order, not the checks."""

from collections.abc import Iterable
from dataclasses import dataclass

from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.doctor import folder, house, store
from hippo_core.doctor.base import Check, Finding, Patient, ill
from hippo_core.errors import HippoError, StoreCorruptError, UsageError
from hippo_core.paths import Paths

_FOLDER: tuple[Check, ...] = (
    folder.settings_readable, folder.private, folder.leftovers, folder.locks, folder.disk,
)  # fmt: skip
_STORE: tuple[Check, ...] = (
    store.sound, store.words, store.in_step, store.orphans, store.forgotten, store.transcripts, store.embedder,
    house.rendered,
)  # fmt: skip
_HOUSE: tuple[Check, ...] = (house.plugin, house.reranker, house.scheduler, house.jobs)
_ROUNDS = 3  # mending one thing may show another


@dataclass(frozen=True)
class Mended:
    """What was done about a finding, or why it could not be."""

    check: str
    done: bool
    line: str


def examine(paths: Paths, where: str) -> list[Finding]:
    """What every check says, as seen from the folder `where`. No check can keep another one from being made."""
    try:
        config = settings.load(paths)
    except UsageError:
        config = Config()
    patient = Patient(paths, where, config)
    found = _all(_FOLDER, patient)
    opened = _all((store.opens,), patient)
    found += opened
    if all(finding.ok for finding in opened):
        found += _all(_STORE, patient)
    return found + _all(_HOUSE, patient)


def mend(paths: Paths, where: str) -> tuple[list[Finding], list[Mended]]:
    """Set right what can safely be: what every check says afterwards, and what was done."""
    done: list[Mended] = []
    tried: set[tuple[str, str]] = set()
    found = examine(paths, where)
    for _ in range(_ROUNDS):
        to_do = [finding for finding in found if finding.fix and (finding.check, finding.line) not in tried]
        if not to_do:
            break
        for finding in to_do:
            tried.add((finding.check, finding.line))
            done.append(_mend(finding))
        found = examine(paths, where)
    return found, done


def _mend(finding: Finding) -> Mended:
    try:
        return Mended(finding.check, True, finding.fix())
    except HippoError as error:
        return Mended(finding.check, False, str(error))
    except OSError as error:
        return Mended(finding.check, False, _told(error))


def _all(checks: Iterable[Check], patient: Patient) -> list[Finding]:
    found: list[Finding] = []
    damage = None
    for check in checks:
        try:
            found += check(patient)
        except StoreCorruptError as error:
            damage = error  # most checks meet the same bytes, which is one piece of news
        except HippoError as error:
            found.append(ill(_name(check), str(error), "This could not be looked at.", "try again in a moment"))
        except OSError as error:
            found.append(
                ill(_name(check), _told(error), "This could not be looked at.", "check that the folder is yours")
            )
    if damage and all(finding.ok or finding.check != store.INTEGRITY for finding in found):
        found.append(store.damaged(patient, str(damage)))
    return found


def _told(error: OSError) -> str:
    return f"{error.filename}: {error.strerror or error}"


def _name(check: Check) -> str:
    return check.__name__.replace("_", " ")
