"""What the searches of the command line share, whichever way their arguments came in."""

import os
from collections.abc import Mapping

from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.paths import Paths
from hippo_core.recall.present import harmless

_kept: list[Embedder] = []  # to the end, which is near: to give a model back takes longer than to search by it
_CODES = {"number": 1, "head": 36, "score": 32, "faint": 2}  # bold, cyan, green, dim


def model_for_questions(config: Config, here: Paths) -> Embedder:
    """The embedder of the settings, which does not load its model for a question that was asked before.

    VectorsUnavailableError when there is none.
    """
    from hippo_core.embed.cache import CachedQueries
    from hippo_core.embed.choose import open_embedder

    embedder = CachedQueries(open_embedder(config), here.queries)
    _kept.append(embedder)
    return embedder


def knows_colours(system: str, environment: Mapping[str, str]) -> bool:
    """Whether terminals here do. The plain console of Windows may not, and prints the codes; others name themselves."""
    return system != "nt" or any(name in environment for name in ("WT_SESSION", "TERM_PROGRAM", "TERM", "ConEmuANSI"))


def only_here(command: str, label: str) -> str:
    """A line to put below an answer of nothing, where one of other projects may have been meant."""
    return f"\nSearched: {harmless(label)} and what is global. In all projects: hippo {command} --all"


def coloured(kind: str, text: str) -> str:
    return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if knows_colours(os.name, os.environ) else text


def current_folder() -> str | None:
    """None where the folder was deleted under the shell."""
    try:
        return os.getcwd()
    except OSError:
        return None
