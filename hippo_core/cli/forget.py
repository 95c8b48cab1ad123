"""`hippo forget`: shows what would go, asks, and lets curate.forget take it out."""

import dataclasses
from collections.abc import Sequence
from itertools import groupby

import click

from hippo_core import paths
from hippo_core.cli.ask import ask
from hippo_core.cli.example import examples
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import on_terminal
from hippo_core.cli.rows import cut, memory_line, message_line
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.curate.forget import Doomed, Forgotten, Why, copies, forget, what_would_go
from hippo_core.errors import UsageError
from hippo_core.model.memory import Memory
from hippo_core.store import Store
from hippo_core.store.archive import Archived

_MOST_SHOWN = 12
_WHY = {
    Why.NAMED: "you named",
    Why.HOLDS: "holds “{query}”",
    Why.REPEATS: "holds the same words",
    Why.SOURCE: "{other} was learned from it",
    Why.LEARNED: "learned from {other}, which goes",
}


@click.command("forget", epilog=examples("hippo forget m41c --dry-run", 'hippo forget --query "the old password"'))
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Everything that holds TEXT, in any case, instead of ids.")
@click.option("--dry-run", is_flag=True, help="Show what would go, and why, and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep-archive", is_flag=True, help="Forget the memories, keep the messages they came from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def forget_command(
    ids: tuple[str, ...], query: str | None, dry_run: bool, yes: bool, keep_archive: bool, as_json: bool
) -> None:
    """Delete memories and archived messages for good, with all that was derived from them."""
    if bool(ids) == (query is not None):
        raise UsageError('Name what to forget: ids (hippo forget m41c a3f2), or a text (hippo forget --query "TEXT").')
    here = paths.current()
    with Store.open(here.store, create=False) as store:
        doomed = what_would_go(store, ids, query, keep_archive=keep_archive)
        beside = copies(here, doomed.texts) if doomed.nothing else []
        if doomed.nothing and not beside:
            say("{}" if as_json else "Nothing in memory holds that; nothing was deleted.")
            return
        if dry_run and as_json:
            earlier = dict.fromkeys(doomed.wordings, "stays, without an earlier wording")
            rows = {public_id: why.value for public_id, why in doomed.why.items()}
            click.echo(to_json(rows | earlier | dict.fromkeys(beside, Why.HOLDS.value)))
        elif beside and not as_json:
            say(f"No memory and no message holds that. It would be taken out of: {', '.join(beside)}.")
        elif not as_json:
            say("\n".join(_preview(store, doomed, cut(query or ""))))
        if dry_run:
            return
        if not yes:
            ask("Delete all of it for good?", left="Nothing was deleted")
        done = forget(store, here, doomed)
    if as_json:
        click.echo(to_json(dataclasses.asdict(done)))
    else:
        say("\n".join(_report(done, keep_archive)))


def _preview(store: Store, doomed: Doomed, query: str) -> list[str]:
    """What would go, below the reason why; and what would stay with --keep-archive."""
    with store.reading():
        labels = {key: scope.label for key, scope in (store.archive.projects() | store.memories.scopes()).items()}
    because_of, order = doomed.because_of, list(_WHY)

    def reason(row: Memory | Archived) -> tuple[int, str]:
        why = doomed.why[row.public_id]
        return order.index(why), _WHY[why].format(query=query, other=because_of.get(row.public_id, ""))

    rows = sorted((*doomed.memories, *doomed.messages), key=reason)
    lines = [f"To be deleted for good: {_amount(len(doomed.memories), len(doomed.messages), doomed.wordings)}."]
    for (_, words), group in groupby(rows[:_MOST_SHOWN], reason):
        lines += [on_terminal("faint", f"  {words}:"), *(f"    {_line(row, labels)}" for row in group)]
    if len(rows) > _MOST_SHOWN:
        lines.append(f"    … and {len(rows) - _MOST_SHOWN:,} more")
    if doomed.wordings:
        ids = ", ".join(doomed.wordings[:_MOST_SHOWN]) + (", …" if len(doomed.wordings) > _MOST_SHOWN else "")
        lines.append(f"What {ids} said earlier holds it, too, and goes; what it says now stays.")
    if doomed.repeats:
        lines.append(
            f"Such short words are left in {counted(doomed.repeats, 'further row')}; to take them along: "
            "hippo forget --query TEXT"
        )
    said = {doomed.why[message.public_id] for message in doomed.messages}
    if doomed.memories and said and Why.NAMED not in said:
        lines.append("To delete memories alone, and keep all that was said: the same with --keep-archive")
    return lines


def _line(row: Memory | Archived, labels: dict[str, str]) -> str:
    label = labels.get(row.scope, row.scope)
    return memory_line(row, label) if isinstance(row, Memory) else message_line(row, label)


def _report(done: Forgotten, keep_archive: bool) -> list[str]:
    if done.memories or done.messages or done.wordings:
        lines = [f"Forgotten: {_amount(done.memories, done.messages, done.wordings)}. Searches no longer find it."]
    else:
        lines = ["Forgotten: it was beside the memories alone."]
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


def _amount(memories: int, messages: int, wordings: Sequence[str]) -> str:
    rows = f"{counted(memories, 'memory')}, {counted(messages, 'message')}"
    return f"{rows}, what {counted(len(wordings), 'memory')} said earlier" if wordings else rows
