"""Which scopes a search looks into: the project of a folder plus what is global, one named project, or everything."""

from hippo_core.errors import UsageError
from hippo_core.model.scope import GLOBAL, joined_projects, scope_of
from hippo_core.store import Store

EVERYWHERE = "all projects"


def search_scopes(
    store: Store, folder: str | None, project: str | None, everywhere: bool
) -> tuple[list[str] | None, str]:
    """(scope keys or None for everything, what to call it). UsageError for a project the store does not know.

    A folder whose project is unknown to the store searches everything: better a wide answer than none.
    """
    if project is None and (everywhere or folder is None):
        return None, EVERYWHERE
    if project is not None:
        return _named(store, project), project
    moved = joined_projects()
    here = scope_of(folder, moved)
    with store.reading():  # most that are known have memories, and the archive's code is not loaded for those
        known = here.key in store.memories.scopes() or here.key in store.archive.projects()
    if known and here.key != GLOBAL:
        joined_to_it = [key for key, (earlier, _, _) in moved.items() if earlier == here.key]
        return [here.key, *joined_to_it, GLOBAL], here.label
    return None, EVERYWHERE


def _named(store: Store, project: str) -> list[str]:
    """The scopes of the projects of that name or key, and what is global."""
    with store.reading():
        known = {**store.archive.projects(), **store.memories.scopes()}
    projects = [scope for scope in known.values() if scope.kind == "project"]
    named = [scope.key for scope in projects if project.casefold() in (scope.key, scope.label.casefold())]
    if not named:
        labels = sorted({scope.label for scope in projects})
        raise UsageError(
            f"No project {project!r} is known. Known: {', '.join(labels[:12]) or 'none yet'}. Or use --all."
        )
    return [*named, GLOBAL]
