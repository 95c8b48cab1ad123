"""What `hippo recall` does, apart from how its arguments are read. Imports no command framework: see cli/entry.py."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.cli.asking import current_folder, model_for_questions, only_here
from hippo_core.cli.folding import folded
from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.recall.channels import SETTLED
from hippo_core.recall.pipeline import Recall, recall
from hippo_core.recall.present import Style, recall_json, recall_text
from hippo_core.recall.query import read_query
from hippo_core.recall.rerankers import Reranking
from hippo_core.recall.where import search_scopes
from hippo_core.spool import note_shown
from hippo_core.store import Store


class Request(NamedTuple):
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
    with Store.open(here.store, readonly=True) as store:
        scopes, label = search_scopes(store, current_folder(), request.project, request.everywhere)
        ask = partial(
            recall,
            store,
            request.query,
            scopes=scopes,
            types=[MemoryType(name) for name in request.types] or None,
            k=request.count,
            config=config,
            so_far=request.so_far,
            reranker=Reranking().of(config),
        )
        found, reason = _by_spelling(request, ask, config), None
        if found is None:
            found, reason = _with_model(ask, config, here)
    note_shown(here, [result.memory.id for result in found.results])
    if request.as_json:
        from hippo_core.cli.output import to_json

        return to_json(recall_json(found)), None
    elsewhere = scopes is not None and not found.results and not found.empty and found.searched
    below = only_here("recall", label) if elsewhere else ""
    return folded(recall_text(found, explain=request.explain, style=style) + below), reason


def _by_spelling(request: Request, ask: Callable[..., Recall], config: settings.Config) -> Recall | None:
    """The answer to a question of names that spelling settles; for any other it would take the model to be sure.

    Not where a reranker would be asked, and perhaps paid, for an answer that does not stand.
    """
    if request.so_far or config.reranker != "off" or not read_query(request.query).names_only:
        return None
    found = ask(embedder=None)
    return found if SETTLED in found.remarks else None


def _with_model(ask: Callable[..., Recall], config: settings.Config, here: paths.Paths) -> tuple[Recall, str | None]:
    """The answer, and why it had to do without the model, if it had to and nobody chose that."""
    try:
        embedder = model_for_questions(config, here)
    except VectorsUnavailableError as error:
        return ask(embedder=None), None if config.embedder == "off" else str(error)
    return ask(embedder=embedder), None
