"""`hippo ingest` and `hippo catch-up`: two faces of the one pass. The first talks, the second never does."""

import dataclasses
import json
import os
from pathlib import Path

import click

from hippo_core import paths as places
from hippo_core.ingest.run import PassReport, run_pass

_END_WAITS = 300.0  # seconds for another pass to finish


@click.command("ingest")
@click.option("--from", "folders", multiple=True, type=click.Path(path_type=Path), help="A folder of transcripts.")
@click.option("--embed/--no-embed", default=True, help="Give new memories their vectors.")
@click.option("--now", "unfinished", is_flag=True, help="Learn from sessions that may still be running, too.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def ingest_command(folders: tuple[Path, ...], embed: bool, unfinished: bool, as_json: bool) -> None:
    """Read transcripts now: Claude Code's own, or those below each --from."""
    roots = folders or (places.client_home() / "projects",)
    report = run_pass(places.current(), roots=roots, embed=embed, unfinished=unfinished)
    click.echo(json.dumps(dataclasses.asdict(report)) if as_json else _text(report))


@click.command("catch-up")
@click.option("--session", "session_id", help="A session that is over.")
@click.option("--archive-only", is_flag=True)
def catch_up_command(session_id: str | None, archive_only: bool) -> None:
    """What the hooks start when a session ends or pauses: silent, and one at a time."""
    if os.environ.get("HIPPO_CHILD"):
        return
    run_pass(
        places.current(),
        roots=(places.client_home() / "projects",),
        sessions_done=(session_id,) if session_id else (),
        archive_only=archive_only,
        # The last pause and the end of a session come together, and only the latter knows that the session is over.
        wait=0.0 if archive_only else _END_WAITS,
    )


def _text(report: PassReport) -> str:
    return f"read {report.files} files, archived {report.messages} messages, learned {report.learned} memories"
