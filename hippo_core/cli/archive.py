"""`hippo archive`: its arguments, for the command framework. What it does is cli/answer_archive.py's."""

import click

from hippo_core.cli.answer_archive import ArchiveRequest, answer_archive
from hippo_core.cli.example import examples
from hippo_core.cli.recall import on_terminal


@click.command("archive", epilog=examples('hippo archive "token bucket"', "hippo archive --around a3f2"))
@click.argument("query", nargs=-1)
@click.option("--around", metavar="ID", help="Show this message with the turns before and after it.")
@click.option("--context", type=click.IntRange(0, 10), metavar="N",
              help="That many turns before and after each hit; else 1, around an ID 3.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Search this project; else the one around the current folder.")
@click.option("--all", "everywhere", is_flag=True, help="Search all projects.")
@click.option(
    "-k", "count", metavar="N", default=5, show_default=True, type=click.IntRange(1, 100), help="How many at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def archive_command(
    query: tuple[str, ...],
    around: str | None,
    context: int | None,
    project: str | None,
    everywhere: bool,
    count: int,
    as_json: bool,
) -> None:
    """Everything that was ever said, searched by words and by meaning."""
    request = ArchiveRequest(" ".join(query), around, project, everywhere, count, as_json, context)
    shown, _ = answer_archive(request, on_terminal)
    click.echo(shown)
