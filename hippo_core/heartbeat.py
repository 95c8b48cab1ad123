"""The heartbeat of a job: when it last ran, when it last did work, and how that went. One small file a job.

The two times are apart because a job can run for weeks, succeed each time, and bring nothing in. Knows no job by name
and judges nothing; what is late or silent is the monitor's to say.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hippo_core import clock
from hippo_core.errors import BusyError, HippoError
from hippo_core.paths import Paths, write_atomic

OK, FAILED, BUSY = "ok", "failed", "busy"
_LONGEST_ERROR = 500
_YEAR_9999 = 253_370_764_800.0  # no later time can be written as a date


@dataclass(frozen=True)
class Beat:
    """last_worked: the last run that brought rows in; None before the first.

    result: "ok", "failed", "busy" (another process did the same just then), or a few words of the job's own. error: why
    the last run failed; None when it did not.
    """

    last_ran: float
    last_worked: float | None
    result: str
    counts: dict[str, int]
    error: str | None


@dataclass
class Run:
    """A run under way. The job sets what it did; `worked` means rows that arrived, not an exit code."""

    worked: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    result: str = OK


def beat(paths: Paths, job: str, *, worked: bool, counts: dict[str, int], error: str | None, result: str) -> Beat:
    """Write the heartbeat of a run that ends now."""
    now, before = clock.now(), read(paths, job)
    last_worked = now if worked else before.last_worked if before else None
    new = Beat(now, last_worked, result, dict(counts), _shortened(error))
    write_atomic(_file(paths, job), json.dumps(asdict(new), ensure_ascii=False).encode("utf-8", "backslashreplace"))
    return new


def read(paths: Paths, job: str) -> Beat | None:
    """A job's heartbeat; None when it never ran, or when the file is damaged, which the next run mends."""
    try:
        raw = json.loads(_file(paths, job).read_bytes())
        worked, error = raw["last_worked"], raw["error"]
        return Beat(
            last_ran=_moment(raw["last_ran"]),
            last_worked=None if worked is None else _moment(worked),
            result=str(raw["result"]),
            counts={str(name): int(number) for name, number in raw["counts"].items()},
            error=None if error is None else str(error),
        )
    except (OSError, ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError):
        return None


@contextlib.contextmanager
def running(paths: Paths, job: str) -> Iterator[Run]:
    """Take the block for a run of `job` and write its heartbeat, also when the block raises; the error goes on.

    A heartbeat that cannot be written costs the job nothing: a silent job is what the monitor looks for.
    """
    run, error = Run(), None
    try:
        yield run
    except BusyError:
        run.result = BUSY
        raise
    except BaseException as raised:
        run.result, error = FAILED, _reason(raised)
        raise
    finally:
        with contextlib.suppress(OSError):
            beat(paths, job, worked=run.worked, counts=run.counts, error=error, result=run.result)


def _moment(at: float | str) -> float:
    """A time that a calendar knows; ValueError for what a clock gone mad left behind."""
    moment = float(at)
    if not 0 <= moment < _YEAR_9999:
        raise ValueError("no moment of any calendar")
    return moment


def _reason(error: BaseException) -> str:
    """An error of ours in its own words. Any other may quote what no guard has seen, so only its name is kept."""
    return str(error) if isinstance(error, HippoError) else type(error).__name__


def _shortened(error: str | None) -> str | None:
    if error is None:
        return None
    from hippo_core.guard.redact import redact

    return " ".join(redact(error).split())[:_LONGEST_ERROR]


def _file(paths: Paths, job: str) -> Path:
    return paths.run / "heartbeat" / f"{job}.json"
