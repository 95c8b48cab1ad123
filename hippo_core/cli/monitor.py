"""`hippo monitor`: look whether everything works, and tell whom it concerns; mute that; try the ways alerts go."""

import dataclasses
import os

import click

from hippo_core import clock, paths
from hippo_core import config as settings
from hippo_core.cli.group import Group
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import on_terminal
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import UsageError


@click.group("monitor", cls=Group, invoke_without_command=True)
@click.option("--once", is_flag=True, help="One look, then the end; which is what it does without, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def monitor_command(ctx: click.Context, once: bool, as_json: bool) -> None:
    """Look now whether everything works, and send alerts where that is due."""
    if ctx.invoked_subcommand is None and not os.environ.get("HIPPO_CHILD"):
        from hippo_core.monitor.run import run_once, schedule_of
        from hippo_core.schedule.watch import roots

        here = paths.current()
        _show(run_once(here, schedule_of(here), roots(here)), as_json)


@monitor_command.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_command(as_json: bool) -> None:
    """Look, and tell nobody."""
    from hippo_core.monitor.run import look_only, schedule_of
    from hippo_core.schedule.watch import roots

    here = paths.current()
    _show(look_only(here, schedule_of(here), roots(here)), as_json)


@monitor_command.command("mute")
@click.option("--for", "length", metavar="TIME", help="So long: 30m, 4h, 2d, 1w.")
@click.option("--until", "moment", metavar="TIME", help='Until then, local time: 18:30, or "2026-12-01 18:30".')
def mute_command(length: str | None, moment: str | None) -> None:
    """Send no alert and show no health line until a time."""
    from hippo_core.monitor import hours
    from hippo_core.monitor.run import render, schedule_of

    if (length is None) == (moment is None):
        raise UsageError("Say how long: hippo monitor mute --for 4h, or --until 18:30.")
    here, now = paths.current(), clock.now()
    until = now + hours.parse_duration(length) if length else hours.parse_moment(moment or "", now)
    if not now < until <= now + hours.LONGEST_MUTE:
        raise UsageError(
            "That time is over, or more than 90 days away; a switch that is forgotten must not be for ever."
        )
    hours.mute(here, until)
    if here.render.exists():
        render(here, schedule_of(here), {}, now)
    told = f"Muted until {clock.minute(until)}."
    say(f"{told} What is wrong is logged all the same, and told then if it still is.")


@monitor_command.command("unmute")
def unmute_command() -> None:
    """Send alerts again."""
    from hippo_core.monitor import alerts, hours
    from hippo_core.monitor.run import read_memo, render, schedule_of

    here, now = paths.current(), clock.now()
    was = hours.muted_until(here, now)
    hours.unmute(here)
    if was:
        render(here, schedule_of(here), alerts.standing(read_memo(here).alerts), now)
    say("Alerts are sent again, from the next look on." if was else "Alerts were not muted.")


@monitor_command.command("test")
def test_command() -> None:
    """Send a test message to every address in the settings."""
    from hippo_core.monitor import channels
    from hippo_core.record import installer

    here = paths.current()
    ways = channels.channels(settings.load(here).alerts)
    if not ways:
        raise UsageError(
            f"No address is set, so alerts only go to {here.log / channels.LOG}.\n"
            f"To be told elsewhere: {installer(' --with alerts')}, then add to {here.config}, for example:\n"
            '  "alerts": ["ntfy://your-topic"]'
        )
    problems = 0
    for way in ways:
        problem = channels.send(way, "Hippocampus: a test", "Alerts about your memory will arrive here.", False)
        problems += problem is not None
        channels.write_log(here, "test", f"{way.name}: {problem or 'sent'}")
        say(f"{way.name}: {problem or 'sent'}")
    if problems:
        raise UsageError(f"{problems} of {counted(len(ways), 'address')} did not take it.")


def _show(look, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(dataclasses.asdict(look)))
        return
    lines = [on_terminal("number", f"! {finding.text}") + _detail(finding.detail) for finding in look.found]
    lines = lines or ["All is well."]
    if look.told or look.sent:
        lines.append(f"{len(look.told)} to tell, {look.sent} sent")
    lines += [f"not sent by {name}: {problem}" for name, problem in look.failed.items()]
    if look.waiting:
        lines.append(f"waiting to be sent: {look.waiting}")
    if look.muted_until:
        lines.append(f"muted until {clock.minute(look.muted_until)}: hippo monitor unmute")
    say("\n".join(lines))


def _detail(text: str) -> str:
    return f"\n    {text}" if text else ""
