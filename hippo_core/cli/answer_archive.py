"""What `hippo archive` does, apart from how its arguments are read. Imports no command framework: see cli/entry.py."""

import time
from typing import NamedTuple

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.cli.asking import current_folder, model_for_questions, only_here
from hippo_core.cli.folding import folded
from hippo_core.embed.base import Embedder
from hippo_core.errors import UsageError, VectorsUnavailableError
from hippo_core.model.memory import parse_id
from hippo_core.recall.archive import AROUND, ArchiveFound, around_message, only_spelled, search_archive
from hippo_core.recall.present import Style, archive_json, archive_text
from hippo_core.recall.where import search_scopes
from hippo_core.store import Store

_AROUND_ONE = 3  # turns before and after the one message that is asked for


class ArchiveRequest(NamedTuple):
    """The arguments of `hippo archive`. context: how many turns before and after; None where nobody said."""

    query: str
    around: str | None = None
    project: str | None = None
    everywhere: bool = False
    count: int = 5
    as_json: bool = False
    context: int | None = None


def answer_archive(request: ArchiveRequest, style: Style) -> tuple[str, str | None]:
    """(what to print, what to say on the error stream)."""
    started = time.perf_counter()
    here = paths.current()
    with Store.open(here.store, readonly=True) as store:
        if request.around is None:
            scopes, label = search_scopes(store, current_folder(), request.project, request.everywhere)
            found = _search(store, request, here, scopes)
            below = only_here("archive", label) if scopes is not None and not found.hits else ""
        else:
            found, below = _around(store, request), ""
    elapsed_ms = (time.perf_counter() - started) * 1000
    if request.as_json:
        from hippo_core.cli.output import to_json

        return to_json(archive_json(found.hits, elapsed_ms, notes=found.notes)), None
    return folded(archive_text(found.hits, elapsed_ms, notes=found.notes, style=style) + below), None


def _around(store: Store, request: ArchiveRequest) -> ArchiveFound:
    kind, number = parse_id(request.around)
    if kind != "message":
        raise UsageError(f"{request.around} is a memory; an archived message's id looks like a3f2. See: hippo show ID")
    return ArchiveFound([around_message(store, number, _AROUND_ONE if request.context is None else request.context)])


def _search(store: Store, request: ArchiveRequest, here: paths.Paths, scopes: list[str] | None) -> ArchiveFound:
    config = settings.load(here)
    embedder = None if only_spelled(request.query) else _model(config, here)
    return search_archive(
        store, request.query, scopes=scopes, embedder=embedder, meaning=config.archive_meaning, k=request.count,
        around=AROUND if request.context is None else request.context,
    )  # fmt: skip


def _model(config: settings.Config, here: paths.Paths) -> Embedder | None:
    """None where there is none, so that keywords answer alone."""
    try:
        return model_for_questions(config, here)
    except VectorsUnavailableError:
        return None
