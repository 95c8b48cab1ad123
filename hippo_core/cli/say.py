"""Prints text for people, folded to their terminal. What programs read is printed as it is, by `click.echo`."""

import click

from hippo_core.cli.folding import folded


def say(text: str) -> None:
    click.echo(folded(text))
