"""A command that has commands of its own, and helps whoever mistakes their names."""

import click


class Group(click.Group):
    """otherwise: what else may be wanted by a name that is no command's; `{name}` stands for it."""

    def __init__(self, *arguments, otherwise: str = "", **more):
        super().__init__(*arguments, **more)
        self._otherwise = otherwise

    def resolve_command(self, ctx: click.Context, args: list[str]):
        """As any group does; a name that is no command's is answered with those that it may be meant for."""
        name, commands = args[0], self.list_commands(ctx)
        if name not in commands:
            import difflib

            near = difflib.get_close_matches(name, commands, cutoff=0.7)
            meant = f" Did you mean: {', '.join(f'{ctx.command_path} {one}' for one in near)}?" if near else ""
            ctx.fail(f"No such command {name!r}.{meant or self._otherwise.format(name=name)}")
        return super().resolve_command(ctx, args)
