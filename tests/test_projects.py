"""A project folder that was moved, and has no remote that would tell: it goes on as the project it was."""

import json
import os
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from hippo_core.cli.main import hippo
from hippo_core.errors import HippoError, NotFoundError, UsageError
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import scope_of
from hippo_core.store import Store


@pytest.fixture
def run(paths):
    """Runs a command in a folder; its output, or the error that it ends with."""
    paths.home.mkdir()
    paths.config.write_text('{"embedder": "off"}', encoding="utf-8")

    def call(folder, *arguments):
        os.chdir(folder)
        done = CliRunner().invoke(hippo, arguments, standalone_mode=False)
        if isinstance(done.exception, HippoError):
            raise done.exception
        assert done.exception is None, repr(done.exception)
        return done.output

    before = os.getcwd()
    yield call
    os.chdir(before)


@pytest.fixture
def moved(run, paths, tmp_path):
    """The new place of a repository with a memory and an archived message from its old one, and of each from since."""
    old, new = tmp_path / "old" / "shop", tmp_path / "new" / "shop"
    old.mkdir(parents=True), new.parent.mkdir()
    subprocess.run(["git", "init", "-q", str(old)], check=True)
    run(old, "remember", "--type", "decision", "The till speaks quagga.")
    say(paths, str(old), "the quagga was loud", "u1")
    os.chdir(tmp_path)
    old.rename(new)
    run(new, "remember", "--type", "decision", "The cellar holds okapis.")
    say(paths, str(new), "the okapi was shy", "u2")
    return new


def say(paths, folder, text, uid):
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source(f"/client/{uid}.jsonl")
        message = Message(uid, uid, Role.USER, text, 1.0, folder, 0)
        store.archive.append(message, scope=scope_of(folder), source_id=source.id)


def key_of_the_other(run, folder):
    (other,) = [row for row in json.loads(run(folder, "projects", "--json")) if row["key"] != scope_of(str(folder)).key]
    return other["key"]


def test_a_moved_folder_is_another_project_until_it_is_joined(run, moved, paths, hooks):
    assert "quagga" not in run(moved, "list") and "Nothing" in run(moved, "archive", "quagga")
    listed = run(moved, "projects").splitlines()
    assert len(listed) == 2 and "which is gone" in "".join(listed) and "(this folder)" in "".join(listed)
    said = run(moved, "projects", "join", key_of_the_other(run, moved))
    assert "goes on as shop" in said and "1 memory" in said
    assert "quagga" in run(moved, "list") and "okapis" in run(moved, "list")
    for word in ("quagga", "okapi"):
        assert word in run(moved, "recall", word), word
        assert f"the {word} was" in run(moved, "archive", word), word
    block = hooks.said("session_memory", paths.home, cwd=moved, CLAUDE_PROJECT_DIR=str(moved))
    assert "quagga" in block and "okapis" in block


def test_what_comes_later_belongs_to_the_joined_project(run, moved):
    key = key_of_the_other(run, moved)
    run(moved, "projects", "join", key)
    run(moved, "remember", "--type", "decision", "The roof is for gnus.")
    assert scope_of(str(moved)).key == key == scope_of(str(moved)).key
    assert {row["scope"] for row in json.loads(run(moved, "list", "--json"))} == {key}
    assert "goes on as another" in run(moved, "projects")


def test_what_is_known_in_both_is_there_once(run, moved):
    run(moved, "remember", "--type", "decision", "The till speaks quagga.")
    run(moved, "projects", "join", key_of_the_other(run, moved))
    assert run(moved, "list").count("The till speaks quagga.") == 1 == run(moved, "recall", "quagga till").count("till")


def test_it_can_be_taken_back(run, moved):
    own = scope_of(str(moved))
    run(moved, "projects", "join", key_of_the_other(run, moved))
    assert "its own again" in run(moved, "projects", "part") and scope_of(str(moved)) == own
    assert "joined to no project" in run(moved, "projects", "part")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_snapshot_keeps_it_and_brings_it_back(run, moved, paths):
    key = key_of_the_other(run, moved)
    run(moved, "snapshot")
    run(moved, "projects", "join", key)
    assert "1 file added" in run(moved, "snapshot")
    run(moved, "projects", "part")
    assert scope_of(str(moved)).key != key
    assert "goes on as shop (git:" in run(moved, "snapshot", "restore", "latest", "--yes")
    assert scope_of(str(moved)).key == key and "quagga" in run(moved, "list")
    assert "as it was" in run(moved, "snapshot", "restore", "latest", "--dry-run")


def test_a_folder_whose_name_is_no_text_is_a_project_as_any_other(run, paths, tmp_path, hooks):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/shop\xff")
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("names are text here")
    run(folder, "remember", "The till speaks quagga.")
    assert "quagga" in run(folder, "list") and "shop\ufffd" in run(folder, "projects")
    assert "quagga" in hooks.said("session_memory", paths.home, cwd=folder, CLAUDE_PROJECT_DIR=folder)


def test_what_cannot_be_meant_is_refused(run, moved, isolated, tmp_path):
    with pytest.raises(NotFoundError, match="hippo projects"):
        run(moved, "projects", "join", "nowhere")
    with pytest.raises(UsageError, match="home folder"):
        run(isolated, "projects", "join", "shop")
    third = tmp_path / "third"
    third.mkdir()
    with pytest.raises(UsageError, match="by its key"):
        run(third, "projects", "join", "shop")


def test_a_list_that_an_editor_put_a_mark_before_still_joins(run, moved, paths):
    key = key_of_the_other(run, moved)
    run(moved, "projects", "join", key)
    paths.joined.write_text(paths.joined.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert scope_of(str(moved)).key == key
    if shutil.which("git") is not None:
        run(moved, "snapshot")
        assert "as it was" in run(moved, "snapshot", "restore", "latest", "--yes")


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe\n", b"a\tb\n\tc\td\te\n", b"no tabs at all"])
def test_a_damaged_list_joins_nothing(run, moved, paths, damage):
    own = scope_of(str(moved))
    paths.joined.write_bytes(damage)
    assert scope_of(str(moved)) == own and "okapis" in run(moved, "list")
