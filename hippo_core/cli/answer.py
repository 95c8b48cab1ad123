"""What `hippo recall` does, apart from how its arguments are read. Imports no command framework: see cli/entry.py."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.embed.cache import CachedQueries
from hippo_core.embed.choose import open_embedder
from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.recall.pipeline import recall
from hippo_core.recall.present import Style, recall_json, recall_text
from hippo_core.recall.rerank import Reranking
from hippo_core.recall.where import search_scopes
from hippo_core.spool import note_shown
from hippo_core.store import Store

_CODES = {"number": 1, "head": 36, "score": 32, "faint": 2}  # bold, cyan, green, dim


@dataclass(frozen=True)
class Request:
    """The arguments of `hippo recall`."""

    query: str
    types: Sequence[str] = ()
    project: str | None = None
    everywhere: bool = False
    count: int = 5
    explain: bool = False
    as_json: bool = False
    so_far: str | None = None


def answer(request: Request, style: Style) -> tuple[str, str | None]:
    """(what to print, what to say on the error stream)."""
    here = paths.current()
    config = settings.load(here)
    reason = None
    with Store.open(here.store, readonly=True) as store:
        scopes, _ = search_scopes(store, current_folder(), request.project, request.everywhere)
        try:
            embedder = CachedQueries(open_embedder(config), here.queries)
        except VectorsUnavailableError as error:
            embedder = None
            reason = None if config.embedder == "off" else str(error)
        found = recall(
            store,
            request.query,
            embedder=embedder,
            scopes=scopes,
            types=[MemoryType(name) for name in request.types] or None,
            k=request.count,
            config=config,
            so_far=request.so_far,
            reranker=Reranking().of(config),
        )
    note_shown(here, [result.memory.id for result in found.results])
    if request.as_json:
        import json

        return json.dumps(recall_json(found), ensure_ascii=False, indent=2), None
    return recall_text(found, explain=request.explain, style=style), reason


def coloured(kind: str, text: str) -> str:
    return f"\x1b[{_CODES[kind]}m{text}\x1b[0m"


def current_folder() -> str | None:
    """None where the folder was deleted under the shell."""
    try:
        return os.getcwd()
    except OSError:
        return None
