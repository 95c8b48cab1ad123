"""What becomes of the history of snapshots: forgetting reaches all of it, and damage costs no more than it must."""

import os
import shutil
import subprocess
import zlib

import pytest
from click.testing import CliRunner
from snapshots import SECRET, everything_in, fill, history, human, needs_git, run, shown

from hippo_core import config as settings
from hippo_core import heartbeat
from hippo_core.cli.main import hippo
from hippo_core.curate.forget import forget, what_would_go
from hippo_core.curate.rules import add_rule
from hippo_core.errors import BusyError, SnapshotError
from hippo_core.lock import one_at_a_time
from hippo_core.model.scope import GLOBAL_SCOPE
from hippo_core.model.types import Author
from hippo_core.snapshot import repository as repositories
from hippo_core.snapshot.repository import Repository
from hippo_core.snapshot.take import take


@pytest.fixture
def known(store, paths):
    fill(store, paths)
    return store


# -- forgetting -----------------------------------------------------------------------------------------------------


@needs_git
def test_forgetting_reaches_every_object_of_the_history(known, paths):
    """Deleted, and yet still in the bytes of the file."""
    memory = human(known, SECRET)
    take(paths)
    with known.transaction():
        known.memories.update(memory.id, 1, "user", Author.HUMAN, text="Since May the gate opens with lilac instead.")
    take(paths)
    settings.save(paths, nudge="Something else.")
    take(paths)
    assert b"honeysuckle" in everything_in(paths) and b"lilac" in everything_in(paths)
    done = forget(known, paths, what_would_go(known, [memory.public_id]))
    data = everything_in(paths)
    assert b"honeysuckle" not in data and b"lilac" not in data and done.still_in == ()
    assert [commit.message for commit in history(paths)] == [  # the night that changed it is no more
        "2 rules, 1 memory; files added 6, changed 0, removed 0",
        "2 rules, 1 memory; files added 0, changed 2, removed 0",
    ]
    assert b"PostgreSQL" in data and "memories/decision/m3.md" in shown(paths)
    assert Repository(paths.snapshot).open()
    assert not take(paths).new


@needs_git
def test_after_a_forget_a_snapshot_says_what_it_holds_now(known, paths):
    take(paths)
    rule = add_rule(known, paths, SECRET, scope=GLOBAL_SCOPE, domain=None)
    human(known, "One more memory.")
    take(paths)
    listed = CliRunner().invoke(hippo, ["snapshot", "list"]).output.splitlines()
    assert "3 rules, 2 memories; files added 2, changed 0, removed 0" in listed[0]
    forget(known, paths, what_would_go(known, [rule.public_id]))
    after = CliRunner().invoke(hippo, ["snapshot", "list"]).output.splitlines()
    assert "2 rules, 2 memories; files added 1, changed 0, removed 0" in after[0]
    assert after[1] == listed[1], "what is older and held nothing of it is as it was"


@needs_git
def test_a_short_text_is_gone_by_its_number(known, paths):
    memory = human(known, "zq7")
    take(paths)
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert b"zq7\n" not in everything_in(paths)


@needs_git
def test_forgetting_by_query_reaches_settings_of_former_nights(known, paths):
    settings.save(paths, nudge="Mind the honeysuckle at the gate.")
    take(paths)
    settings.save(paths, nudge="Be brief.")
    take(paths)
    human(known, SECRET)
    forget(known, paths, what_would_go(known, text="HONEYSUCKLE"))
    assert b"honeysuckle" not in everything_in(paths).lower()


@needs_git
def test_what_a_crash_left_lying_about_is_forgotten_too(known, paths):
    memory = human(known, SECRET)
    take(paths)
    git = paths.snapshot / ".git"
    stray = zlib.compress(b"blob %d\0" % len(SECRET) + SECRET.encode())
    for name in ("objects/pack/tmp_pack_x", "objects/tmp_obj_x", "fast_import_crash_1"):
        (git / name).write_bytes(stray)
    (paths.snapshot / ".git.old").mkdir()
    (paths.snapshot / ".git.old" / "x").write_bytes(stray)
    loose = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=paths.snapshot, input=b"stray honeysuckle", check=True
    )
    assert loose.returncode == 0
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert b"honeysuckle" not in everything_in(paths)
    assert not any(stray in file.read_bytes() for file in paths.snapshot.rglob("*") if file.is_file())


@needs_git
@pytest.mark.parametrize("left", ["objects/pack/tmp_pack_x", "objects/aa/tmp_obj_x", "fast_import_crash_1", None])
def test_what_a_crash_left_is_forgotten_where_no_snapshot_holds_it(known, paths, left):
    """None: an object that belongs to no snapshot."""
    take(paths)
    memory = human(known, SECRET)
    git = paths.snapshot / ".git"
    if left:
        (git / left).parent.mkdir(exist_ok=True)
        (git / left).write_text(SECRET, encoding="utf-8")
    else:
        subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=git, input=SECRET.encode(), check=True)
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert b"honeysuckle" not in everything_in(paths) and len(history(paths)) == 1


