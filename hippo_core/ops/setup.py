"""What of the installation needs the packages: stage, read the transcripts, register, show what came of it.

Run by install.py with the new environment's Python: `python -m hippo_core.ops.setup --source CHECKOUT`. Knows the order
and the words of the summary; how each thing is done is known elsewhere.
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hippo_core import clock
from hippo_core import config as configuration
from hippo_core import paths as places
from hippo_core.counting import counted, where_sessions_are
from hippo_core.errors import HippoError, ScheduleError, VectorsUnavailableError
from hippo_core.ingest.run import PassReport, run_pass
from hippo_core.ops import client, link, venv
from hippo_core.ops.client import Registration
from hippo_core.ops.stage import stage_plugin
from hippo_core.ops.status import NOBODY, look
from hippo_core.ops.steps import Step, step, use_utf8
from hippo_core.paths import Paths
from hippo_core.recall.pipeline import Recall, recall
from hippo_core.recall.present import recall_text
from hippo_core.recall.query import read_query
from hippo_core.record import Record
from hippo_core.schedule import choose
from hippo_core.store import Store

_STEPS = {  # of a pass: (what our step is called, what it counts)
    "read": ("reading transcripts", "transcript"),
    "learn": ("learning from them", "session"),
    "embed": ("vectors", "memory"),
}
_WAIT = 120.0  # seconds for a catch-up that a session's end has started
_CANDIDATES = 200  # memories among which the example is looked for
_PHRASE = 4  # words of the example's question, at most


def main(arguments: Sequence[str] | None = None) -> int:
    use_utf8()
    parser = argparse.ArgumentParser(prog="python -m hippo_core.ops.setup")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--from", dest="folders", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    try:
        set_up(places.current(), options.source, options.folders)
    except HippoError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130  # install.py has the words for it
    return 0


def set_up(paths: Paths, source: Path, folders: Sequence[Path]) -> None:
    """Make the installation at `paths` work, whatever of it is there already."""
    record = Record(paths)
    Store.open(paths.store).close()
    stage_plugin(source, paths, str(venv.interpreter_of(paths.venv)))
    with _progress() as on_progress:
        report = run_pass(
            paths,
            roots=folders or [places.client_home() / "projects"],
            unfinished=True,
            wait=_WAIT,
            on_progress=on_progress,
        )
    link.place(paths, record)
    registration = client.register(paths, record)
    print("\n".join(_summary(paths, report, registration, _schedule(paths))))
    print("\n".join([*_example(paths), *_left(registration)]), flush=True)


def _schedule(paths: Paths) -> str:
    """Register the jobs, unless the user took them out; how that stands, for people."""
    if choose.switched_off(paths):
        return f"switched off, and stay so until you run: {link.typed(paths)} schedule install"
    try:
        done = choose.install(paths, venv.interpreter_of(paths.venv))
    except ScheduleError as error:
        return str(error).removeprefix("The jobs are ")
    except OSError as error:
        return f"not registered: {error}"
    return f"{done.jobs} registered with {done.scheduler.title}"


@contextlib.contextmanager
def _progress() -> Iterator:
    """A callback for run_pass that shows each of its steps as one of ours."""
    running: dict[str, Step] = {}

    def on_progress(name: str, done: int, total: int) -> None:
        if name not in running:
            running[name] = open_steps.enter_context(step(_STEPS[name][0]))
        running[name].at(done, total)
        if done == total:
            running[name].note = counted(total, _STEPS[name][1])
            open_steps.close()

    with contextlib.ExitStack() as open_steps:
        yield on_progress


def _summary(paths: Paths, report: PassReport, registration: Registration, jobs: str) -> list[str]:
    status = look(paths, None)
    with Store.open(paths.store, readonly=True) as store, store.reading():
        first, last = store.archive.span()
    days = dict.fromkeys(clock.day(at) for at in (first, last) if at is not None)
    period = f", {' to '.join(days)}" if days else ""
    where = where_sessions_are(status.sessions, status.projects, status.outside_projects)
    said_in = f" of {where}" if status.messages else ""
    free = status.paid_by == NOBODY
    learned = sum(status.memories.values()) - status.by_you
    rows = [
        ("read", f"{_count(status.files, 'transcript')}{_of_them_new(report.files, status.files)}{period}"),
        ("archived", f"{_count(status.messages, 'message')}{said_in}; nothing leaves this machine"),
        ("learned", f"{_count(learned, 'memory')}; offline: no model was called{', nobody pays' * free}"),
        *([("yours", f"{_count(status.by_you, 'memory')} in your own words")] if status.by_you else []),
        *([] if free else [("pays", status.paid_by)]),
        ("store", f"{paths.store}, {status.bytes / 1e6:,.1f} MB"),
        ("jobs", jobs),
        ("command", link.advice(paths)),
        ("plugin", registration.line if registration.done else "not registered: see the last lines"),
    ]
    title = (
        "Hippocampus is ready." if registration.done else "Hippocampus is ready but for one step, in the last lines."
    )
    lines = ["", title, *(f"  {name:<10}{value}" for name, value in rows)]
    if report.failed:
        path, reason = report.failed[0]
        lines.append(f"  {'skipped':<10}{_count(len(report.failed), 'file')} could not be read: {path} ({reason})")
    return lines + [f"  {'note':<10}{note}" for note in report.notes]


def _left(registration: Registration) -> list[str]:
    """What the user has to do before any session gets memory; the last thing to be read."""
    if registration.done:
        return []
    what = "One step is left: Claude Code does not know the plugin yet, so no session gets memory."
    return ["", what, registration.line, *(f"    {command}" for command in registration.commands)]


def _of_them_new(new: int, total: int) -> str:
    """How many of the transcripts this run has read."""
    if not total:
        return ""
    return " (all new)" if new == total else f" ({new:,} new or changed)" if new else " (none new)"


def _count(number: int, noun: str) -> str:
    """A number of things in words: no files, 1 file, 2 files, 2 memories."""
    words = counted(number, noun)
    return words if number else "no" + words.removeprefix("0")


def _example(paths: Paths) -> list[str]:
    """One real recall from what was just read, with a question taken from a memory's own words."""
    config = configuration.load(paths)
    with Store.open(paths.store, readonly=True) as store:
        with store.reading():
            newest = store.memories.select(limit=_CANDIDATES)
        embedder = None
        if newest and config.embedder != "off":
            with contextlib.suppress(VectorsUnavailableError):
                from hippo_core.embed.choose import open_embedder

                embedder = open_embedder(config)
        for memory in sorted(newest, key=lambda memory: -memory.importance):
            question = _phrase(memory.text)
            found = question and recall(store, question, embedder=embedder, scopes=None, k=1, config=config)
            if found and found.results:
                return _shown(paths, found)
    return [
        "",
        f"Nothing to recall yet: memories come from finished sessions. Later: {link.typed(paths)} recall QUESTION",
    ]


def _shown(paths: Paths, found: Recall) -> list[str]:
    return ["", f'Try it:  {link.typed(paths)} recall "{found.query}"', *recall_text(found).splitlines()]


def _phrase(text: str) -> str:
    """The longest run of content words in `text`, as a question; empty where there are no two together."""
    best: list[str] = []
    run: list[str] = []
    for token in text.split():
        word = token.strip("`'\"()[]{}<>,.;:!?*")
        plain = word.isalpha() and bool(read_query(word).words)
        run = [*run, word] if plain else []
        if len(best) < len(run) <= _PHRASE:
            best = run
        if word != token.rstrip("`'\""):
            run = []  # punctuation ends a phrase
    return " ".join(best) if len(best) > 1 else ""


if __name__ == "__main__":
    sys.exit(main())
