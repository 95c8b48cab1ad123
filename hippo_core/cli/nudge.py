"""`hippo nudge`: the line that goes with every prompt. It is a setting; showing it is the hooks' business."""

import click

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.errors import UsageError
from hippo_core.render import budget


@click.group("nudge")
def nudge_command() -> None:
    """The line that is added to every prompt, against drift of style."""


@nudge_command.command("show")
def show() -> None:
    """The line in force, and what it costs."""
    line = settings.load(paths.current()).nudge
    click.echo(f"{line}\n{_cost(line)}" if line else "The nudge is off. To switch it on: hippo nudge on")


@nudge_command.command("set")
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
def set_(words: tuple[str, ...]) -> None:
    """Use a line of your own."""
    from hippo_core.guard.gate import admit
    from hippo_core.render.fence import visible

    line = visible(admit(" ".join(words), users_own=True))
    if budget.tokens(line) > budget.NUDGE_TOKENS:
        raise UsageError(
            f"That is too long for every turn (about {budget.tokens(line)} tokens, at most {budget.NUDGE_TOKENS}). "
            "Shorten it, or make it a rule: hippo rules add TEXT --always"
        )
    _save(line)
    click.echo(f"Nudge: {line}\n{_cost(line)}")


@nudge_command.command("on")
def on() -> None:
    """Use the standard line."""
    _save(settings.NUDGE)
    click.echo(f"Nudge: {settings.NUDGE}\n{_cost(settings.NUDGE)}")


@nudge_command.command("off")
def off() -> None:
    """Add nothing to prompts."""
    _save("")
    click.echo("The nudge is off. Rules that a prompt's words call for are still named.")


def _save(line: str) -> None:
    from hippo_core.render.refresh import refresh
    from hippo_core.store import Store

    here = paths.current()
    settings.save(here, nudge=line)
    if here.store.exists():  # without a store the hooks are silent, and the first one renders the line
        with Store.open(here.store) as store:
            refresh(store, here)


def _cost(line: str) -> str:
    return f"About {budget.tokens(line)} tokens a turn, of at most {budget.NUDGE_TOKENS}."
