"""`hippo serve`: the tool server, as the client starts it."""

import os

import click

from hippo_core import paths as places


@click.command("serve")
def serve_command() -> None:
    """Answer tool calls on standard input and output until the client closes them."""
    if os.environ.get("HIPPO_CHILD"):
        return  # a session that our own distiller runs gets no memory tools
    from hippo_core.server import serve
    from hippo_core.wire import mend_input

    mend_input()
    serve(places.current())
