"""The watcher and its backstop: the one pass over the transcripts, as a job with a heartbeat.

Knows which folders are read and what counts as work; the pass itself is ingest's.
"""

from pathlib import Path

from hippo_core.heartbeat import Run, running
from hippo_core.ingest.run import PassReport, Progress, run_pass
from hippo_core.paths import Paths, client_home
from hippo_core.record import Record


def watch(
    paths: Paths, *, backstop: bool = False, retry: bool = False, on_progress: Progress | None = None
) -> PassReport:
    """One pass. backstop: sessions need not have rested, and files are compared by their bytes, too."""
    with running(paths, "backstop" if backstop else "watch") as run:
        report = run_pass(
            paths, roots=roots(paths), unfinished=backstop, thorough=backstop, retry=retry, on_progress=on_progress
        )
        note_work(run, report)
    return report


def roots(paths: Paths) -> list[Path]:
    """The transcript folders of every client folder that the plugin was registered in, the one in force first."""
    homes = [client_home(), *(Path(folder) for folder in Record(paths).get("clients", {}))]
    return list(dict.fromkeys(home / "projects" for home in homes))


def note_work(run: Run, report: PassReport) -> None:
    """What a pass means for a heartbeat: work is rows that arrived."""
    run.worked = bool(report.messages or report.learned or report.embedded or report.embedded_messages)
    run.counts = {
        "files": report.files,
        "messages": report.messages,
        "learned": report.learned,
        "confirmed": report.confirmed,
        "embedded": report.embedded,
        "embedded_messages": report.embedded_messages,
        "waiting": report.waiting,
        "failed": len(report.failed),
        "set_aside": report.set_aside,
        "bad_lines": report.bad_lines,
    }
