"""Killed anywhere and run again, the archive step ends up where an undisturbed run does."""

import os
import subprocess
import sys

import pytest
from archive_rows import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcript_files import user, write

from hippo_core.ingest import archive as step
from hippo_core.ingest.archive import archive_files
from hippo_core.paths import Paths
from hippo_core.store import Store
from hippo_core.transcripts.discover import transcript_files


class Killed(BaseException):
    """Stands for the end of the process: nothing may catch it."""


def _session(folder, name, turns, parent=None):
    records = [user(f"{name} asks {n}", n, sessionId=parent or name, uuid=f"{name}-{n}") for n in range(turns)]
    return write(folder / (f"agent-{name}.jsonl" if parent else f"{name}.jsonl"), *records)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 25), st.sampled_from([1, 3, 200])), max_size=3),
)
def test_interrupted_the_store_does_not_shrink_nor_repeat(tmp_path_factory, turns, deaths):
    """Killed at any message or at any commit, and run again, it ends up as an undisturbed run does."""
    folder = tmp_path_factory.mktemp("killed")
    files = [_session(folder, f"s{n}", count) for n, count in enumerate(turns)]
    files.append(_session(folder, "helper", 2, parent="s0"))
    with Store.open(Paths(folder / "calm").store) as store:
        archive_files(store, files)
        expected, places = rows(store), store._db.execute("SELECT * FROM archive_session ORDER BY id").fetchall()
    for death, at_once in deaths:
        _run_until(Paths(folder / "killed").store, files, death, at_once)
    with Store.open(Paths(folder / "killed").store) as store:
        archive_files(store, files)
        assert rows(store) == expected
        assert store._db.execute("SELECT * FROM archive_session ORDER BY id").fetchall() == places
        assert all(source.offset == os.path.getsize(path) for path, source in store.progress.sources().items())
        assert archive_files(store, files).files == 0


def _run_until(database, files, death, at_once):
    """Archive `files` and die at the given step; each message read, each portion stored and each commit is one."""
    steps = iter(range(death))

    def count(*_):
        if next(steps, None) is None:
            raise Killed
        return False  # for the commit hook: go on

    with Store.open(database) as store, pytest.MonkeyPatch.context() as patch:
        guard, append_all = step.guard, store.archive.append_all
        patch.setattr(step, "MOST_AT_ONCE", at_once)
        patch.setattr(step, "PORTION", at_once)
        patch.setattr(step, "guard", lambda message: (count(), guard(message))[1])
        store.archive.append_all = lambda entries: (count(), append_all(entries))[1]
        store._db.set_commit_hook(count)
        try:
            archive_files(store, files)
        except Killed:
            pass
        store._db.set_commit_hook(None)


def test_a_killed_process_leaves_a_store_that_goes_on(tmp_path, paths):
    """A real process, ended without a chance to clean up in the middle of a transaction."""
    files = [_session(tmp_path, f"s{n}", 5) for n in range(4)]
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from hippo_core.ingest import archive as step\n"
        "from hippo_core.store import Store\n"
        "real, step.PORTION = step.guard, 5\n"
        "step.guard = lambda m: os._exit(9) if m.text == 's2 asks 3' else real(m)\n"
        "step.archive_files(Store.open(Path(sys.argv[1])), [Path(each) for each in sys.argv[2:]])\n"
    )
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    killed = subprocess.run([sys.executable, "-c", script, paths.store, *files], env=here, timeout=120)
    assert killed.returncode == 9
    with Store.open(paths.store) as store:
        assert len(rows(store)) == 10
        assert archive_files(store, files).messages == 10
        assert store._db.pragma("integrity_check") == "ok"


def test_real_transcripts_read_in_parts_give_what_reading_at_once_gives(samples, tmp_path, paths):
    """Every session file cut at a third and at two thirds of its bytes, wherever that falls.

    Without summaries: one that stands alone at the head of a file cannot know yet that a program held the session.
    """

    def spoken(store):
        return sorted(text for _, _, _, _, role, _, text, *_ in rows(store) if role != "summary")

    files = [path for path in transcript_files(samples) if 2_000 < path.stat().st_size < 300_000][:60]
    with Store.open(paths.store) as store:
        archive_files(store, files)
        expected = spoken(store)
    copies = {path: tmp_path / f"{n}" / path.name for n, path in enumerate(files)}
    with Store.open(Paths(tmp_path / "parts").store) as store:
        for third in (1, 2, 3):
            for path, copy in copies.items():
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(path.read_bytes()[: path.stat().st_size * third // 3])
            archive_files(store, list(copies.values()))
        assert len(expected) > 100 and spoken(store) == expected
