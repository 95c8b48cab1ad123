"""`hippo remember`, `list` and `show`: arguments in, memories out. Storing is curate.remember's."""

import dataclasses
import os
import sys
from typing import Any

import click

from hippo_core import clock, paths
from hippo_core import config as settings
from hippo_core.cli.example import examples
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import TYPE_NAMES, TYPES, current_folder, on_terminal
from hippo_core.cli.rows import deed, memory_json, memory_line, message_line, without_id
from hippo_core.cli.say import say
from hippo_core.config import Config
from hippo_core.counting import counted
from hippo_core.embed.base import Embedder
from hippo_core.errors import HippoError, UsageError
from hippo_core.model.memory import Memory, parse_id
from hippo_core.model.scope import GLOBAL_SCOPE, Scope, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.present import NOTHING_YET, SPEAKERS, harmless
from hippo_core.recall.where import search_scopes
from hippo_core.spool import note_used
from hippo_core.store import Store
from hippo_core.store.archive import Archived
from hippo_core.store.journal import Entry


@click.command(
    "remember",
    epilog=examples(
        'hippo remember "Deploys go through the blue cluster."',
        'hippo remember --type decision --global "New services are written in Go."',
    ),
)
@click.argument("words", nargs=-1, metavar="TEXT")
@click.option("--type", "type_name", metavar="TYPE", type=TYPES,
              help=f"Its type; guessed and shown when left out. One of: {TYPE_NAMES}.")  # fmt: skip
@click.option("--global", "everywhere", is_flag=True, help="For all projects, not only the one of this folder.")
@click.option(
    "--project", "folder", metavar="DIR", type=click.Path(exists=True, file_okay=False), help="For the project of DIR."
)
@click.option("--pin", is_flag=True, help="It never ages.")
@click.option("--embed/--no-embed", default=True, help="Make it findable by meaning at once.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def remember_command(
    words: tuple[str, ...],
    type_name: str | None,
    everywhere: bool,
    folder: str | None,
    pin: bool,
    embed: bool,
    as_json: bool,
) -> None:
    """Store TEXT (- reads it from standard input) as a memory of your own; no job ever changes it."""
    from hippo_core.curate.forget import finish
    from hippo_core.curate.remember import embed_memory, remember

    if everywhere and folder is not None:
        raise UsageError("A memory is either --global or of one --project: leave one of them out.")
    here = paths.current()
    config = settings.load(here)
    scope = GLOBAL_SCOPE if everywhere else _project_of(folder)
    with Store.open(here.store) as store:
        memory = remember(
            store, here, _text(words), type=MemoryType(type_name) if type_name else None, scope=scope,
            author=Author.HUMAN, actor="user", pinned=pin,
        )  # fmt: skip
        if embed:
            embed_memory(store, memory, _embedder(config))
        finish(store, here, patience=0)
    if as_json:
        click.echo(to_json(memory_json(memory, scope.label)))
        return
    verb = "Remembered" if memory.version == 1 else "Known already, now confirmed as yours"
    guessed = "" if type_name else " (guessed; hippo remember --type TYPE says otherwise)"
    say(f"{verb}: {on_terminal('number', memory.public_id)}, {memory.type.value}{guessed}, {scope.label}.")
    if memory.type is MemoryType.RULE and not (memory.always or memory.domain):
        say(
            "It is found when searched for; to have it in every session: "
            f"hippo rules accept {memory.public_id} --always"
        )


@click.command(
    "list", epilog=examples("hippo list decision", "hippo list rule --author human", "hippo list --all -n 100")
)
@click.argument("named", nargs=-1, metavar="[TYPE]...", type=TYPES)
@click.option("--type", "types", multiple=True, metavar="TYPE", type=TYPES,
              help=f"Only of this type, as TYPE does; may be repeated. One of: {TYPE_NAMES}.")  # fmt: skip
@click.option("--project", metavar="NAME", help="Of this project; else of the one around the current folder.")
@click.option("--all", "everywhere", is_flag=True, help="Of all projects.")
@click.option("--author", type=click.Choice([author.value for author in Author]), help="Only what they wrote.")
@click.option(
    "-n", "count", metavar="N", default=20, show_default=True, type=click.IntRange(1), help="How many at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(
    named: tuple[str, ...],
    types: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    author: str | None,
    count: int,
    as_json: bool,
) -> None:
    """Memories, all or of TYPE, the last confirmed first."""
    with Store.open(paths.current().store, readonly=True) as store:
        scopes, label = search_scopes(store, current_folder(), project, everywhere)
        with store.reading():
            found = store.memories.select(
                scopes=scopes,
                types=[MemoryType(name) for name in (*named, *types)] or None,
                author=Author(author) if author else None,
                limit=count + 1,
            )
            labels = {key: scope.label for key, scope in store.memories.scopes().items()}
            empty = not found and not store.memories.count_active()
            whole = store.memories.fetch([memory.id for memory in found[:count]]) if as_json else {}
    if as_json:
        click.echo(to_json([memory_json(whole[memory.id], labels[memory.scope]) for memory in found[:count]]))
        return
    for memory in found[:count]:
        say(memory_line(memory, labels[memory.scope]))
    if empty:
        say(f"{NOTHING_YET}, or from you: hippo remember TEXT")
    elif not found:
        say(f"No such memory in {label}." + (" To look in all projects: hippo list --all" if scopes else ""))
    elif len(found) > count:
        say(on_terminal("faint", f"There are more; -n {count * 5} shows them."))


