"""A project is its repository, wherever it is entered and however its remote is spelled."""

import subprocess
import sys
import unicodedata

import pytest

from hippo_core.project import identify, normalise_remote


def git(*arguments, cwd):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "näme with space" / "api"
    folder.mkdir(parents=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=folder)
    return folder


def test_sub_folder_and_worktree_are_one_project(repository, tmp_path):
    git("worktree", "add", "-q", str(tmp_path / "elsewhere"), cwd=repository)
    (repository / "src").mkdir()
    whole = identify(str(repository))
    assert whole[1] == "api"
    assert identify(str(repository / "src")) == whole == identify(str(tmp_path / "elsewhere"))


def test_two_clones_of_one_remote_are_one_project(repository, tmp_path):
    git("remote", "add", "origin", "https://user:secret@Example.org/team/api.git", cwd=repository)
    second = tmp_path / "second"
    second.mkdir()
    git("init", "-q", cwd=second)
    git("remote", "add", "origin", "git@example.org:team/api", cwd=second)
    assert identify(str(repository)) == identify(str(second)) == ("example.org/team/api", "api")


def test_same_base_name_is_not_the_same_project(tmp_path):
    for parent in ("a", "b"):
        (tmp_path / parent / "api").mkdir(parents=True)
    assert identify(str(tmp_path / "a" / "api"))[0] != identify(str(tmp_path / "b" / "api"))[0]


def test_a_folder_is_one_project_in_whichever_form_macos_spells_its_name(tmp_path, monkeypatch):
    """The Finder writes an accent as a letter of its own, a keyboard does not; to the file system they are one name."""
    monkeypatch.setattr(sys, "platform", "darwin")
    apart, composed = (str(tmp_path / unicodedata.normalize(form, "Übung")) for form in ("NFD", "NFC"))
    assert apart != composed and identify(apart) == identify(composed)
    monkeypatch.setattr(sys, "platform", "linux")
    assert identify(apart) != identify(composed), "elsewhere these are two folders"


def test_home_is_no_project_even_as_a_repository(isolated):
    git("init", "-q", cwd=isolated)
    assert identify(str(isolated)) is None
    (isolated / "notes").mkdir()
    assert identify(str(isolated / "notes")) == ("path:" + str(isolated / "notes"), "notes")


def test_folder_of_another_machine_stands_for_itself():
    assert identify(r"C:\Users\me\shop") == (r"path:C:\Users\me\shop", "shop")
    assert identify("/nowhere/at/all/shop") == ("path:/nowhere/at/all/shop", "shop")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a/b.git",
        "ssh://git@example.org:2222/a/b",
        "git@EXAMPLE.org:a/b.git",
        "https://u:p@example.org/a/b/",
    ],
)
def test_remote_spellings_agree(url):
    assert normalise_remote(url) == "example.org/a/b"
