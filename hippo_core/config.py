"""The user's settings: one JSON file in the data folder. Everything has a default; an unknown key is left alone.

Knows the names and the defaults, not what they are used for.
"""

import json
import sys
from typing import Any, NamedTuple

from hippo_core.errors import UsageError
from hippo_core.paths import Paths, write_atomic

NUDGE = "Answer first: plain words, no filler, no flattery. If this touches earlier work, ask memory_search first."


class Config(NamedTuple):
    """embedder: local, openai or off. reranker: local, voyage or off. reranker_folder: where the local one's
    model lies. decay_rate: how fast memories age, 1 as designed.

    half_lives: days by type, over the ladder's. idle_minutes: how long a transcript must rest before it is distilled.
    nudge: the line that is added to every prompt, "" for none. nudge_kept: the user's own while it is switched off.
    proactive: memories that bear on a prompt, or on a
    sub-agent's task, are added to it unasked. alerts: where alerts go, addresses that apprise understands; they may
    hold passwords, so no text shows them. quiet_hours: local time, "" for none. archive_meaning: whether what was said
    is embedded as well, so that the archive is searched by meaning.
    """

    embedder: str = "local"
    openai_base_url: str | None = None
    reranker: str = "off"
    reranker_folder: str | None = None
    voyage_base_url: str | None = None
    decay_rate: float = 1.0
    half_lives: tuple[tuple[str, float], ...] = ()
    idle_minutes: float = 30.0
    nudge: str = NUDGE
    nudge_kept: str = ""
    proactive: bool = True
    archive_meaning: bool = True
    alerts: tuple[str, ...] = ()
    quiet_hours: str = "22:00-07:00"

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in self._asdict().items() if name != "alerts")
        return f"Config({', '.join(shown)})"


def load(paths: Paths) -> Config:
    """The settings in force; UsageError when the file cannot be read as settings."""
    raw = _raw(paths)
    chosen = {name: value for name, value in raw.items() if name in Config._fields}
    if isinstance(chosen.get("half_lives"), dict):
        chosen["half_lives"] = tuple(sorted(chosen["half_lives"].items()))
    named = chosen.get("alerts", ())
    if isinstance(named, (str, list, tuple)) or named is None:
        chosen["alerts"] = tuple(str(one) for one in ([named] if isinstance(named, str) else named or ()))
    config = Config(**chosen)
    for name in chosen:
        if not _fits(name, getattr(config, name)):
            raise UsageError(
                f"{paths.config} holds no possible value for {name}. Mend it, or delete it for the default."
            )
    return config


def unknown(paths: Paths) -> list[str]:
    """What the file holds under names that no setting has."""
    return [name for name in _raw(paths) if name not in Config._fields]


def _fits(name: str, value: Any) -> bool:
    """Whether a setting has a value of its kind; what a text may say is for whoever reads it to judge."""
    if name in ("decay_rate", "idle_minutes"):
        return _is_amount(value)
    if name == "half_lives":
        return isinstance(value, tuple) and all(_is_amount(days) and days > 0 for _, days in value)
    if name in ("openai_base_url", "voyage_base_url"):
        return value is None or isinstance(value, str) and _is_address(value)
    if name == "reranker_folder":
        return value is None or isinstance(value, str)
    return isinstance(value, type(Config._field_defaults[name]))


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max


def _is_address(value: str) -> bool:
    """Whether the libraries that go there can at least read it: what they throw otherwise is no error of theirs."""
    from urllib.parse import urlsplit

    try:
        return value.isprintable() and urlsplit(value) is not None
    except ValueError:
        return False


def save(paths: Paths, **changes: Any) -> None:
    """Write settings, keeping all others as they are."""
    write(paths, {**_raw(paths), **changes})


def write(paths: Paths, values: dict[str, Any]) -> None:
    """Write these settings in place of all there are."""
    data = json.dumps(values, indent=2, ensure_ascii=False, sort_keys=True)
    write_atomic(paths.config, data.encode() + b"\n")


def _raw(paths: Paths) -> dict[str, Any]:
    try:
        raw = json.loads(paths.config.read_bytes())  # as bytes it may begin with a byte order mark, as editors write it
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{paths.config} cannot be read ({error}). Mend it, or delete it for the defaults.") from error
    if not isinstance(raw, dict):
        raise UsageError(f"{paths.config} must hold one JSON object. Mend it, or delete it for the defaults.")
    return raw
