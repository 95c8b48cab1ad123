"""What a check is and what it says. Knows no check."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hippo_core.config import Config
from hippo_core.paths import Paths


@dataclass(frozen=True)
class Finding:
    """What one check found. line: how it stands; means, do: what follows from it and what helps, where it is not well.

    fix: sets it right and says what it did; None where only the user can.
    """

    check: str
    ok: bool
    line: str
    means: str = ""
    do: str = ""
    fix: Callable[[], str] | None = None


@dataclass(frozen=True)
class Patient:
    """What is examined. folder: where the command was given; config: the defaults where the settings cannot be read."""

    paths: Paths
    folder: str
    config: Config


Check = Callable[[Patient], Iterable[Finding]]


def well(check: str, line: str) -> Finding:
    return Finding(check, True, line)


def ill(check: str, line: str, means: str, do: str, fix: Callable[[], str] | None = None) -> Finding:
    return Finding(check, False, line, means, do, fix)
