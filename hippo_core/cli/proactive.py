"""`hippo proactive`: whether memories are added to prompts unasked. A setting: the tool server adds them."""

import click

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.cli.say import say


@click.command("proactive")
@click.argument("switch", required=False, type=click.Choice(["on", "off"]))
def proactive_command(switch: str | None) -> None:
    """Memories that bear on a prompt, or on a sub-agent's task, are added to it unasked: show, or switch on or off."""
    from hippo_core.proactive.notes import MOST_A_TURN, MOST_FOR_AN_AGENT, SESSION_TOKENS, TURN_TOKENS

    here = paths.current()
    if switch is not None:
        settings.save(here, proactive=switch == "on")
    if settings.load(here).proactive:
        say(
            f"Proactive recall is on: at most {MOST_A_TURN} memories with a prompt, only sure ones, none twice in a "
            f"session, at most {TURN_TOKENS} tokens a turn and {SESSION_TOKENS:,} a session; at most "
            f"{MOST_FOR_AN_AGENT} with a sub-agent's task. To switch it off: hippo proactive off"
        )
    else:
        say("Proactive recall is off. To switch it on: hippo proactive on")
