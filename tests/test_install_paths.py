"""The data folder: the installer, which runs before platformdirs is there, must name the folder that it names."""

import os
import sys

import pytest

from hippo_core import paths


def as_platformdirs_says(platform, monkeypatch):
    from platformdirs import macos, unix, windows

    if platform == "win32":
        monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
        return windows.Windows("hippocampus", appauthor=False).user_data_dir
    system = macos.MacOS if platform == "darwin" else unix.Unix
    return system("hippocampus", appauthor=False).user_data_dir


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("xdg", [None, "", "relative/folder", "/elsewhere/data", "/with space/ünïcode/"])
def test_installer_and_platformdirs_agree(platform, xdg, monkeypatch, isolated):
    monkeypatch.setenv("LOCALAPPDATA", str(isolated / "AppData" / "Local"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if xdg is not None:
        monkeypatch.setenv("XDG_DATA_HOME", xdg)
    expected = as_platformdirs_says(platform, monkeypatch)
    monkeypatch.setattr(sys, "platform", platform)
    assert str(paths.default_home()) == os.path.normpath(expected).replace("\\", "/")


def test_without_platformdirs_the_same_folder_is_found(monkeypatch):
    monkeypatch.delenv("HIPPO_HOME")
    found = paths.data_home()
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert paths.data_home() == found


def test_environment_made_by_the_installer_knows_its_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("HIPPO_HOME")
    (tmp_path / "install.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    assert paths.data_home() == tmp_path
