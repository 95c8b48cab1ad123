"""Asks a person before something is done. Knows nothing of what."""

import sys

import click

from hippo_core.errors import UsageError


def ask(question: str, *, left: str) -> None:
    """Return when the answer is yes; Abort when it is no. left: what to say where there is nobody to ask."""
    if not on_terminal():
        raise UsageError(f"{left}: there is no terminal to ask on. To do it without being asked, repeat with --yes.")
    if not click.confirm(question):
        raise click.Abort


def on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
