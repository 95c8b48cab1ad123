"""Checks of what surrounds the store: what the hooks read and run, the plugin in the client, scheduler and jobs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from hippo_core import __version__, clock
from hippo_core.counting import counted
from hippo_core.doctor.base import Finding, Patient, ill, well
from hippo_core.errors import HippoError
from hippo_core.paths import client_home
from hippo_core.record import installer
from hippo_core.registration import DISABLED, ENABLED, NOT_REGISTERED, UNKNOWN, plugin_state
from hippo_core.store import Store


def rendered(patient: Patient) -> Iterator[Finding]:
    """Whether what the hooks print is there, whole and what the store and the settings say."""
    from hippo_core.render.refresh import is_current

    files = [path for path in sorted(patient.paths.render.rglob("*.json")) if path.is_file()]
    broken = [path for path in files if not _is_document(path)]
    with Store.open(patient.paths.store, create=False) as store:
        current = is_current(store, patient.paths)
    if broken:
        line = f"{counted(len(broken), 'rendered file')} cannot be read, first {broken[0]}"
    elif not current:
        line = "what the hooks read is missing or older than the store or the settings"
    else:
        yield well("rendered", f"{counted(len(files), 'file')} ready for the hooks, as the store has it")
        return
    yield ill("rendered", line, "Sessions start without memory, or with an old one.", "hippo doctor --fix",
              lambda: _render(patient, broken))  # fmt: skip


def _is_document(path: Path) -> bool:
    """An empty file means that there is nothing to say."""
    try:
        data = path.read_bytes()
        return not data or isinstance(json.loads(data), dict)
    except (OSError, ValueError):
        return False


def _render(patient: Patient, broken: list[Path]) -> str:
    from hippo_core.render.refresh import refresh

    for path in broken:
        path.unlink(missing_ok=True)
    with Store.open(patient.paths.store, create=False) as store:
        refresh(store, patient.paths)
    return "everything that the hooks read was rendered again"


def plugin(patient: Patient) -> Iterator[Finding]:
    """Whether the client has the plugin, of this version, and can start its hooks."""
    state = plugin_state(patient.paths, [client_home()])
    if state == DISABLED:
        yield ill("plugin", "switched off in Claude Code", "No session gets memory or is told to look.",
                  "claude plugin enable hippo@hippocampus")  # fmt: skip
        return
    if state == UNKNOWN:
        yield ill("plugin", f"{client_home() / 'settings.json'} cannot be read", "Claude Code may not have the plugin.",
                  "check that the file is yours")  # fmt: skip
        return
    if state != ENABLED:
        from hippo_core.ops.client import by_hand

        do = ", then ".join(by_hand(patient.paths)) if state == NOT_REGISTERED else installer()
        yield ill("plugin", f"{state} in Claude Code", "No session gets memory.", do)
        return
    problem = _staged_problem(patient.paths.plugin)
    if problem:
        yield ill("plugin", problem, "Hooks are silent or behave as an older version.", installer())
    else:
        yield well("plugin", f"enabled, version {__version__}, its hooks can start")


def _staged_problem(folder: Path) -> str | None:
    """What is wrong with the staged plugin."""
    try:
        version = json.loads((folder / ".claude-plugin" / "plugin.json").read_bytes())["version"]
        manifest = json.loads((folder / "hooks" / "hooks.json").read_bytes())["hooks"]
        commands = [hook for groups in manifest.values() for group in groups for hook in group["hooks"]]
        programs = {hook["command"] for hook in commands if hook["type"] == "command"}
        arguments = {argument for hook in commands for argument in hook.get("args", ())}
        scripts = {one.replace("${CLAUDE_PLUGIN_ROOT}", str(folder)) for one in arguments if one.endswith(".py")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"the staged plugin cannot be read ({error})"
    if version != __version__:
        return f"the staged plugin is version {version}, the programs are {__version__}"
    missing = [program for program in programs if not os.access(program, os.X_OK)]
    missing += [script for script in scripts if not os.path.isfile(script)]
    return f"its hooks need {sorted(missing)[0]}, which cannot be run" if missing else None


def reranker(patient: Patient) -> Iterator[Finding]:
    """Whether the model of the user's own reads a pair of texts. A service is paid for each question, so not asked."""
    from hippo_core.recall.rerankers import open_reranker

    try:
        reader = open_reranker(patient.config)
        if patient.config.reranker == "local":
            reader("a question", [(1, "one answer"), (2, "another answer")])
    except HippoError as error:
        yield ill("reranker", str(error), "What a search finds stays in the order of its score.",
                  f"mend it, or choose another reranker in {patient.paths.config}: local, voyage or off")  # fmt: skip
        return
    if patient.config.reranker == "local":
        yield well("reranker", f"the model in {patient.config.reranker_folder} reads question and text; nobody pays")
    elif patient.config.reranker != "off":
        yield well("reranker", f"{patient.config.reranker} is chosen; it is not asked here, for each question is paid")


def scheduler(patient: Patient) -> Iterator[Finding]:
    from hippo_core.schedule import choose
    from hippo_core.schedule.jobs import NAMES

    name = choose.chosen(patient.paths)
    if choose.switched_off(patient.paths):
        yield well("scheduler", "switched off; sessions that end read their own transcripts")
        return
    if name is None:
        yield ill("scheduler", "no scheduler starts the jobs", "Memory is brought up to date only when sessions end.",
                  "hippo doctor --fix, or: hippo schedule install", lambda: _schedule(patient))  # fmt: skip
        return
    try:
        there = choose.registered(patient.paths)
    except (HippoError, OSError) as error:
        yield ill("scheduler", f"{name} cannot be asked ({error})", "The jobs may not run.", "hippo schedule install")
        return
    missing = [job for job in NAMES if job not in there]
    if missing:
        yield ill("scheduler", f"{name} does not have: {', '.join(missing)}", "These jobs do not run.",
                  "hippo doctor --fix, or: hippo schedule install", lambda: _schedule(patient))  # fmt: skip
    else:
        who = "the client's hooks start" if name == "hooks" else f"{name} has"
        yield well("scheduler", f"{who} all {len(NAMES)} jobs")


def _schedule(patient: Patient) -> str:
    from hippo_core.ops import venv
    from hippo_core.schedule import choose

    done = choose.install(patient.paths, venv.interpreter_of(patient.paths.venv))
    return f"{done.jobs} jobs registered with {done.scheduler.title}"


def jobs(patient: Patient) -> Iterator[Finding]:
    """What the heartbeats say: who failed, and who is late."""
    from hippo_core import heartbeat
    from hippo_core.schedule import choose
    from hippo_core.schedule.jobs import JOBS

    scheduled = choose.chosen(patient.paths) is not None
    sick = False
    for job in JOBS:
        beat = heartbeat.read(patient.paths, job.name)
        if beat and beat.error:
            sick = True
            yield ill("jobs", f"{job.name} failed, last run {clock.minute(beat.last_ran)}: {beat.error}",
                      f"It {job.what}; that waits.", f"hippo schedule run {job.name}")  # fmt: skip
        elif scheduled and beat and clock.now() - beat.last_ran > job.lateness:
            sick = True
            yield ill("jobs", f"{job.name} last ran {clock.minute(beat.last_ran)}", f"It {job.what}; that waits.",
                      f"hippo schedule run {job.name}")  # fmt: skip
    if not sick:
        yield well("jobs", "none failed, none is late")
