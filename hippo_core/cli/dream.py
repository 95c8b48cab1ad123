"""`hippo dream` and `hippo undo`: the night's work, and taking it back. Both are the dream room's."""

import dataclasses
import os

import click

from hippo_core import clock, paths
from hippo_core.cli.example import examples
from hippo_core.cli.output import to_json
from hippo_core.cli.rows import memory_json, memory_line
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.store import Store

_MOST_SHOWN = 12
_NIGHTS = 20


@click.command("dream")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def dream_command(as_json: bool) -> None:
    """Do the night's work now: retire what has passed, count what was shown, check and rebuild the indexes."""
    from hippo_core.dream.retire import ALWAYS_ALLOWED, MOST_SHARE
    from hippo_core.dream.run import dream

    if os.environ.get("HIPPO_CHILD"):
        return
    report = dream(paths.current())
    if as_json:
        click.echo(to_json(dataclasses.asdict(report)))
        return
    retirement = report.retirement
    most = f"{MOST_SHARE:.0%} of all, or {ALWAYS_ALLOWED}, is the most in one night"
    rows = []
    if retirement.retired:
        rows.append(
            ("retired", f"{counted(len(retirement.retired), 'memory')}; hippo undo n{retirement.night} takes that back")
        )
    if retirement.left:
        rows.append(("due", f"{retirement.left:,} more, left to later nights: {most}"))
    if report.counted:
        rows.append(("counted", counted(report.counted, "time") + " that a memory was shown or used"))
    if report.embedded:
        rows.append(("vectors", f"for {counted(report.embedded, 'archived message')}, which are found by meaning now"))
    rows += [("mended", line) for line in report.mended]
    if report.rebuilt:
        rows.append(("rebuilt", counted(report.rebuilt, "keyword index")))
    if report.cleared:
        rows.append(("cleared", counted(report.cleared, "half-written file") + " of processes that were killed"))
    say("\n".join(f"  {name:<10}{text}" for name, text in rows) or "Nothing was due.")


@click.command("undo", epilog=examples("hippo undo --list", "hippo undo n12", "hippo undo m41c"))
@click.argument("name", required=False, metavar="[NIGHT|ID]")
@click.option("--list", "listing", is_flag=True, help="List the last nights instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def undo_command(name: str | None, listing: bool, as_json: bool) -> None:
    """Take back what a night (n12), or the last night, changed by itself; or its change of one memory (m41c)."""
    from hippo_core.dream.undo import take_back

    here = paths.current()
    if listing:
        return _list_nights(here, as_json)
    with Store.open(here.store, create=False) as store:
        done = take_back(store, here, name)
        with store.reading():
            labels = {key: scope.label for key, scope in store.memories.scopes().items()}
    if done is None:
        say("{}" if as_json else "No night has changed anything that could be taken back.")
        return
    if as_json:
        restored = [memory_json(memory, labels[memory.scope]) for memory in done.restored]
        click.echo(to_json({"night": done.night, "restored": restored, "kept": done.kept}))
        return
    if done.restored:
        say(f"Taken back from night n{done.night}: {counted(len(done.restored), 'memory')}, found by searches again.")
    else:
        say(f"Nothing of night n{done.night} was taken back.")
    for memory in done.restored[:_MOST_SHOWN]:
        say("  " + memory_line(memory, labels[memory.scope]))
    if len(done.restored) > _MOST_SHOWN:
        say(f"  … and {len(done.restored) - _MOST_SHOWN:,} more")
    for line in done.kept:
        say(line)


def _list_nights(here: paths.Paths, as_json: bool) -> None:
    with Store.open(here.store, readonly=True) as store, store.reading():
        nights = store.nights.recent(_NIGHTS)
    if as_json:
        click.echo(to_json([dataclasses.asdict(night) for night in nights]))
        return
    for night in nights:
        open_ones = "all" if night.open == night.changes else night.open or "none"
        say(
            f"n{night.id:<5} {clock.day(night.began_at):<12} {counted(night.changes, 'memory')} changed, "
            f"{open_ones} can be taken back"
        )
    if not nights:
        say("No night has changed anything yet.")
