"""Gathers what the checks judge: heartbeats, transcripts beside watermarks, store, plugin, disk. Reads, never writes.

A probe that fails says so as a fact and costs the others nothing. Knows no threshold but which files are worth a look.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippo_core import clock, heartbeat
from hippo_core.errors import HippoError, StoreCorruptError, StoreLockedError
from hippo_core.monitor.checks import HOUR, Facts
from hippo_core.paths import Paths
from hippo_core.registration import plugin_state
from hippo_core.schedule.jobs import Job
from hippo_core.store import Store
from hippo_core.store.progress import Source
from hippo_core.store.room import Room, room
from hippo_core.transcripts.discover import is_agent_file, session_of, transcript_files

AT_REST = 3 * HOUR  # a transcript that has not changed for so long should be in the store
AT_REST_UNSCHEDULED = clock.DAY
_LEARNED_WITHIN = 2 * clock.DAY
_WORTH_A_LOOK = 8_000  # bytes; a shorter transcript may well hold no message
_RECENT = 14 * clock.DAY


@dataclass(frozen=True)
class Transcript:
    """A client's transcript as it lies there."""

    path: Path
    size: int
    changed: float


def gather(
    paths: Paths,
    jobs: Sequence[Job],
    roots: Sequence[Path],
    *,
    awake: Mapping[str, float],
    scheduled_since: float,
    unsent_since: float | None,
    thorough: bool,
) -> Facts:
    """One look. thorough: have SQLite check the whole file, which reads all of it."""
    now = clock.now()
    beats = {job.name: beat for job in jobs if (beat := heartbeat.read(paths, job.name))}
    files = _transcripts(roots)
    return Facts(
        now=now,
        jobs=jobs,
        beats=beats,
        awake=awake,
        scheduled_since=scheduled_since,
        plugin=_plugin(paths, roots),
        room=_room(paths.store),
        unsent_since=unsent_since,
        **_from_store(paths, files, now, AT_REST if jobs else AT_REST_UNSCHEDULED, thorough),
    )


def _transcripts(roots: Sequence[Path]) -> list[Transcript]:
    found = []
    for path in dict.fromkeys(file for root in roots for file in transcript_files(root)):
        with contextlib.suppress(OSError):
            stat = path.stat()
            found.append(Transcript(path, stat.st_size, stat.st_mtime))
    return found


def _from_store(paths: Paths, files: Sequence[Transcript], now: float, rest: float, thorough: bool) -> dict[str, Any]:
    if not paths.store.exists():
        return {"store_problem": f"{paths.store} is not there"}
    try:
        with Store.open(paths.store, readonly=True) as store, store.reading():
            sources = store.progress.sources()
            unread = [file for file in files if now - file.changed > rest and _grew(file, sources)]
            barren = _barren(store, files, sources, now)
            return {
                "store_read": True,
                "unread": len(unread),
                "unread_since": min((file.changed for file in unread), default=None),
                "barren": len(barren),
                "barren_since": min((file.changed for file in barren), default=None),
                "waiting": len(store.progress.undistilled(now - _LEARNED_WITHIN)),
                "set_aside": sum(source.set_aside for source in sources.values()),
                "damage": store.upkeep.damage() if thorough else (),
            }
    except StoreLockedError:
        return {}  # somebody is at work in it, which is no trouble
    except StoreCorruptError as error:  # some damage ends even SQLite's own check before it is through
        return {"damage": [str(error)]}
    except HippoError as error:
        return {"store_problem": str(error)}


def _grew(file: Transcript, sources: Mapping[str, Source]) -> bool:
    """Whether a transcript holds bytes that nobody took in. One that was set aside is a finding of its own."""
    source = sources.get(_name(file.path))
    if source is None:
        return file.size > 0
    return not source.set_aside and source.size != file.size


def _barren(store: Store, files: Sequence[Transcript], sources: Mapping[str, Source], now: float) -> list[Transcript]:
    """The newest transcripts, in a row, that were read to their end and of whose session no message is there."""
    read = [
        file
        for file in files
        if file.size >= _WORTH_A_LOOK
        and now - file.changed < _RECENT
        and not is_agent_file(file.path)
        and (source := sources.get(_name(file.path)))
        and source.error is None
        and source.size == file.size
    ]
    barren = []
    for file in sorted(read, key=lambda file: -file.changed):
        if store.archive.session_place(session_of(file.path)):
            break
        barren.append(file)
    return barren


def _name(path: Path) -> str:
    """A path as the store keeps it."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _plugin(paths: Paths, roots: Sequence[Path]) -> str | None:
    """How the clients have the plugin, each in the folder that its transcripts are in; None without an installer."""
    return plugin_state(paths, [root.parent for root in roots]) if paths.install_record.exists() else None


def _room(store: Path) -> Room | None:
    with contextlib.suppress(OSError):
        return room(store)
    return None
