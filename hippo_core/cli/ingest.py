"""`hippo ingest` and `hippo catch-up`: two faces of the one pass. The first talks, the second never does."""

import dataclasses
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hippo_core import paths as places
from hippo_core.cli.example import examples
from hippo_core.cli.output import to_json
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import BusyError

if TYPE_CHECKING:
    from hippo_core.ingest.run import PassReport, Progress

_STEPS = {
    # step: (what a bar is called, what was counted, what was done with it)
    "read": ("Reading transcripts", "transcript", "looked at"),
    "learn": ("Learning from sessions", "session", "learned from"),
    "embed": ("Vectors for memories", "memory", "given vectors"),
}


@click.command("ingest", epilog=examples("hippo ingest", "hippo ingest --now", "hippo ingest --from ~/transcripts"))
@click.option(
    "--from",
    "folders",
    metavar="DIR",
    multiple=True,
    help="A folder of transcripts, instead of Claude Code's own; may be repeated.",
)
@click.option("--embed/--no-embed", default=True, help="Whether new memories get their vectors at once.")
@click.option("--now", "unfinished", is_flag=True, help="Learn from sessions that may still be running, too.")
@click.option("--retry", is_flag=True, help="Try the files again that were set aside.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def ingest_command(folders: tuple[str, ...], embed: bool, unfinished: bool, retry: bool, as_json: bool) -> None:
    """Read transcripts now, and learn from the sessions that are finished."""
    from hippo_core.ingest.run import run_pass
    from hippo_core.transcripts.discover import readable_root

    roots = tuple(map(readable_root, folders)) or (places.client_home() / "projects",)
    with progress(silent=as_json) as show:
        report = run_pass(
            places.current(),
            roots=roots,
            embed=embed,
            unfinished=unfinished,
            retry=retry,
            thorough=True,
            on_progress=show,
        )
    if as_json:
        click.echo(to_json(dataclasses.asdict(report)))
    else:
        say(report_text(report, roots))


@click.command("catch-up")
@click.option("--session", "session_id", metavar="ID", help="A session that is over: it need not rest first.")
@click.option("--archive-only", is_flag=True, help="Only archive; learning is left to a later pass.")
@click.option("--jobs-only", is_flag=True, help="No pass; only the jobs that nobody else runs.")
def catch_up_command(session_id: str | None, archive_only: bool, jobs_only: bool) -> None:
    """What the hooks start when a session begins, pauses or ends: silent, one at a time, always a success."""
    if os.environ.get("HIPPO_CHILD"):
        return
    from hippo_core.log import log_error
    from hippo_core.schedule.choose import run_missed

    paths = places.current()
    for step in (lambda: jobs_only or _catch_up(paths, session_id, archive_only), lambda: run_missed(paths)):
        try:
            step()
        except BusyError:
            pass  # whoever is at work finds the note
        except Exception as error:
            log_error(paths, "catch-up", error)


def _catch_up(paths: places.Paths, session_id: str | None, archive_only: bool) -> None:
    from hippo_core.heartbeat import running
    from hippo_core.ingest.due import note_over
    from hippo_core.ingest.run import run_pass
    from hippo_core.schedule.watch import note_work

    if session_id and not archive_only:
        note_over(paths, session_id)
    with running(paths, "catch-up") as run:
        report = run_pass(paths, roots=(places.client_home() / "projects",), archive_only=archive_only)
        note_work(run, report)


@contextmanager
def progress(silent: bool) -> Iterator["Progress | None"]:
    """A callback that shows a pass at work: bars on a terminal, else one line for each finished step."""
    if silent:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            tasks = {}

            def show(step: str, done: int, total: int) -> None:
                if step not in tasks:
                    tasks[step] = bars.add_task(_STEPS[step][0], total=total)
                bars.update(tasks[step], completed=done, total=total)

            yield show
    else:

        def tell(step: str, done: int, total: int) -> None:
            if done == total:
                _, noun, verb = _STEPS[step]
                click.echo(f"{counted(done, noun)} {verb}", err=True)

        yield tell


def report_text(report: "PassReport", roots: tuple[Path, ...]) -> str:
    learned = f"{counted(report.learned, 'memory')} from {counted(report.sessions, 'session')}"
    if report.confirmed:
        learned += f"; {report.confirmed:,} known already, now confirmed"
    rows = [
        ("read", counted(report.files, "new or changed transcript")),
        ("archived", counted(report.messages, "message")),
        ("learned", learned),
    ]
    embedded = [(report.embedded, "memory"), (report.embedded_messages, "message")]
    if any(number for number, _ in embedded):
        what = " and ".join(counted(number, noun) for number, noun in embedded if number)
        rows.append(("vectors", f"for {what}, which are found by meaning now"))
    if report.waiting:
        rows.append(
            ("waiting", f"{counted(report.waiting, 'session')} that may still be running (--now learns from them, too)")
        )
    if report.bad_lines:
        rows.append(("skipped", counted(report.bad_lines, "unreadable line")))
    if report.failed:
        _, reason = report.failed[0]
        rows.append(
            ("failed", f"{counted(len(report.failed), 'file')}, tried three times at most; the first: {reason}")
        )
    if report.set_aside:
        rows.append(
            ("set aside", f"{counted(report.set_aside, 'file')} that failed three times (--retry tries them again)")
        )
    rows += [("note", note) for note in report.notes]
    missing = [root for root in roots if not root.exists()]
    rows += [("note", f"{root} does not exist, so there was nothing to read.") for root in missing]
    return "\n".join(f"  {name:<10}{text}" for name, text in rows)
