"""The `hippo` command: finds a subcommand's module when it is called, so that a cold command loads only what it uses.

Prints an error of ours as its one line and exits with its code. No command's logic is here.
"""

import importlib
import sys

import click

from hippo_core import __version__
from hippo_core.cli.example import listed
from hippo_core.cli.failing import plain_errors
from hippo_core.cli.group import Group
from hippo_core.errors import UsageError

COMMANDS = {
    # name: (module in hippo_core.cli, help line); the module's function is the name plus `_command`
    "recall": ("recall", "The memories that answer a question."),
    "archive": ("archive", "Search everything that was ever said, by words and by meaning."),
    "remember": ("memories", "Store a memory of your own; no job ever changes it."),
    "list": ("memories", "List memories."),
    "show": ("memories", "One memory or archived message in full."),
    "why": ("why", "The exact words a memory came from, and what became of it."),
    "forget": ("forget", "Delete memories and messages for good."),
    "projects": ("projects", "Which projects are known; go on with one that was moved."),
    "rules": ("rules", "Rules for every session, or for a domain."),
    "nudge": ("nudge", "The line that is added to every prompt."),
    "proactive": ("proactive", "Memories that are added to prompts unasked."),
    "ingest": ("ingest", "Read transcripts now."),
    "dream": ("dream", "The night's work, now."),
    "undo": ("dream", "Take back what a night changed by itself."),
    "watch": ("watch", "Read new transcripts, once or every hour."),
    "schedule": ("schedule", "What runs by itself, and who starts it."),
    "monitor": ("monitor", "Whether everything works, and whom to tell when it does not."),
    "snapshot": ("snapshot", "The nightly copies of rules, your own memories and settings."),
    "status": ("status", "What is stored, where, and what it costs."),
    "doctor": ("doctor", "Check everything, and repair what can be repaired."),
    "catch-up": ("ingest", "What the hooks start when a session ends."),
    "serve": ("serve", "The tool server, as the client starts it."),
}


class LazyGroup(Group):
    """A group whose commands are imported when they are looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _ = COMMANDS[name]
        return getattr(importlib.import_module(f"hippo_core.cli.{module}"), name.replace("-", "_") + "_command")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hippo")
def hippo() -> None:
    """Long-term memory for your coding agent. Everything stays on this machine."""


def main() -> None:
    with plain_errors():
        try:
            # Words are taken as typed: on Windows click would put the value of a $VARIABLE in its place.
            hippo.main(prog_name="hippo", standalone_mode=False, windows_expand_args=False)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.ClickException as error:
            raise UsageError(_one_line(error)) from None
        except click.Abort:
            raise KeyboardInterrupt from None


def _one_line(error: click.ClickException) -> str:
    """What was wrong with the arguments, how they may be, and where that is written."""
    said = " ".join(error.format_message().split())
    said = said if said.endswith((".", "?")) else f"{said}."
    context = getattr(error, "ctx", None)
    if type(error) in (click.UsageError, click.MissingParameter) and context and context.command.epilog:
        said += f" For example: {listed(context.command.epilog)[0]}"
        return f"{said} (more: {context.command_path} --help)"
    return f"{said} See: {context.command_path if context else 'hippo'} --help"


if __name__ == "__main__":
    main()
