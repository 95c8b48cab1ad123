"""`hippo rules`: arguments in, what now loads out. Setting rules is curate.rules', their text is render.rules'."""

import os

import click

from hippo_core import paths
from hippo_core.cli.ask import ask
from hippo_core.cli.example import examples
from hippo_core.cli.group import Group
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import current_folder
from hippo_core.cli.say import say
from hippo_core.errors import UsageError
from hippo_core.model.memory import Memory, parse_id
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, Scope, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.present import harmless
from hippo_core.render import budget
from hippo_core.store import Store

_MOST_HEARD = 10
_ACCEPT = "to change that: hippo rules accept ID --always, or --domain NAME"

_always = click.option("--always", is_flag=True, help="It loads at the start of every session.")
_domain = click.option("--domain", metavar="NAME", help="It is read when NAME (git, sql, ..) is touched.")
_folder = click.option(
    "--project",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Only for the project of DIR.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("rules", cls=Group, otherwise=" To read the rules of a domain: hippo rules show {name}.")
def rules_command() -> None:
    """Rules you set. They are yours: no job changes them."""


@rules_command.command(
    "add",
    epilog=examples(
        'hippo rules add "Answer first, then explain." --always',
        'hippo rules add "Never commit a secret to git." --domain git',
    ),
)
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
@_always
@_domain
@_folder
def add(words: tuple[str, ...], always: bool, domain: str | None, folder: str | None) -> None:
    """Set a rule, in your own words."""
    from hippo_core.curate.rules import add_rule

    domain = _one_place(always, domain)
    scope = _scope(folder)
    here = paths.current()
    with Store.open(here.store) as store:
        rule = add_rule(store, here, " ".join(words), scope=scope, domain=domain)
        say(f"Added {rule.public_id}, {scope.label}.")
        _say_what_loads(store, rule)


@rules_command.command("list", short_help="All rules: standing, of each domain, and heard.")
@click.option("--domain", metavar="NAME", help="Only those of NAME.")
@_json
def list_(domain: str | None, as_json: bool) -> None:
    """All rules: standing ones, those of each domain, and what was heard but not accepted."""
    from hippo_core.render.rules import normalise_domain, user_rules

    with Store.open(paths.current().store, readonly=True) as store, store.reading():
        rules = user_rules(store)
        heard = store.memories.select(types=[MemoryType.RULE], author=Author.MACHINE)
        scopes = store.memories.scopes()
        loads = {key: _load_line(store, None if key == GLOBAL else scopes[key]) for key in _standing_scopes(rules)}
    if domain is not None:
        rules, heard, loads = [rule for rule in rules if rule.domain == normalise_domain(domain)], [], {}
    labels = {key: scope.label for key, scope in scopes.items()}
    if as_json:
        rows = [_row(memory, labels) for memory in (*rules, *heard)]
        click.echo(to_json(rows))
        return
    sections = [(line, [rule for rule in rules if rule.always and rule.scope == key]) for key, line in loads.items()]
    for name in sorted({rule.domain for rule in rules if rule.domain}):
        sections.append((f'Rules for "{name}":', [rule for rule in rules if rule.domain == name]))
    placeless = [rule for rule in rules if not rule.always and not rule.domain]
    sections.append((f"Rules that load nowhere yet; {_ACCEPT}:", placeless))
    more = f" (the newest {_MOST_HEARD} of {len(heard)})" if len(heard) > _MOST_HEARD else ""
    sections.append((f"Heard in sessions, not in force{more}; {_ACCEPT}:", heard[:_MOST_HEARD]))
    blocks = ["\n".join([head, *(_line(rule, labels) for rule in of)]) for head, of in sections if of]
    say("\n\n".join(blocks) or "There are no rules. To set one: hippo rules add TEXT --always")


@rules_command.command(
    "show", short_help="What the agent reads: of a domain, or always.", epilog=examples("hippo rules show git")
)
@click.argument("domain", required=False)
def show(domain: str | None) -> None:
    """What the agent reads for DOMAIN in this folder; without one, the standing rules."""
    from hippo_core.render.rules import rules_for

    folder = current_folder()
    scopes = [GLOBAL] if folder is None else [GLOBAL, scope_of(folder).key]
    with Store.open(paths.current().store, readonly=True) as store:
        say(rules_for(store, domain, scopes))


@rules_command.command(
    "accept", epilog=examples("hippo rules accept m41c --always", "hippo rules accept m41c --domain git")
)
@click.argument("public_id", metavar="ID")
@_always
@_domain
def accept(public_id: str, always: bool, domain: str | None) -> None:
    """Make a memory, such as a rule heard in a session, a rule of yours."""
    from hippo_core.curate.rules import accept_rule

    domain = _one_place(always, domain)
    here = paths.current()
    with Store.open(here.store) as store:
        rule = accept_rule(store, here, _number(public_id), domain=domain)
        say(f"Accepted {rule.public_id}: {harmless(rule.text)}")
        _say_what_loads(store, rule)


@rules_command.command("edit", epilog=examples('hippo rules edit m41c "Squash before merging."'))
@click.argument("public_id", metavar="ID")
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
def edit(public_id: str, words: tuple[str, ...]) -> None:
    """Give a rule other words."""
    from hippo_core.curate.rules import edit_rule

    here = paths.current()
    with Store.open(here.store) as store:
        rule = edit_rule(store, here, _number(public_id), " ".join(words))
        say(f"Changed {rule.public_id}: {harmless(rule.text)}")
        _say_what_loads(store, rule)


@rules_command.command("remove", epilog=examples("hippo rules remove m41c"))
@click.argument("public_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(public_id: str, yes: bool) -> None:
    """Take a rule out of force."""
    from hippo_core.curate.rules import remove_rule, rule

    here = paths.current()
    with Store.open(here.store) as store:
        doomed = rule(store, _number(public_id))
        if not yes:
            say(f"{doomed.public_id}  {harmless(doomed.text)}")
            ask("Remove this rule?", left="Nothing was removed")
        remove_rule(store, here, doomed.id)
        say(f"Removed {doomed.public_id}. To delete its words as well: hippo forget {doomed.public_id}")
        say(_load_line(store))


def _one_place(always: bool, domain: str | None) -> str | None:
    """The domain, None for a standing rule."""
    if always == (domain is not None):
        raise UsageError(
            "Say when the rule is read, by one of these: --always (in every session), or --domain NAME (when NAME is "
            "touched, such as --domain git)."
        )
    return domain


def _scope(folder: str | None) -> Scope:
    if folder is None:
        return GLOBAL_SCOPE
    scope = scope_of(os.path.abspath(folder))
    if scope.key == GLOBAL:
        raise UsageError(f"{folder} is your home folder or above it, which is no project. Name the project's folder.")
    return scope


def _number(public_id: str) -> int:
    kind, number = parse_id(public_id)
    if kind != "memory":
        raise UsageError(f"{public_id} is an archived message, not a rule. See: hippo rules list")
    return number


def _say_what_loads(store: Store, rule: Memory) -> None:
    if rule.domain:
        say(f"It is read with /rules {rule.domain}, and named once in a session whose prompt mentions it.")
    else:
        scopes = store.memories.scopes()
        say(_load_line(store, None if rule.scope == GLOBAL else scopes[rule.scope]))


def _load_line(store: Store, project: Scope | None = None) -> str:
    """How many standing rules load, in every session or in a project's besides, and what they cost."""
    from hippo_core.render.refresh import standing_rules

    every = standing_rules(store)
    load, where, used = every, "every session", every.tokens
    if project:
        load = standing_rules(store, project)
        where, used = f"each session of {project.label}", every.tokens + load.tokens
    left = load.total - load.shown
    omitted = f"; {left} {'does' if left == 1 else 'do'} not fit, and the model is told so" if left else ""
    return (
        f"Standing rules: {load.shown} of {load.total} load in {where}{omitted}. "
        f"About {used:,} of {budget.STANDING_TOKENS:,} tokens are used there."
    )


def _standing_scopes(rules: list[Memory]) -> list[str]:
    """The scopes that have standing rules, GLOBAL first."""
    return sorted({rule.scope for rule in rules if rule.always}, key=lambda key: (key != GLOBAL, key))


def _line(rule: Memory, labels: dict[str, str]) -> str:
    where = "" if rule.scope == GLOBAL else f" [{labels[rule.scope]}]"
    return f"  {rule.public_id.ljust(6)} {harmless(rule.text)}{where}"


def _row(rule: Memory, labels: dict[str, str]) -> dict[str, object]:
    return {
        "id": rule.public_id,
        "text": rule.text,
        "always": rule.always,
        "domain": rule.domain,
        "scope": labels[rule.scope],
        "author": rule.author.value,
    }
