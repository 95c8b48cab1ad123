"""Examples of a command: shown below its help, and one of them where its arguments are wrong. Knows no command."""

_HEAD = "\b\nFor example:\n"


def examples(*lines: str) -> str:
    """What the command framework prints below the options; each line is typed as it stands."""
    return _HEAD + "\n".join(f"  {line}" for line in lines)


def listed(epilog: str | None) -> list[str]:
    """The lines that `examples` was given."""
    return [line.strip() for line in (epilog or "").removeprefix(_HEAD).splitlines()]
