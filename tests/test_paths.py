"""What is said of a program's path to a shell, for whom a folder is made, and what takes another's place."""

import os

import pytest

from hippo_core.paths import for_agent, mode_of, move


@pytest.mark.parametrize(
    "program, named",
    [
        ("C:\\Users\\Jürgen\\AppData\\Local\\hippocampus\\venv\\Scripts\\hippo.exe",
         "C:/Users/Jürgen/AppData/Local/hippocampus/venv/Scripts/hippo.exe"),
        ("C:\\Users\\RUNNER~1\\hippo.exe", "C:/Users/RUNNER~1/hippo.exe"),
    ],
)  # fmt: skip
def test_on_windows_a_program_is_named_so_that_both_bash_and_powershell_start_it(program, named):
    assert for_agent(program, "nt") == named


@pytest.mark.parametrize("folder", ["C:\\Users\\Ann Lee", "C:\\R&D", "C:\\a$b"])
def test_a_name_that_means_something_to_a_shell_is_quoted(folder):
    assert for_agent(f"{folder}\\hippo.exe", "nt")[0] in "\"'"
    assert for_agent(f"{folder}/hippo", "posix")[0] == "'"


@pytest.mark.parametrize("system, inside, mode", [("posix", True, 0o700), ("nt", True, 0o777), ("nt", False, 0o700)])
def test_what_is_installed_with_an_administrators_rights_stays_open_to_its_user(
    isolated, tmp_path, system, inside, mode
):
    """On Windows 0o700 lets in the owner alone, whom an elevated terminal makes the administrators."""
    assert mode_of((isolated if inside else tmp_path) / "AppData" / "hippocampus", system) == mode


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
