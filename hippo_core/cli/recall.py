"""`hippo recall`: its arguments, for the command framework. What it does is cli/answer.py's."""

import click

from hippo_core.cli.answer import Request, answer
from hippo_core.cli.asking import coloured, current_folder
from hippo_core.cli.example import examples
from hippo_core.model.types import MemoryType

__all__ = ["TYPES", "TYPE_NAMES", "current_folder", "on_terminal", "recall_command"]


class _Types(click.Choice):
    """The types of memories, in any case, and as people ask for several: decisions."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        one = value.lower().removesuffix("s")
        return super().convert(one if one in self.choices else value, param, ctx)


TYPES = _Types([kind.value for kind in MemoryType], case_sensitive=False)
TYPE_NAMES = ", ".join(TYPES.choices)
on_terminal = coloured  # click takes colours out again where the output is no terminal


@click.command(
    "recall",
    epilog=examples(
        'hippo recall "why did we drop redis"',
        'hippo recall --type decision --all "rate limiting"',
        'hippo recall -k 10 --explain "flaky tests"',
    ),
)
@click.argument("query", nargs=-1)
@click.option("--type", "types", multiple=True, metavar="TYPE", type=TYPES,
              help=f"Only memories of this type; may be repeated. One of: {TYPE_NAMES}.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Search this project; else the one around the current folder.")
@click.option("--all", "everywhere", is_flag=True, help="Search all projects.")
@click.option(
    "-k", "count", metavar="N", default=5, show_default=True, type=click.IntRange(1, 50), help="How many at most."
)
@click.option("--explain", is_flag=True, help="Show every stage's number.")
@click.option("--so-far", metavar="TEXT", help="What you have worked out; what bears on it comes first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def recall_command(
    query: tuple[str, ...],
    types: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    count: int,
    explain: bool,
    so_far: str | None,
    as_json: bool,
) -> None:
    """The memories that answer QUERY, best first."""
    request = Request(" ".join(query), types, project, everywhere, count, explain, as_json, so_far)
    shown, warning = answer(request, on_terminal)
    click.echo(shown)
    if warning:
        click.echo(warning, err=True)