@click.command("show", epilog=examples("hippo show m41c", "hippo show a3f2"))
@click.argument("public_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_command(public_id: str, as_json: bool) -> None:
    """One memory or archived message in full, with where it came from and what happened to it."""
    kind, number = parse_id(public_id)
    here = paths.current()
    with Store.open(here.store, readonly=True) as store, store.reading():
        if kind == "message":
            message = store.archive.get(number)
            derived = [store.memories.get(n) for n in store.memories.from_messages([message.uid])]
            scopes = store.archive.projects()
            label = scopes[message.scope].label if message.scope in scopes else message.scope
            shown, lines = _message_json(message, label, derived), _message_lines(message, label, derived)
        else:
            memory = store.memories.get(number)
            label = store.memories.scopes()[memory.scope].label
            sources = store.archive.by_uid(memory.sources)
            history = store.journal.of(number)
            shown = {
                **memory_json(memory, label),
                "sources": [_source_json(source) for source in sources],
                "sources_gone": len(memory.sources) - len(sources),
                "history": [dataclasses.asdict(entry) for entry in history],
            }
            lines = _memory_lines(memory, label, sources, history)
            note_used(here, [memory.id])
    if as_json:
        click.echo(to_json(shown))
    else:
        say("\n".join(lines))


# -- one of them in full ----------------------------------------------------------------------------------------------


def _memory_lines(memory: Memory, label: str, sources: list[Archived], history: list[Entry]) -> list[str]:
    author = "you; no job changes it" if memory.frozen else f"the machine, confidence {memory.confidence:.2f}"
    confirmed = clock.minute(memory.confirmed_at)
    fields = {
        "type": memory.type.value,
        "scope": label,
        "written by": author,
        "importance": f"{memory.importance:.2f}{', pinned: it does not age' if memory.pinned else ''}",
        "loads": _loads(memory),
        "created": clock.minute(memory.created_at),
        "confirmed": f"{confirmed}, seen {counted(memory.seen, 'time')}, version {memory.version}",
        "status": memory.status + (f" by m{memory.superseded_by:x}" if memory.superseded_by else ""),
        "valid until": clock.minute(memory.valid_until) if memory.valid_until else "",
    }
    lines = [f"{on_terminal('number', memory.public_id)}  {harmless(memory.text)}", ""]
    lines += [f"  {on_terminal('head', name.ljust(12))}{value}" for name, value in fields.items() if value]
    if memory.sources:
        lines += ["", f"From {counted(len(memory.sources), 'message')}:"]
        lines += [f"  {message_line(source, label)}" for source in sources]
        gone = len(memory.sources) - len(sources)
        if gone:
            lines.append(f"  {gone} {'is' if gone == 1 else 'are'} not in the archive (any more).")
    lines += ["", "History:", *(f"  {clock.minute(entry.at)}  {deed(entry)}" for entry in history)]
    return lines


def _message_lines(message: Archived, label: str, derived: list[Memory]) -> list[str]:
    speaker = SPEAKERS[message.role.value] + (f", arguments of /{message.command}" if message.command else "")
    withheld = f"  not learned from: {message.withheld}" if message.withheld else ""
    when = "undated" if message.at is None else clock.minute(message.at)
    head = harmless(f"{speaker} · {when} · {label} · session {message.session_id}")
    head = f"{on_terminal('number', message.public_id)}  {on_terminal('head', head)}{withheld}"
    lines = [head, "", harmless(message.text)]
    if derived:
        lines += ["", "Learned from it:", *(f"  {memory_line(memory, label)}" for memory in derived)]
    return lines


def _message_json(message: Archived, label: str, derived: list[Memory]) -> dict[str, Any]:
    learned = [memory.public_id for memory in derived]
    return {"id": message.public_id, "scope_label": label, **without_id(message), "learned": learned}


def _source_json(message: Archived) -> dict[str, Any]:
    return {"id": message.public_id, "role": message.role.value, "at": message.at, "text": message.text}


def _loads(memory: Memory) -> str:
    if memory.always:
        return "in every session"
    return f"with the rules for {memory.domain}" if memory.domain else "when it is searched for"


def _project_of(folder: str | None) -> Scope:
    """The project of `folder`, else of the current one."""
    folder = os.path.abspath(folder) if folder else current_folder()
    if folder is None:
        raise UsageError("The current folder was deleted, so there is no project here. Use --project, or --global.")
    return scope_of(folder)


def _text(words: tuple[str, ...]) -> str:
    if words != ("-",):
        return " ".join(words)
    sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")  # whatever the locale
    return sys.stdin.read()


def _embedder(config: Config) -> Embedder | None:
    from hippo_core.embed.choose import open_embedder

    try:
        return open_embedder(config)
    except HippoError:
        return None
