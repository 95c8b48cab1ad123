"""How the tool server's arguments are described to the model, and how it is told of wrong ones.

The protocol's library writes titles, references and null types that say nothing new, into every session's context.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same JSON schema of an object's arguments without titles, references and `null` as an alternative."""
    known = schema.get("$defs", {})
    properties = {name: _plain_argument(argument, known) for name, argument in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        **{key: schema[key] for key in ("required",) if schema.get(key)},
    }


def _plain_argument(argument: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    one = dict(argument)
    for choice in one.pop("anyOf", ()):
        if choice != {"type": "null"}:
            one |= choice
    if "$ref" in one:
        one |= known[one.pop("$ref").rpartition("/")[2]]
    return {key: value for key, value in one.items() if key != "title" and (key, value) != ("default", None)}


def misfits(errors: Sequence[Mapping[str, Any]]) -> str:
    """One line for arguments that do not fit."""
    return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in errors) + ". Nothing was done."
