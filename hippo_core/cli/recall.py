"""`hippo recall`: arguments in, results out. The search is recall.pipeline's, the words are recall.present's."""

import json
import os

import click

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.embed.choose import open_embedder
from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.types import MemoryType
from hippo_core.recall.pipeline import recall
from hippo_core.recall.present import recall_json, recall_text
from hippo_core.recall.where import search_scopes
from hippo_core.spool import note_shown
from hippo_core.store import Store

_STYLES = {
    "number": {"bold": True},
    "head": {"fg": "cyan"},
    "score": {"fg": "green"},
    "faint": {"dim": True},
}


def on_terminal(kind: str, text: str) -> str:
    """Colours, which click takes out again where the output is no terminal."""
    return click.style(text, **_STYLES[kind])


def current_folder() -> str | None:
    """None where the folder was deleted under the shell."""
    try:
        return os.getcwd()
    except OSError:
        return None


@click.command("recall")
@click.argument("query", nargs=-1)
@click.option("--type", "types", multiple=True, metavar="TYPE", type=click.Choice([t.value for t in MemoryType]),
              help="Only memories of this type; may be repeated.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Search this project; else the one around the current folder.")
@click.option("--all", "everywhere", is_flag=True, help="Search all projects.")
@click.option("-k", "count", default=5, show_default=True, type=click.IntRange(1, 50), help="How many at most.")
@click.option("--explain", is_flag=True, help="Show every stage's number.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def recall_command(
    query: tuple[str, ...],
    types: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    count: int,
    explain: bool,
    as_json: bool,
) -> None:
    """The memories that answer QUERY, best first."""
    here = paths.current()
    config = settings.load(here)
    with Store.open(here.store, readonly=True) as store:
        scopes, _ = search_scopes(store, current_folder(), project, everywhere)
        try:
            embedder, reason = open_embedder(config), None
        except VectorsUnavailableError as error:
            embedder, reason = None, str(error)
        found = recall(
            store,
            " ".join(query),
            embedder=embedder,
            scopes=scopes,
            types=[MemoryType(name) for name in types] or None,
            k=count,
            config=config,
        )
    note_shown(here, [result.memory.id for result in found.results])
    if as_json:
        click.echo(json.dumps(recall_json(found), ensure_ascii=False, indent=2))
    else:
        click.echo(recall_text(found, explain=explain, style=on_terminal))
        if reason and config.embedder != "off":
            click.echo(reason, err=True)
