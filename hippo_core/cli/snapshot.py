"""`hippo snapshot`: take, list, show and restore the nightly copies. What is in them is the snapshot room's concern."""

import json
import os
from typing import Any

import click

from hippo_core import clock, paths
from hippo_core.cli.ask import ask
from hippo_core.cli.example import examples
from hippo_core.cli.group import Group
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import on_terminal
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import NotFoundError, SnapshotError
from hippo_core.lock import one_at_a_time
from hippo_core.recall.present import harmless
from hippo_core.snapshot.objects import Commit
from hippo_core.snapshot.repository import Repository, git_program
from hippo_core.snapshot.restore import Plan

_SHORT = 8
_LINE = 100


@click.group("snapshot", cls=Group, invoke_without_command=True)
@click.pass_context
def snapshot_command(ctx: click.Context) -> None:
    """Copies of your rules, your own memories and the settings, each night; without a command, one now."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(take_command)


@snapshot_command.command("take")
def take_command() -> None:
    """Take one now."""
    from hippo_core.snapshot.take import take

    if os.environ.get("HIPPO_CHILD"):
        return
    here = paths.current()
    taken = take(here)
    if taken.note:
        say(taken.note[:1].upper() + taken.note[1:] + ".")
    if taken.new:
        say(f"Taken: {counted(taken.added, 'file')} added, {taken.changed} changed, {taken.removed} removed.")
        say(f"To read: {here.snapshot}")
    elif git_program():
        say("Nothing has changed since the last one.")


@snapshot_command.command("now", hidden=True)
@click.pass_context
def now_command(ctx: click.Context) -> None:
    """The same as `take`."""
    ctx.invoke(take_command)


@snapshot_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(as_json: bool) -> None:
    """All snapshots, the newest first."""
    history = _history()[1][::-1]
    if as_json:
        click.echo(to_json([{"id": one.id, "at": one.at, "holds": one.message} for one in history]))
        return
    for one in history:
        say(f"{on_terminal('head', one.id[:_SHORT])}  {clock.minute(one.at)}  {one.message}")
    if not history:
        say("There are no snapshots yet: hippo snapshot")


@snapshot_command.command("show", epilog=examples("hippo snapshot show latest", "hippo snapshot show 518abe02"))
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: every file's text.")
def show_command(name: str, as_json: bool) -> None:
    """What a snapshot holds."""
    from hippo_core.snapshot.documents import NotADocument, memory_in, read_memory

    repository, history = _history()
    chosen = _chosen(history, name)
    files = repository.files(chosen)
    if as_json:
        texts = {path: data.decode("utf-8", "replace") for path, data in sorted(files.items())}
        click.echo(to_json({"id": chosen.id, "at": chosen.at, "files": texts}))
        return
    say(f"{chosen.id[:_SHORT]}, {clock.minute(chosen.at)}: {chosen.message}")
    for path in sorted(path for path in files if memory_in(path) is not None):
        try:
            kept = read_memory(files[path])
        except NotADocument as error:
            say(f"  {path}: {error}")
            continue
        say(f"  {kept.public_id:<8}{kept.type.value:<14}{_short(kept.text)}")
    others = sorted(path for path in files if memory_in(path) is None and not path.startswith("plugin/"))
    plugin = sum(path.startswith("plugin/") for path in files)
    also = [*others, *([f"the plugin ({counted(plugin, 'file')})"] if plugin else [])]
    say(f"  also: {', '.join(also)}")


@snapshot_command.command("restore", epilog=examples("hippo snapshot restore latest --dry-run"))
@click.argument("name", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Show what it would do, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_command(name: str, dry_run: bool, yes: bool) -> None:
    """Bring back rules, your own memories and settings as they were. Nothing is taken away."""
    from hippo_core.snapshot.restore import carry_out, plan
    from hippo_core.snapshot.take import take
    from hippo_core.store import Store

    here = paths.current()
    repository, history = _history()
    files = repository.files(_chosen(history, name))
    with Store.open(here.store) as store:
        made = plan(store, here, files)
        say("\n".join(_plan_lines(made)))
        if made.nothing or dry_run:
            return
        if not yes:
            ask("Do that?", left="Nothing was changed")
        take(here)  # so that this, too, can be taken back
        carry_out(store, here, made)
    say("Done. What was there before is the snapshot that was just taken: hippo snapshot list")


def _plan_lines(made: Plan) -> list[str]:
    lines = [f"+ {kept.public_id:<8}{_short(kept.text)}" for kept in made.add]
    for memory, kept in made.change:
        lines += [
            f"~ {memory.public_id:<8}{_short(memory.text)}",
            f"  {'->':<8}{_short(kept.text)}{_facts(memory, kept)}",
        ]
    lines += [f"~ setting {name}: {_value(name, now)} -> {_value(name, then)}" for name, now, then in made.settings]
    moved = (f"~ project {key} goes on as {label} ({identity})" for key, (_, label, identity) in made.projects.items())
    lines += map(harmless, moved)
    lines += [f"! {path} is left out: {reason}" for path, reason in made.unreadable]
    lines += [f"! {kept.public_id} is left out: the guard does not let it in" for kept in made.refused]
    if made.nothing:
        lines.append("Everything in that snapshot is there as it was.")
    if made.stays:
        ids = ", ".join(memory.public_id for memory in made.stays[:10])
        more = ", .." if len(made.stays) > 10 else ""
        lines.append(f"Newer than that snapshot, and left as they are: {ids}{more}")
    return lines


def _facts(memory: Any, kept: Any) -> str:
    """What changes beside the words."""
    pairs = [(name, getattr(memory, name), getattr(kept, name)) for name in ("type", "domain", "always", "pinned")]
    return "".join(
        f"; {name}: {getattr(now, 'value', now)} -> {getattr(then, 'value', then)}"
        for name, now, then in pairs
        if now != then
    )


def _value(name: str, value: Any) -> str:
    """A setting as it may be shown; an address may hold a password."""
    if name == "alerts" and isinstance(value, list):
        return f"{len(value)} set"
    return _short(json.dumps(value, ensure_ascii=False))


def _history() -> tuple[Repository, list[Commit]]:
    here = paths.current()
    repository = Repository(here.snapshot)
    if not repository.exists:
        return repository, []
    if git_program() is None:
        raise SnapshotError("There is no git on this machine, which snapshots are read with. Install git.")
    if repository.between_histories:
        from hippo_core.snapshot.take import JOB, PATIENCE

        with one_at_a_time(here, JOB, wait=PATIENCE):
            repository.finish_exchange()
    return repository, repository.history()


def _chosen(history: list[Commit], name: str) -> Commit:
    wanted = name.strip().lower()
    found = [one for one in history if len(wanted) >= 4 and one.id.startswith(wanted)]
    if wanted == "latest" and history:
        return history[-1]
    if len(found) != 1:
        raise NotFoundError(f"There is no snapshot {name!r}. See: hippo snapshot list")
    return found[0]


def _short(text: str) -> str:
    from hippo_core.render.fence import one_line

    return one_line(text, _LINE)
