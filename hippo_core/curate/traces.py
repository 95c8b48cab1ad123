"""The loose files of the data folder: which hold a text, and taking it out of those that are logs.

Knows nothing of the store, and leaves the environment and the staged plugin alone: nothing a user says gets there.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hippo_core.embed.cache import forget_queries
from hippo_core.log import LINE_BREAK
from hippo_core.paths import Paths, write_atomic

_MOST_BYTES = 64_000_000
_ABANDONED = 60.0  # seconds after which a half-written file belongs to nobody


def holding(texts: Iterable[str]) -> Callable[[bytes], bool]:
    """Whether bytes hold one of `texts`, as UTF-8, UTF-16 or inside JSON; case ignored where that is ASCII.

    In UTF-8 it may be broken into lines otherwise.
    """
    forms = _forms(texts)
    return lambda data: _holds(data, forms)


def files_holding(paths: Paths, texts: Iterable[str]) -> list[Path]:
    """The files that hold one of `texts`, as UTF-8, UTF-16 or inside JSON; case ignored where that is ASCII."""
    forms = _forms(texts)
    return [file for file in _loose_files(paths) if _holds(_read(file), forms)]


def logs_holding(paths: Paths, texts: Iterable[str]) -> list[Path]:
    """Those of them that `clean_loose_files` takes it out of."""
    return [file for file in files_holding(paths, texts) if _is_log(paths, file)]


def clean_loose_files(paths: Paths, texts: Iterable[str]) -> None:
    """Take every line that holds one of `texts` out of the logs, and delete half-written files that hold one.

    The vectors of what was asked go all together: which of them speak of these texts cannot be told.
    """
    forget_queries(paths.queries)
    forms = _forms(texts)
    for file in _loose_files(paths):
        data = _read(file)
        if not _holds(data, forms):
            continue
        if file.name.startswith(".") and file.suffix == ".tmp":
            if time.time() - file.stat().st_mtime > _ABANDONED:
                file.unlink(missing_ok=True)
        elif _is_log(paths, file):
            kept = [line for line in data.splitlines(keepends=True) if not _holds(line, forms)]
            write_atomic(file, b"".join(kept))


def _is_log(paths: Paths, file: Path) -> bool:
    return paths.log in file.parents or paths.run in file.parents


def _loose_files(paths: Paths) -> Iterator[Path]:
    apart = {paths.venv, paths.plugin}
    for folder, below, names in os.walk(paths.home):
        below[:] = [name for name in below if Path(folder, name) not in apart]
        for name in names:
            if not name.startswith(paths.store.name):
                yield Path(folder, name)


def _forms(texts: Iterable[str]) -> list[bytes]:
    """How a text may be written down, in lower case."""
    forms: dict[bytes, None] = {}
    for text in texts:
        one_line = " ".join(text.replace(LINE_BREAK, " ").split())
        for spelling in dict.fromkeys((text, text.lower(), text.upper(), one_line, one_line.lower(), one_line.upper())):
            inside_json = [json.dumps(spelling, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)]
            for written in (spelling, *inside_json):
                for encoding in ("utf-8", "utf-16-le"):
                    forms[written.encode(encoding, "surrogatepass").lower()] = None
    return list(forms)


def _holds(data: bytes, forms: list[bytes]) -> bool:
    lowered = data.lower()
    one_line = b" ".join(lowered.replace(LINE_BREAK.encode(), b" ").split())
    return any(form in lowered or form in one_line for form in forms)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return b""
