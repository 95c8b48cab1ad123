"""`hippo forget`: shows what would go, asks, and lets curate.forget take it out."""

import dataclasses
import json
import sys

import click

from hippo_core import paths
from hippo_core.cli.memories import memory_line, message_line
from hippo_core.curate.forget import Doomed, Forgotten, forget, what_would_go
from hippo_core.errors import UsageError
from hippo_core.store import Store

_MOST_SHOWN = 12


@click.command("forget")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Everything that holds TEXT, in any case, instead of ids.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep-archive", is_flag=True, help="Forget the memories, keep the messages they came from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def forget_command(ids: tuple[str, ...], query: str | None, yes: bool, keep_archive: bool, as_json: bool) -> None:
    """Delete memories and archived messages for good, with all that was derived from them."""
    if bool(ids) == (query is not None):
        raise UsageError('Name what to forget: ids (hippo forget m41c a3f2), or a text (hippo forget --query "TEXT").')
    here = paths.current()
    with Store.open(here.store, create=False) as store:
        doomed = what_would_go(store, ids, query, keep_archive=keep_archive)
        if doomed.nothing:
            click.echo("{}" if as_json else "Nothing in memory holds that; nothing was deleted.")
            return
        if not as_json:
            click.echo("\n".join(_preview(store, doomed)))
        if not yes:
            _ask()
        done = forget(store, here, doomed)
    click.echo(json.dumps(dataclasses.asdict(done)) if as_json else "\n".join(_report(done, keep_archive)))


def _ask() -> None:
    if not sys.stdin.isatty():
        raise UsageError("Nothing was deleted: there is no terminal to ask on. To delete it all, repeat with --yes.")
    if not click.confirm("Delete all of it for good?"):
        raise click.Abort


def _preview(store: Store, doomed: Doomed) -> list[str]:
    with store.reading():
        labels = {key: scope.label for key, scope in (store.archive.projects() | store.memories.scopes()).items()}
    rows = [memory_line(memory, labels.get(memory.scope, memory.scope)) for memory in doomed.memories[:_MOST_SHOWN]]
    rows += [message_line(message, labels.get(message.scope, message.scope)) for message in doomed.messages]
    hidden = len(doomed.memories) + len(doomed.messages) - _MOST_SHOWN
    lines = [f"To be deleted for good: {_amount(len(doomed.memories), len(doomed.messages))}."]
    lines += [f"  {row}" for row in rows[:_MOST_SHOWN]]
    if hidden > 0:
        lines.append(f"  … and {hidden:,} more")
    if doomed.repeats:
        lines.append(
            f"{doomed.repeats} further rows hold such short words too and stay; to take them along: "
            "hippo forget --query TEXT"
        )
    return lines


def _report(done: Forgotten, keep_archive: bool) -> list[str]:
    lines = [f"Forgotten: {_amount(done.memories, done.messages)}. Searches no longer find it."]
    if done.unfinished:
        lines.append(done.unfinished)
    elif keep_archive:
        lines.append("The archive still holds the words they came from, as asked.")
    else:
        lines.append("The file was written anew, its log is empty: no byte of it is left in the store.")
    if done.still_in:
        lines.append("The words stay in: " + ", ".join(done.still_in[:5]) + (", …" if len(done.still_in) > 5 else ""))
    if done.transcripts:
        lines.append(
            f"Claude Code's own transcripts are not touched ({len(done.transcripts)} held it, for example "
            f"{done.transcripts[0]}); it is not read from them again."
        )
    return lines


def _amount(memories: int, messages: int) -> str:
    return ", ".join(
        f"{count:,} {one if count == 1 else many}"
        for count, one, many in ((memories, "memory", "memories"), (messages, "message", "messages"))
    )
