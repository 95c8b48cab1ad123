"""Whether Claude Code has the plugin, by what its settings say. Reads; standard library only.

Knows nothing of how the plugin gets there.
"""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from hippo_core.paths import Paths

MARKETPLACE = "hippocampus"
PLUGIN = f"hippo@{MARKETPLACE}"
ENABLED, DISABLED, NOT_REGISTERED, NOT_INSTALLED = "enabled", "disabled", "not registered", "not installed"
UNKNOWN = "not known, for its settings cannot be read"

_BYTE_ORDER_MARK = "\ufeff"


def plugin_state(paths: Paths, clients: Sequence[Path]) -> str:
    """How the client folders `clients` have the plugin: the best of what each of them says."""
    if not (paths.plugin / ".claude-plugin" / "marketplace.json").exists():
        return NOT_INSTALLED
    states = {_state_in(folder) for folder in clients}
    return next(state for state in (ENABLED, UNKNOWN, DISABLED, NOT_REGISTERED) if state in states)


def _state_in(client: Path) -> str:
    data = None
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            data = (client / "settings.json").read_bytes()
    except OSError:
        return UNKNOWN
    enabled = plugin_enabled(data)
    return NOT_REGISTERED if enabled is None else ENABLED if enabled else DISABLED


def plugin_enabled(data: bytes | None) -> bool | None:
    """What these settings say of our plugin; None where they say nothing."""
    enabled = values(data).get("enabledPlugins")
    return enabled.get(PLUGIN) if isinstance(enabled, dict) else None


def values(data: bytes | None, **parsing: type) -> dict:
    """The settings as an object; empty where there are none, or none that can be read."""
    try:
        text = (data or b"{}").decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
        value = json.loads(text, strict=False, **parsing)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
