"""Finds transcript files below a folder. Knows only names, never what is inside a file."""

import os
from pathlib import Path

from hippo_core.errors import UsageError

_AGENT_PREFIX = "agent-"


def readable_root(name: str) -> Path:
    """The folder, or single transcript, that somebody named. UsageError for what holds nothing that could be read."""
    root = Path(name)
    if not name.strip():
        raise UsageError("The name of the folder is empty. Nothing was read. Name a folder of transcripts.")
    if not root.exists():
        raise UsageError(f"There is no folder {root}. Nothing was read. Check the name.")
    if not (root.is_dir() or root.is_file()):
        raise UsageError(f"{root} is neither a folder nor a file. Nothing was read. Name a folder of transcripts.")
    if not os.access(root, os.R_OK | (os.X_OK if root.is_dir() else 0)):
        raise UsageError(f"{root} may not be read by you. Nothing was read. Check whose it is.")
    return root


def transcript_files(root: Path) -> list[Path]:
    """Every *.jsonl under `root` (or `root` itself, when it is a file), in a stable order.

    Main sessions come before all sub-agents, so that a sub-agent finds its parent's session. Last come folders that
    cannot be read, so that whoever reads files says so; links to folders are not followed.
    """
    if root.is_file():
        return [root]
    closed: list[OSError] = []
    found = [
        (name.startswith(_AGENT_PREFIX), os.path.join(folder, name))
        for folder, _, names in os.walk(root, onerror=closed.append)
        for name in names
        if name.endswith(".jsonl")
    ]
    shut = [error.filename for error in closed if not isinstance(error, FileNotFoundError)]
    return [Path(path) for path in [path for _, path in sorted(found)] + sorted(shut)]


def is_agent_file(path: Path) -> bool:
    """Whether a sub-agent wrote it: `<session>/subagents/agent-<id>.jsonl`, or `agent-<id>.jsonl` beside a session."""
    return path.name.startswith(_AGENT_PREFIX)


def agent_of(path: Path) -> str | None:
    """The sub-agent's id in the file's name."""
    return path.stem[len(_AGENT_PREFIX) :] if is_agent_file(path) else None


def session_of(path: Path) -> str:
    """The session that the file's place names; a record that names its own is more exact."""
    if is_agent_file(path) and path.parent.name == "subagents":
        return path.parent.parent.name
    return path.stem
