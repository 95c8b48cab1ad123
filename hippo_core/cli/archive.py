"""`hippo archive`: arguments in, hits out. The search is recall.archive's, the words are recall.present's."""

import time

import click

from hippo_core import config as settings
from hippo_core import paths
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import current_folder, on_terminal
from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.embed.choose import open_embedder
from hippo_core.errors import UsageError, VectorsUnavailableError
from hippo_core.model.memory import parse_id
from hippo_core.recall.archive import ArchiveFound, around_message, search_archive
from hippo_core.recall.present import archive_json, archive_text
from hippo_core.recall.where import search_scopes
from hippo_core.store import Store

_CONTEXT = 3


@click.command("archive")
@click.argument("query", nargs=-1)
@click.option("--around", metavar="ID", help="Show this message with the turns before and after it.")
@click.option("--project", metavar="NAME", help="Search this project; else the one around the current folder.")
@click.option("--all", "everywhere", is_flag=True, help="Search all projects.")
@click.option("-k", "count", default=5, show_default=True, type=click.IntRange(1, 100), help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def archive_command(
    query: tuple[str, ...], around: str | None, project: str | None, everywhere: bool, count: int, as_json: bool
) -> None:
    """Everything that was ever said, searched by words and by meaning."""
    started = time.perf_counter()
    with Store.open(paths.current().store, readonly=True) as store:
        if around is not None:
            kind, number = parse_id(around)
            if kind != "message":
                raise UsageError(f"{around} is a memory; an archived message's id looks like a3f2. See: hippo show ID")
            found = ArchiveFound([around_message(store, number, _CONTEXT)])
        else:
            config = settings.load(paths.current())
            scopes, _ = search_scopes(store, current_folder(), project, everywhere)
            found = search_archive(
                store, " ".join(query), scopes=scopes, embedder=_embedder(config), meaning=config.archive_meaning,
                k=count,
            )  # fmt: skip
    elapsed_ms = (time.perf_counter() - started) * 1000
    if as_json:
        click.echo(to_json(archive_json(found.hits, elapsed_ms, notes=found.notes)))
    else:
        click.echo(archive_text(found.hits, elapsed_ms, notes=found.notes, style=on_terminal))


def _embedder(config: Config) -> Embedder | None:
    """The embedder of the settings; None where there is none, so that keywords answer alone."""
    try:
        return open_embedder(config)
    except VectorsUnavailableError:
        return None
