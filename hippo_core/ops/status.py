"""How memory stands: is it working, what does it hold, what does it cost, what needs the user. Reads; never writes.

Knows nothing of how it is shown.
"""

import contextlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hippo_core import __version__
from hippo_core import config as settings
from hippo_core.config import Config
from hippo_core.counting import counted
from hippo_core.errors import HippoError
from hippo_core.model.scope import GLOBAL, scope_of
from hippo_core.ops.moving import MovingParts, moving_parts
from hippo_core.paths import Paths, client_home
from hippo_core.record import installer
from hippo_core.registration import DISABLED, ENABLED, NOT_INSTALLED, NOT_REGISTERED, UNKNOWN, plugin_state
from hippo_core.render import budget
from hippo_core.store import Store
from hippo_core.store.room import taken
from hippo_core.usage import Used, service_at, used

NOBODY = "nobody"  # pays, as things are set


@dataclass(frozen=True)
class Status:
    """One look at everything. Times are seconds since the epoch, sizes bytes; None: not known, or none.

    memories: number by type; scopes: number by project label. outside_projects: sessions that belong to no project.
    set_aside: (file, error) of transcripts that could not be read; given_up: how many of them are left alone until they
    change. without_vectors: memories that only keywords find. messages_waiting: that still get vectors, None where they
    get none; archive_meaning: whether the settings have that. used: how much was asked of services that cost.
    always_on, per_prompt: tokens put before the model. plugin: see registration.plugin_state. moving: jobs and alerts.
    needs: what the user should do, a line each, with commands in lines below it.
    """

    version: str
    store: str
    bytes: int
    memories: dict[str, int]
    scopes: dict[str, int]
    by_you: int
    messages: int
    sessions: int
    projects: int
    outside_projects: int
    archive_bytes: int
    files: int
    bad_lines: int
    set_aside: list[tuple[str, str]]
    given_up: int
    embedder: str
    without_vectors: int | None
    archive_meaning: bool
    messages_waiting: int | None
    embedder_problem: str | None
    reranker: str
    paid_by: str
    used: list[Used]
    rendered_at: float | None
    always_on: int
    per_prompt: int
    plugin: str
    moving: MovingParts
    needs: list[str] = field(default_factory=list)


def look(paths: Paths, folder: str | None) -> Status:
    """The status as seen from `folder`, if there is one. Raises a StoreError when the store cannot be read."""
    config = settings.load(paths)
    with Store.open(paths.store, readonly=True) as store, store.reading():
        counts = store.memories.counts()
        labels = {key: scope.label for key, scope in store.memories.scopes().items()}
        messages, sessions, projects = store.archive.counts()
        outside = store.archive.session_counts().get(GLOBAL, 0)
        archive_bytes = store.archive.bytes()
        sources = list(store.progress.sources().values())
        without_vectors, messages_waiting, problem = _unembedded(store, config)
        unfinished = store.forgetting.unfinished
    types: Counter[str] = Counter()
    scopes: Counter[str] = Counter()
    for scope, kind, _, number in counts:
        types[kind] += number
        scopes[labels.get(scope, scope)] += number
    set_aside = [(source.path, source.error) for source in sources if source.error]
    always_on, per_prompt = _tokens(paths, folder)
    plugin, rendered_at = plugin_state(paths, [client_home()]), _changed(paths.render / "rules.json")
    moving = moving_parts(paths)
    stuck = without_vectors if moving.scheduler is None else None  # else the hourly job sees to them
    return Status(
        version=__version__,
        store=str(paths.store),
        bytes=taken(paths.store),
        memories=dict(types.most_common()),
        scopes=dict(scopes.most_common()),
        by_you=sum(number for _, _, author, number in counts if author == "human"),
        messages=messages,
        sessions=sessions,
        projects=projects,
        outside_projects=outside,
        archive_bytes=archive_bytes,
        files=len(sources),
        bad_lines=sum(source.bad_lines for source in sources),
        set_aside=set_aside,
        given_up=sum(source.set_aside for source in sources),
        embedder=config.embedder,
        without_vectors=without_vectors,
        archive_meaning=config.archive_meaning,
        messages_waiting=messages_waiting,
        embedder_problem=problem,
        reranker=config.reranker,
        paid_by=_paid_by(config),
        used=used(paths),
        rendered_at=rendered_at,
        always_on=always_on,
        per_prompt=per_prompt,
        plugin=plugin,
        moving=moving,
        needs=[
            *_plugin_needs(paths, plugin),
            *_needs(rendered_at, set_aside, stuck, problem, unfinished, unread=not sources and _transcripts_there()),
            *_jobs_need(moving, plugin),
        ],
    )


