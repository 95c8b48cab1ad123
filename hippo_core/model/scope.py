"""Scopes: global, or one project.

A scope key is short and alphanumeric (`g`, or `p` and 16 hex digits) so that the same word is a partition of the
vector index, a token of the keyword indexes and a file name. How a folder's project is found, and what it was joined
to, is project.py's concern.
"""

from typing import NamedTuple

from hippo_core.paths import data_home
from hippo_core.project import identify, joined, project_key

GLOBAL = "g"


class Scope(NamedTuple):
    """key: see above. kind: global or project. label: for people. identity: what the key was made from."""

    key: str
    kind: str
    label: str
    identity: str


GLOBAL_SCOPE = Scope(GLOBAL, "global", "everywhere", "")


CONTROLS = dict.fromkeys((*range(32), *range(127, 160)))  # what a terminal obeys: a folder may be called anything


def project_scope(identity: str, label: str) -> Scope:
    return Scope(project_key(identity), "project", _storable(label).translate(CONTROLS), _storable(identity))


def _storable(name: str) -> str:
    """What in the name of a folder is no text, as a sign for that."""
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


Joined = dict[str, tuple[str, str, str]]


def joined_projects() -> Joined:
    """By scope key: the key, label and identity of the earlier project that the user joined it to."""
    return joined(data_home())


def scope_of(folder: str, moved: Joined | None = None) -> Scope:
    """The project that `folder` belongs to, an earlier one where the user joined it to that; global for none.

    moved: the joined projects, for a caller that asks for many folders.
    """
    found = identify(folder)
    if found is None:
        return GLOBAL_SCOPE
    scope = project_scope(*found)
    earlier = (joined_projects() if moved is None else moved).get(scope.key)
    return Scope(earlier[0], "project", earlier[1], earlier[2]) if earlier else scope
