"""`hippo why`: where a memory comes from. What is known is recall.why's; here it is only laid out."""

import dataclasses
from typing import Any

import click

from hippo_core import clock, paths
from hippo_core.cli.example import examples
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import on_terminal
from hippo_core.cli.rows import deed
from hippo_core.cli.say import say
from hippo_core.counting import counted
from hippo_core.errors import UsageError
from hippo_core.model.memory import Memory, memory_id, parse_id
from hippo_core.model.message import Role
from hippo_core.recall.present import harmless
from hippo_core.recall.why import Said, Why, why
from hippo_core.spool import note_used
from hippo_core.store import Store
from hippo_core.store.journal import Entry

_WHO = {
    Role.USER: "you",
    Role.ASSISTANT: "the agent",
    Role.PARENT: "the agent to its sub-agent",
    Role.SUMMARY: "a summary of the conversation",
}


@click.command("why", epilog=examples("hippo why m41c"))
@click.argument("public_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why_command(public_id: str, as_json: bool) -> None:
    """The exact words memory ID came from, who said them and when, and what became of it since."""
    kind, number = parse_id(public_id)
    if kind != "memory":
        raise UsageError(f"{public_id} is an archived message, which is its own source. See: hippo show {public_id}")
    here = paths.current()
    with Store.open(here.store, readonly=True) as store:
        found = why(store, number)
    note_used(here, [number])
    if as_json:
        click.echo(to_json(_as_json(found)))
    else:
        say("\n".join(_lines(found)))


def _lines(found: Why) -> list[str]:
    memory = found.memory
    about = " · ".join((memory.type.value, found.scope_label, "yours" if memory.frozen else "learned"))
    head = f"{on_terminal('number', memory.public_id)}  {on_terminal('head', about)}"
    lines = [head, f"  {harmless(memory.text)}", ""]
    times = f"seen {counted(memory.seen, 'time')}"
    facts = {
        "first said": clock.minute(memory.valid_from) if memory.valid_from is not None else "",
        "confirmed": f"{clock.minute(memory.confirmed_at)}, {times}",
        "shown": _counted(found.use.shown, found.use.last_shown),
        "used": _counted(found.use.used, found.use.last_used),
        "replaces": "; ".join(map(_named, found.replaces)),
        "replaced by": _named(found.replaced_by) if found.replaced_by else "",
        "status": memory.status if memory.status != "active" else "",
    }
    lines += [f"  {on_terminal('head', name.ljust(12))}{value}" for name, value in facts.items() if value]
    for said in found.said:
        lines += ["", *_said_lines(said)]
    if found.gone:
        lines += ["", f"  {found.gone} of its sources {'is' if found.gone == 1 else 'are'} not in the archive."]
    elif not found.said:
        lines += ["", "  It has no source in a conversation: it was written down as it is."]
    return [*lines, "", "History:", *_history_lines(found)]


def _said_lines(said: Said) -> list[str]:
    message = said.message
    when = "undated" if message.at is None else clock.minute(message.at)
    head = harmless(f"{_WHO[message.role]} · {when} · session {message.session_id[:8]}")
    lines = [f"  {on_terminal('number', message.public_id)}  {on_terminal('head', head)}"]
    if said.path:
        place = f"{said.path}:{said.line}" if said.line else f"{said.path} (changed or gone since)"
        lines.append(f"      {on_terminal('faint', harmless(place))}")
    if message.withheld:
        lines.append(f"      {on_terminal('faint', f'not learned from: {message.withheld}')}")
    return lines + [f"      {harmless(line)}" for line in said.lines]


def _history_lines(found: Why) -> list[str]:
    """One line for each change, with the text it replaced where that was another."""
    lines = []
    later = [*found.history[1:], None]
    for entry, following in zip(found.history, later, strict=True):
        after = found.memory.text if following is None else _text_before(following)
        was = _text_before(entry)
        change = f", was: {harmless(was)}" if was is not None and after is not None and was != after else ""
        lines.append(f"  {clock.minute(entry.at)}  {deed(entry)}{change}")
    return lines


def _named(memory: Memory) -> str:
    return f"{memory.public_id} {harmless(memory.text)}"


def _text_before(entry: Entry) -> str | None:
    return entry.before.get("text") if entry.before else None


def _counted(count: int, last: float | None) -> str:
    if not count:
        return "not so far (the night counts)"
    return counted(count, "time") + (f", last {clock.minute(last)}" if last else "")


def _as_json(found: Why) -> dict[str, Any]:
    memory = found.memory
    return {
        "id": memory.public_id,
        "text": memory.text,
        "type": memory.type.value,
        "author": memory.author.value,
        "scope": found.scope_label,
        "status": memory.status,
        "valid_from": memory.valid_from,
        "confirmed_at": memory.confirmed_at,
        "seen": memory.seen,
        "use": dataclasses.asdict(found.use),
        "sources": [
            {
                "id": said.message.public_id,
                "role": said.message.role.value,
                "at": said.message.at,
                "session": said.message.session_id,
                "text": said.message.text,
                "lines": list(said.lines),
                "path": said.path,
                "line": said.line,
            }
            for said in found.said
        ],
        "sources_gone": found.gone,
        "replaces": [old.public_id for old in found.replaces],
        "replaced_by": memory_id(memory.superseded_by) if memory.superseded_by else None,
        "history": [dataclasses.asdict(entry) for entry in found.history],
    }
