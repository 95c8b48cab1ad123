"""`hippo watch`: one pass over the transcripts now, or one every hour for as long as the command runs."""

import dataclasses
import os
import sys
import time

import click

from hippo_core import paths as places
from hippo_core.cli.example import examples
from hippo_core.cli.ingest import progress, report_text
from hippo_core.cli.output import to_json
from hippo_core.cli.say import say
from hippo_core.errors import HippoError


@click.command("watch", epilog=examples("hippo watch --once", "hippo watch --every 30"))
@click.option("--once", is_flag=True, help="One pass, then the end: what the schedulers call.")
@click.option("--backstop", is_flag=True, help="Do not wait for sessions to rest, and compare files by their bytes.")
@click.option("--retry", is_flag=True, help="Try the files again that were set aside.")
@click.option(
    "--every",
    metavar="MINUTES",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Between two passes.",
)
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def watch_command(once: bool, backstop: bool, retry: bool, every: float, as_json: bool) -> None:
    """Read new transcripts, and learn from the sessions that have rested."""
    if os.environ.get("HIPPO_CHILD"):
        return
    while True:
        try:
            _pass(backstop, retry, as_json)
        except HippoError as error:
            if once:
                raise
            click.echo(str(error), err=True)
        if once:
            return
        time.sleep(every * 60)


def _pass(backstop: bool, retry: bool, as_json: bool) -> None:
    from hippo_core.schedule.watch import roots, watch

    paths = places.current()
    with progress(silent=as_json or not sys.stderr.isatty()) as show:
        report = watch(paths, backstop=backstop, retry=retry, on_progress=show)
    if as_json:
        click.echo(to_json(dataclasses.asdict(report)))
    else:
        say(report_text(report, tuple(roots(paths))))
