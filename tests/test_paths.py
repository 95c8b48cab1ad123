"""Files and folders put in each other's place, also where somebody looks into them just then."""

import os

import pytest

from hippo_core.paths import move


@pytest.fixture
def refused(monkeypatch):
    """refused(times): what Windows says of a folder that a virus scanner looks through."""
    real, left = os.replace, []

    def replace(source, target):
        if left:
            left.pop()
            raise PermissionError(13, "Access is denied", str(source))
        return real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    return lambda times: left.extend([1] * times)


def test_a_folder_is_moved_once_whoever_looked_into_it_is_done(tmp_path, refused):
    (tmp_path / "history").mkdir()
    refused(2)
    move(tmp_path / "history", tmp_path / "old", pauses=(0.0, 0.0))
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_one_that_is_never_let_go_is_refused_in_the_end(tmp_path, refused):
    (tmp_path / "history").mkdir()
    refused(3)
    with pytest.raises(PermissionError):
        move(tmp_path / "history", tmp_path / "old", pauses=(0.0, 0.0))
    assert (tmp_path / "history").is_dir()
