"""`hippo status`: one screen, or JSON. What is looked at is ops.status's concern."""

import dataclasses
import os

import click

from hippo_core import clock, paths
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import current_folder, on_terminal
from hippo_core.cli.say import say
from hippo_core.counting import counted, where_sessions_are
from hippo_core.ops.moving import JobState, MovingParts
from hippo_core.ops.status import NOBODY, Status, look
from hippo_core.usage import Used

_TYPES_SHOWN, _SCOPES_SHOWN = 5, 5


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status_command(as_json: bool) -> None:
    """Is it working, what does it hold, what does it cost, what needs you."""
    status = look(paths.current(), current_folder())
    if as_json:
        click.echo(to_json(dataclasses.asdict(status)))
    else:
        say("\n".join(_lines(status)))


def _lines(status: Status) -> list[str]:
    state = "working" if not status.needs else "needs you, see below"
    rows = {
        "plugin": status.plugin,
        "jobs": _scheduler(status.moving),
        **{f"  {job.name}": _job(job) for job in status.moving.jobs if job.last_ran is not None},
        "alerts": _alerts(status.moving),
        "store": _store(status),
        "memories": _memories(status),
        "in projects": _scopes(status),
        "archived": _archived(status),
        "read": _read(status),
        "search": _search(status),
        "loads": f"{status.always_on:,} tokens at a session's start here, {status.per_prompt:,} with each prompt"
        + (f", as of {clock.since(status.rendered_at)}" if status.rendered_at else ""),
        "pays": f"{_payer(status.paid_by)}; sessions are learned from without a model",
        "used": _used(status),
    }
    lines = [f"Hippocampus {status.version}: {state}"]
    lines += [f"  {on_terminal('head', name.ljust(11))} {value}" for name, value in rows.items() if value]
    return lines + [on_terminal("number", f"! {need}") for need in status.needs]


def _store(status: Status) -> str:
    return f"{_home_short(status.store)}  {_bytes(status.bytes)}, of which the archive {_bytes(status.archive_bytes)}"


def _memories(status: Status) -> str:
    total = sum(status.memories.values())
    if not total:
        return "none yet"
    foremost = [counted(number, kind) for kind, number in list(status.memories.items())[:_TYPES_SHOWN]]
    rest = total - sum(list(status.memories.values())[:_TYPES_SHOWN])
    kinds = ", ".join([*foremost, *([f"{rest:,} other"] if rest else [])])
    return f"{total:,} ({status.by_you:,} written by you): {kinds}"


def _scopes(status: Status) -> str:
    foremost = [f"{number:,} {label}" for label, number in list(status.scopes.items())[:_SCOPES_SHOWN]]
    rest = len(status.scopes) - len(foremost)
    return ", ".join(foremost) + (f", and {rest:,} more" if rest else "")


def _scheduler(moving: MovingParts) -> str:
    if moving.scheduler is None:
        started = "started by nobody; sessions that end read their own transcripts"
    elif moving.scheduler == "hooks":
        started = "started by the client's hooks, which work while there are sessions"
    else:
        started = f"started by {moving.scheduler}"
    never = [job.name for job in moving.jobs if job.last_ran is None]
    waiting = f"; not run yet: {', '.join(never)}" if never else ""
    return started + waiting


def _job(job: JobState) -> str:
    worked = "no work so far" if job.last_worked is None else f"did work {clock.recently(job.last_worked)}"
    trouble = ": FAILED" if job.error else ", LATE" if job.late else ""
    return f"ran {clock.recently(job.last_ran)}, {worked}{trouble}"


def _alerts(moving: MovingParts) -> str:
    if moving.muted_until is not None:
        return f"muted until {clock.minute(moving.muted_until)}"
    if moving.alert is None:
        return "none so far"
    over = "" if moving.alert.standing else ", over"
    return f"last {clock.recently(moving.alert.at)}{over}: {moving.alert.text}"


def _archived(status: Status) -> str:
    said = f"{counted(status.messages, 'message')} of " + where_sessions_are(
        status.sessions, status.projects, status.outside_projects
    )
    if not status.archive_meaning:
        return f"{said}; searched by keywords only (archive_meaning: false)"
    if not status.messages_waiting:
        return said
    return f"{said}; {counted(status.messages_waiting, 'message')} without vectors so far"


def _read(status: Status) -> str:
    parts = [counted(status.files, "transcript")]
    if status.set_aside:
        given_up = f" ({status.given_up:,} set aside until changed; hippo ingest --retry)" if status.given_up else ""
        parts.append(f"{len(status.set_aside):,} could not be read{given_up}")
    if status.bad_lines:
        parts.append(f"{counted(status.bad_lines, 'unreadable line')} passed over")
    return ", ".join(parts)


def _search(status: Status) -> str:
    local = status.reranker == "local"  # whether it runs, costs loading it
    reader = "; a cross-encoder on this machine is set to order it (hippo doctor tries it)" if local else ""
    return _channels(status) + reader


def _channels(status: Status) -> str:
    if status.embedder == "off" or status.embedder_problem:
        return "by keywords only"
    model = "a model on this machine" if status.embedder == "local" else status.embedder
    waiting = f"; {counted(status.without_vectors, 'memory')} without vectors so far" if status.without_vectors else ""
    return f"by keywords and by meaning ({model}{waiting})"


def _payer(paid_by: str) -> str:
    return f"{paid_by}: offline" if paid_by == NOBODY else paid_by


def _used(status: Status) -> str:
    """What services that cost were asked; not said where nothing ever was and nobody pays."""
    if not status.used:
        return "" if status.paid_by == NOBODY else "nothing so far"
    return f"\n{' ' * 14}".join(map(_of_service, status.used))


def _of_service(use: Used) -> str:
    requests = counted(use.requests_this_month, "request")
    if not use.tokens:
        said = f"{requests} this month, {use.requests:,} in all; it does not say of how many tokens"
    elif not use.requests_this_month:
        said = f"nothing this month, {counted(use.tokens, 'token')} in all"
    else:
        said = f"{counted(use.tokens_this_month, 'token')} this month ({requests}), {use.tokens:,} in all"
    return f"{use.service} {use.model}: {said}"


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


def _home_short(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path