def _unembedded(store: Store, config: Config) -> tuple[int | None, int | None, str | None]:
    """(memories without vectors, messages that wait for theirs, why there is no embedder). Nothing heavy is loaded."""
    from hippo_core.embed.choose import open_embedder
    from hippo_core.ingest.embed_archive import waiting

    if config.embedder == "off":
        return None, None, None
    try:
        embedder = open_embedder(config)
        messages = waiting(store, embedder) if config.archive_meaning else None
        return len(store.vectors.pending(embedder.fingerprint, -1)), messages, None
    except HippoError as error:
        return None, None, str(error)


def _paid_by(config: Config) -> str:
    payers = []
    if config.embedder == "openai":
        payers.append(f"{_account(config.openai_base_url, 'OpenAI')}, for embedding memories and questions")
    if config.reranker == "voyage":
        account = _account(config.voyage_base_url, "Voyage")
        payers.append(f"{account}, for putting what a question finds in order")
    return "; ".join(payers) or NOBODY


def _account(url: str | None, name: str) -> str:
    service = service_at(url, name)
    return f"your {name} account" + (f" at {service}" if service != name else "")


def _transcripts_there() -> bool:
    from hippo_core.transcripts.discover import transcript_files

    return bool(transcript_files(client_home() / "projects"))


def _tokens(paths: Paths, folder: str | None) -> tuple[int, int]:
    """(tokens at a session's start, tokens with each prompt) that the hooks put before the model in `folder`."""
    key = scope_of(folder).key if folder is not None else GLOBAL
    project = paths.render / "project" / f"{key}.json"
    known = project if project.exists() else paths.render / "project" / "default.json"
    start = _context_tokens(paths.render / "rules.json") + _context_tokens(known)
    return start, _context_tokens(paths.render / "nudge.json")


def _context_tokens(document: Path) -> int:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        data = document.read_bytes()
        return budget.tokens(json.loads(data)["hookSpecificOutput"]["additionalContext"]) if data else 0
    return 0


def _plugin_needs(paths: Paths, plugin: str) -> list[str]:
    from hippo_core.ops.client import by_hand

    unknown = "Claude Code does not know the plugin, so no session gets memory."
    lines = {
        NOT_INSTALLED: f"{unknown} Run: {installer()}",
        NOT_REGISTERED: "\n    ".join([f"{unknown} Where `claude` is on PATH, run:", *by_hand(paths)]),
        DISABLED: "The plugin is switched off in Claude Code: claude plugin enable hippo@hippocampus",
        UNKNOWN: "Whether Claude Code has the plugin cannot be seen: hippo doctor",
    }
    return [lines[plugin]] if plugin in lines else []


def _needs(
    rendered_at: float | None,
    set_aside: list[tuple[str, str]],
    stuck: int | None,
    problem: str | None,
    unfinished: bool,
    unread: bool,
) -> list[str]:
    checks = (
        (rendered_at is None, "Nothing is ready for the hooks to read: hippo ingest"),
        (unread, "No session has been read yet: hippo ingest"),
        (bool(set_aside), f"{counted(len(set_aside), 'transcript')} could not be read; {_first_error(set_aside)}"),
        (problem is not None, f"Search works by keywords only. {problem}"),
        (bool(stuck), f"{counted(stuck or 0, 'memory')} found by keywords only so far: hippo ingest"),
        (unfinished, "A forget is not finished, because another process was reading: hippo ingest"),
    )
    return [line for applies, line in checks if applies]


def _first_error(set_aside: list[tuple[str, str]]) -> str:
    """Why the first of them failed; the error of a transcript names its file."""
    error = next((error for _, error in set_aside), "")
    return error if len(set_aside) == 1 else f"the first: {error} hippo status --json names all."


def _jobs_need(moving: MovingParts, plugin: str) -> list[str]:
    lines = [f"The job {job.name} failed: {(job.error or '').rstrip('.')}. More: hippo doctor" for job in moving.failed]
    lines += [f"The job {job.name} is late: hippo schedule run {job.name}" for job in moving.late if not job.error]
    if moving.scheduler is None and not moving.switched_off and plugin in (ENABLED, DISABLED):
        lines.append("No scheduler starts the jobs: hippo schedule install")
    if moving.standing:
        lines.append(f"{counted(moving.standing, 'alert')} not over, last: {moving.alert.text}. hippo monitor show")
    return lines


def _changed(path: Path) -> float | None:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return None
