"""`hippo projects`: which there are; and letting a folder that was moved go on as the project it was."""

import os

import click

from hippo_core import paths
from hippo_core.cli.example import examples
from hippo_core.cli.group import Group
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import current_folder, on_terminal
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import UsageError
from hippo_core.model.scope import scope_of
from hippo_core.recall.present import harmless
from hippo_core.store import Store


@click.group("projects", cls=Group, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def projects_command(ctx: click.Context, as_json: bool) -> None:
    """The projects that memory knows; without a command, a list of them."""
    from hippo_core.curate.projects import known, outside_projects

    if ctx.invoked_subcommand is not None:
        return
    here = paths.current()
    with Store.open(here.store, readonly=True) as store:
        found, outside = known(store, here), outside_projects(store)
    folder = current_folder()
    current = scope_of(folder).key if folder else None
    if as_json:
        rows = [{"key": one.scope.key, "label": one.scope.label, "is": one.scope.identity, "sessions": one.sessions,
                 "memories": one.memories, "joined": one.joined} for one in found]  # fmt: skip
        click.echo(to_json(rows))
        return
    for one in found:
        sessions = counted(one.sessions, "session") if one.sessions else "no session of its own"
        about = f"{sessions}, {counted(one.memories, 'memory')}"
        mark = "  (this folder)" if one.scope.key == current else "  (goes on as another)" if one.joined else ""
        name = on_terminal("head", one.scope.label)
        say(f"{one.scope.key}  {name}  {about}  {_place(one.scope.identity)}{mark}")
    if any(outside):
        sessions, memories = outside
        say(f"Outside any project: {counted(sessions, 'session')}, {counted(memories, 'memory')}.")
    if not found:
        say("No project is known yet.")


@projects_command.command(
    "join",
    short_help="Let this folder, which was moved, go on as a known project.",
    epilog=examples("hippo projects join payments-api"),
)
@click.argument("name", metavar="NAME")
def join_command(name: str) -> None:
    """This folder was moved: let it go on as the project NAME (or its key), with all that is remembered of it."""
    from hippo_core.curate.projects import join

    here = paths.current()
    with Store.open(here.store, create=False) as store:
        scope, moved = join(store, here, _folder(), name)
    also = f" {counted(moved, 'memory')} learned here since then moved there." if moved else ""
    say(f"This folder goes on as {scope.label} ({_place(scope.identity)}).{also}")
    say("From the next session on it is remembered here. To take that back: hippo projects part")


@projects_command.command("part", short_help="Let this folder be a project of its own again.")
def part_command() -> None:
    """Let this folder be a project of its own again; memories stay where they are."""
    from hippo_core.curate.projects import part

    scope = part(paths.current(), _folder())
    say(
        f"{scope.label} is a project of its own again."
        if scope
        else "This folder was joined to no project. Which ones were: hippo projects"
    )


def _folder() -> str:
    folder = current_folder()
    if folder is None:
        raise UsageError("The current folder was deleted, so there is no project here. Go to one, and try again.")
    return folder


def _place(identity: str) -> str:
    """Where a project is or was, for people."""
    kind, _, path = identity.partition(":")
    if kind not in ("git", "path"):
        return harmless(identity)
    folder = os.path.dirname(path) if kind == "git" and os.path.basename(path) == ".git" else path
    return harmless(folder) + ("" if os.path.exists(folder) else ", which is gone")
