"""The store under a hard life: a small part of benchmarks/reliability.py, seeded."""

import os
import random
import subprocess
import sys

import pytest
from crowd import run_crowd, what_is_wrong
from hardship import NOW, differences, finish_pass, mutated, session_lines, start_pass, whole_store
from peak import peak_of

from hippo_core.distill.offline import OfflineDistiller
from hippo_core.errors import StoreFullError
from hippo_core.ingest.archive import archive_files
from hippo_core.ingest.distil import distil_sessions
from hippo_core.ingest.run import run_pass
from hippo_core.recall.archive import search_archive
from hippo_core.store import Store


def session(number):
    return f"{number:08d}-0000-4000-8000-000000000000"


@pytest.fixture
def root(isolated):
    folder = isolated / "transcripts"
    for number in range(12):
        file = folder / f"project{number % 3}" / f"{session(number)}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(session_lines(session(number), 9, about=f"part {number}", place=f"project{number % 3}"))
    return folder


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of the size asked for; skips where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = []

    def mount(size):
        options = f"size={size}" if not mounted else f"remount,size={size}"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if sys.platform != "linux" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("a small file system to fill up can only be mounted by root on Linux")
        mounted.append(size)
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [16, 100, 250, 400, 520])
def test_a_disk_that_fills_up_anywhere_loses_nothing(isolated, root, small_disk, kilobytes):
    pytest.importorskip("sqlite_vec", reason="vectors are a part of what is compared")
    disk = small_disk(kilobytes * 1024)
    output, _ = start_pass(disk / "home", root, now=NOW).communicate()
    assert output.decode().splitlines()[-1].startswith("error StoreFullError"), output.decode()[-500:]
    small_disk(64_000_000)
    finish_pass(disk / "home", root, now=NOW)
    finish_pass(isolated / "undisturbed", root, now=NOW)
    assert differences(whole_store(disk / "home"), whole_store(isolated / "undisturbed")) == []


def test_a_store_created_on_a_full_disk_says_so_in_a_line(small_disk):
    disk = small_disk(16 * 1024)
    with pytest.raises(StoreFullError, match="free some space"):
        Store.open(disk / "memory.db")
    small_disk(64_000_000)
    Store.open(disk / "memory.db").close()


def test_eight_processes_at_once_lose_nothing_and_complain_of_nothing(isolated):
    done = run_crowd(isolated / "home", isolated / "transcripts", seconds=3)
    assert what_is_wrong(isolated / "home", done) == []
    assert all(one["turns"] for one in done) and sum(len(one["added"]) for one in done) > 1


@pytest.mark.parametrize("seed", range(4))
def test_damaged_transcripts_raise_nothing_and_damage_nothing(store, isolated, seed):
    chance = random.Random(seed)
    originals = [session_lines(session(n), 12, about=f"部署 {n}", tool_bytes=n % 3 * 500) for n in range(5)]
    for number in range(60):
        file = isolated / f"{session(number)}.jsonl"
        file.write_bytes(mutated(chance.choice(originals), chance, originals))
        archived = archive_files(store, [file])
        assert archived.failed == []
        assert distil_sessions(store, OfflineDistiller(), sorted(archived.sessions)).failed == []
    assert store.upkeep.damage() == [] and store.upkeep.gaps() == []
    assert store.archive.counts()[0] > 100


def test_what_the_client_deletes_after_30_days_is_still_found(paths, store, root):
    """claude-code#62476"""
    run_pass(paths, roots=[root], embed=False, unfinished=True)
    before = store.archive.counts()
    for file in sorted(root.rglob("*.jsonl")):
        file.unlink()
    report = run_pass(paths, roots=[root], embed=False, unfinished=True)
    assert report.failed == [] and report.messages == 0 and store.archive.counts() == before
    found = search_archive(store, "which library for part 7", scopes=None, k=3)
    assert any("part 7" in hit.message.text for hit in found.hits)


_PASS = """
import sys
from pathlib import Path
from hippo_core.ingest.run import run_pass
from hippo_core.paths import Paths
opened = []
sys.addaudithook(lambda event, what: event == "open" and str(what[0]).endswith(".jsonl") and opened.append(what[0]))
run_pass(Paths(Path(sys.argv[1])), roots=[Path(sys.argv[2])], embed=False, unfinished=True)
print(len(opened))
print(peak())
"""


def test_the_memory_of_a_pass_does_not_grow_with_its_files(isolated):
    peaks = []
    for megabytes in (2, 60):
        root = isolated / f"of{megabytes}"
        root.mkdir()
        with (root / f"{session(1)}.jsonl").open("wb") as file:
            for part in range(megabytes):
                file.write(session_lines(session(1), 2, about="the shop", begin=part * 6, tool_bytes=500_000))
        peaks.append(peak_of(_PASS, str(isolated / f"home{megabytes}"), str(root))[1])
    assert peaks[1] - peaks[0] < 20


def test_a_second_pass_opens_no_transcript(isolated, root):
    first, second = (peak_of(_PASS, str(isolated / "home"), str(root))[0] for _ in range(2))
    assert first >= 12 and second == 0
