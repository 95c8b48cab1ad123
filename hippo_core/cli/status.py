"""`hippo status`: one screen, or JSON. What is looked at is ops.status's concern."""

import dataclasses
import json
import os

import click

from hippo_core import clock, paths
from hippo_core.cli.recall import current_folder, on_terminal
from hippo_core.counting import counted
from hippo_core.ops.status import Status, look

_TYPES_SHOWN = 5


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status_command(as_json: bool) -> None:
    """Is it working, what does it hold, what does it cost, what needs you."""
    status = look(paths.current(), current_folder())
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(status), ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_lines(status)))


def _lines(status: Status) -> list[str]:
    state = "working" if not status.needs else "needs you, see below"
    rows = {
        "store": f"{_home_short(status.store)}  {_bytes(status.bytes)}",
        "learned": _learned(status),
        "archived": f"{counted(status.messages, 'message')} of {counted(status.sessions, 'session')} in "
        f"{counted(status.projects, 'project')}",
        "read": _read(status),
        "search": _search(status),
        "loads": f"{status.always_on:,} tokens at a session's start here, {status.per_prompt:,} with each prompt"
        + (f", as rendered {_ago(status.rendered_at)}" if status.rendered_at else ""),
        "pays": f"{status.paid_by} (sessions are distilled {status.distiller})",
        "plugin": status.plugin,
    }
    lines = [f"Hippocampus {status.version}: {state}"]
    lines += [f"  {on_terminal('head', name.ljust(10))}{value}" for name, value in rows.items()]
    return lines + [on_terminal("number", f"! {need}") for need in status.needs]


def _learned(status: Status) -> str:
    total = sum(status.memories.values())
    if not total:
        return "no memories yet"
    foremost = [f"{number:,} {kind}" for kind, number in list(status.memories.items())[:_TYPES_SHOWN]]
    rest = total - sum(list(status.memories.values())[:_TYPES_SHOWN])
    kinds = ", ".join([*foremost, *([f"{rest:,} other"] if rest else [])])
    return f"{counted(total, 'memory')} of {counted(len(status.scopes), 'scope')}, {status.by_you:,} by you: {kinds}"


def _read(status: Status) -> str:
    parts = [counted(status.files, "transcript")]
    if status.set_aside:
        parts.append(f"{len(status.set_aside)} could not be read")
    if status.bad_lines:
        parts.append(f"{counted(status.bad_lines, 'bad line')} passed over")
    return ", ".join(parts)


def _search(status: Status) -> str:
    if status.embedder == "off" or status.embedder_problem:
        return "by keywords only"
    model = "a model on this machine" if status.embedder == "local" else status.embedder
    waiting = f"; {status.without_vectors:,} memories wait for vectors" if status.without_vectors else ""
    return f"by keywords and by meaning ({model}{waiting})"


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.2f} GB"


def _ago(then: float) -> str:
    age = clock.ago(then)
    return age if age in ("today", "yesterday") else f"{age} ago"


def _home_short(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + os.sep) else path
