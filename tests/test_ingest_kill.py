"""Killed anywhere, a pass leaves a store from which the next one finishes: nothing twice, nothing missing."""

import json
import os
import random

import pytest
from hardship import NOW, differences, finish_pass, start_pass, whole_store
from transcript_files import assistant, user, write

SESSIONS = 14
KILLS = 5


@pytest.fixture
def root(isolated):
    """Sessions that speak of the same things, so that memories are added, confirmed and replaced."""
    folder = isolated / "transcripts"
    for n in range(SESSIONS):
        session = f"00000000-0000-4000-8000-{n:012d}"
        start = 100 * n
        turns = [
            user(f"We decided on library{n % 5} because of bug {n % 3}.", start, sessionId=session),
            assistant(f"The worker listens on port {8000 + n}.", start + 1, sessionId=session),
            user("Never commit generated files.", start + 2, sessionId=session),
            assistant("It went on and on. " * 40, start + 3, sessionId=session),
        ]
        write(folder / f"project{n % 2}" / f"{session}.jsonl", *turns)
    return folder


def kill_after(home, root, lines: int) -> bool:
    """Kill a pass after it told of `lines` steps; False when it was done before."""
    process = start_pass(home, root, now=NOW)
    with process.stdout:
        told = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        process.wait()
    return b"end\n" not in told


@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_pass_is_finished_by_the_next_one(isolated, root, seed):
    pytest.importorskip("sqlite_vec", reason="vectors are a part of what is compared")
    undisturbed, killed = isolated / "undisturbed", isolated / "killed"
    finish_pass(undisturbed, root, now=NOW)
    chance = random.Random(seed)
    died = [kill_after(killed, root, chance.randint(2, 10)) for _ in range(KILLS)]
    assert any(died), "no pass was killed at work"
    finish_pass(killed, root, now=NOW)
    expected = whole_store(undisturbed)
    assert differences(whole_store(killed), expected) == []
    ends = (1, 4 * SESSIONS)
    assert len(expected["message"]) == ends[1] and expected["archive_model"][0][-4:] == (*ends, *ends)
    assert expected["memory"] and expected["memory_vector_1"]
    assert any(name.startswith("render/project/p") for name in expected)


def test_a_pass_that_was_killed_leaves_no_lock(isolated, root):
    home = isolated / "killed"
    kill_after(home, root, 3)
    assert os.path.exists(home / "run" / "ingest.lock")
    finish_pass(home, root, now=NOW)
    assert json.loads((home / "render" / "state.json").read_text(encoding="utf-8"))
