"""`hippo nudge`: the line that goes with every prompt. It is a setting; showing it is the hooks' business."""

import click

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.cli.example import examples
from hippo_core.cli.group import Group
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import UsageError
from hippo_core.render import budget


@click.group("nudge", cls=Group)
def nudge_command() -> None:
    """The line that is added to every prompt, against drift of style."""


@nudge_command.command("show")
def show() -> None:
    """The line in force, and what it costs."""
    config = settings.load(paths.current())
    say(f"{config.nudge}\n{_cost(config.nudge)}" if config.nudge else f"The nudge is off. {_way_back(config)}")


@nudge_command.command("set", epilog=examples('hippo nudge set "Answer first, in plain words."'))
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
    say(f"Nudge: {line}\n{_cost(line)}")


@nudge_command.command("on")
def on() -> None:
    """Add the line again: your own, where there was one."""
    config = settings.load(paths.current())
    line = config.nudge or config.nudge_kept or settings.NUDGE
    _save(line)
    say(f"The nudge is on, {_whose(line)}: {line}\n{_cost(line)}")
    if line != settings.NUDGE:
        say("For the standard line instead: hippo nudge reset")


@nudge_command.command("reset")
def reset() -> None:
    """Use the standard line, and drop your own."""
    _save(settings.NUDGE)
    say(f"The nudge is on, {_whose(settings.NUDGE)}: {settings.NUDGE}\n{_cost(settings.NUDGE)}")


@nudge_command.command("off")
def off() -> None:
    """Add nothing to prompts; your line is kept for `hippo nudge on`."""
    config = settings.load(paths.current())
    if config.nudge:  # else it is off already, and what is kept stays kept
        _save("", kept="" if config.nudge == settings.NUDGE else config.nudge)
    say(f"The nudge is off. {_way_back(settings.load(paths.current()))}")
    say("Rules that a prompt's words call for are still named.")


def _way_back(config: settings.Config) -> str:
    line = config.nudge_kept or settings.NUDGE
    return f"To switch it on again, {_whose(line)} ({line}): hippo nudge on"


def _whose(line: str) -> str:
    return "with the standard line" if line == settings.NUDGE else "with your own line"


def _save(line: str, kept: str = "") -> None:
    from hippo_core.render.refresh import refresh
    from hippo_core.store import Store

    here = paths.current()
    settings.save(here, nudge=line, nudge_kept=kept)
    if here.store.exists():  # without a store the hooks are silent, and the first one renders the line
        with Store.open(here.store) as store:
            refresh(store, here)


def _cost(line: str) -> str:
    return f"About {counted(budget.tokens(line), 'token')} a turn, of at most {budget.NUDGE_TOKENS}."