@needs_git
def test_forgetting_what_no_snapshot_holds_leaves_the_history_alone(known, paths):
    take(paths)
    before = [commit.id for commit in history(paths)]
    memory = human(known, SECRET)
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert [commit.id for commit in history(paths)] == before


@needs_git
def test_without_git_no_snapshot_may_remember_what_is_forgotten(known, paths, monkeypatch):
    memory = human(known, SECRET)
    take(paths)
    monkeypatch.setattr(repositories.shutil, "which", lambda name: None)
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert shown(paths) == {} and not (paths.snapshot / ".git").exists()


@needs_git
def test_a_history_that_git_cannot_read_may_not_remember_what_is_forgotten_either(known, paths, monkeypatch):
    memory = human(known, SECRET)
    take(paths)

    def fails(*arguments, **options):
        raise SnapshotError("git failed")

    monkeypatch.setattr(Repository, "_git", fails)
    forget(known, paths, what_would_go(known, [memory.public_id]))
    assert shown(paths) == {} and not (paths.snapshot / ".git").exists()


@needs_git
def test_forgetting_waits_for_a_snapshot_under_way(known, paths, monkeypatch):
    memory = human(known, SECRET)
    take(paths)
    monkeypatch.setattr("hippo_core.curate.forget.PATIENCE", 0.1)
    with one_at_a_time(paths, "snapshot"), pytest.raises(BusyError):
        forget(known, paths, what_would_go(known, [memory.public_id]))
    assert known.memories.get(memory.id)


# -- damage ---------------------------------------------------------------------------------------------------------


def damage_head(paths):
    for name in ("refs/heads/main", "packed-refs"):
        if (paths.snapshot / ".git" / name).exists():
            (paths.snapshot / ".git" / name).write_bytes(b"\0" * 41)


def damage_an_object(paths):
    name = subprocess.run(["git", "rev-parse", "HEAD:nudge.txt"], cwd=paths.snapshot, capture_output=True, check=True)
    key = name.stdout.decode().strip()
    path = paths.snapshot / ".git" / "objects" / key[:2] / key[2:]
    path.chmod(0o600)
    path.write_bytes(b"\0" * 20)
    return key


def cut_an_object(paths):
    """Git gives up at it, and says nothing of those that follow."""
    key = min(history(paths)[0].tree.values())
    path = paths.snapshot / ".git" / "objects" / key[:2] / key[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-6])
    return key


def lose_refs(paths):
    (paths.snapshot / ".git" / "refs" / "heads" / "main").unlink()


@needs_git
@pytest.mark.parametrize("damage", [damage_head, damage_an_object, cut_an_object, lose_refs])
def test_a_damaged_repository_is_rebuilt_with_what_can_be_read(known, paths, damage):
    take(paths)
    human(known, "One more memory.")
    take(paths)
    before = [commit.tree for commit in history(paths)]
    lost = damage(paths)
    taken = take(paths)
    assert "damaged" in taken.note and "2 earlier" in taken.note
    assert heartbeat.read(paths, "snapshot").result == taken.note
    assert Repository(paths.snapshot).open() and take(paths).note is None
    assert Repository(paths.snapshot).files(history(paths)[-1])["nudge.txt"] == b"Be brief.\n"
    whole = [{path: blob for path, blob in tree.items() if blob != lost} for tree in before]
    assert [commit.tree for commit in history(paths)[:2]] == whole


@needs_git
def test_a_repository_of_which_nothing_can_be_read_is_begun_anew(known, paths):
    take(paths)
    for file in (paths.snapshot / ".git").rglob("*"):
        if file.is_file():
            file.chmod(0o600)
            file.write_bytes(b"\0")
    assert "damaged" in take(paths).note
    assert len(history(paths)) == 1 and Repository(paths.snapshot).open()


@needs_git
@pytest.mark.parametrize("left", [[".git.new"], [".git.old", ".git.new"], [".git.old"]])
def test_an_exchange_that_a_crash_interrupted_is_completed(known, paths, left):
    """New beside the one in force; the old set aside and the new not yet in its place; the old not yet deleted."""
    take(paths)
    git = paths.snapshot / ".git"
    for name in left:
        shutil.copytree(git, paths.snapshot / name)
    if len(left) == 2:
        shutil.rmtree(git)
        assert "2 rules" in run("list") and git.exists(), "whichever command comes next"
        shutil.copytree(git, paths.snapshot / ".git.old"), git.rename(paths.snapshot / ".git.new")
    human(known, "One more memory.")
    assert take(paths).note is None
    assert len(history(paths)) == 2 and sorted(os.listdir(paths.snapshot))[0:1] == [".git"]
    assert not any((paths.snapshot / name).exists() for name in (".git.new", ".git.old"))
