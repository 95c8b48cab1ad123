"""The environment and pip: what bends them is kept out, what pip says becomes one clear line, what broke mends."""

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from hippo_core.errors import InstallError, OfflineError, WheelMissingError
from hippo_core.ops import venv

OFFLINE = """\
WARNING: Retrying (Retry(total=2, connect=None)) after connection broken by 'NewConnectionError(..)': /simple/rich/
ERROR: Could not find a version that satisfies the requirement rich==15.0.0 (from versions: none)
ERROR: No matching distribution found for rich==15.0.0
"""
BROKEN_OFF = """\
Downloading onnxruntime-1.32.0-cp311-cp311-manylinux_2_28_x86_64.whl (17.0 MB)
ERROR: Exception:
pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files', port=443): Read timed out.
"""
NO_WHEEL = """\
ERROR: Could not find a version that satisfies the requirement onnxruntime==1.32.0 (from versions: 1.20.0, 1.21.0)
ERROR: No matching distribution found for onnxruntime==1.32.0
"""
WRONG_HASH = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, ..
    rich==15.0.0 from file:///rich-15.0.0-py3-none-any.whl (from -r core.lock (line 700)):
        Expected sha256 aa
             Got        bb
"""
DISK_FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"


@pytest.fixture
def fake_pip(tmp_path):
    """An environment whose interpreter says what a test wants pip to say, and fails."""
    if os.name == "nt":
        pytest.skip("needs a script as interpreter")
    folder = tmp_path / "venv"
    interpreter = venv.interpreter_of(folder)
    interpreter.parent.mkdir(parents=True)

    def says(words, status=1):
        (folder / "words").write_text(words, encoding="utf-8")
        interpreter.write_text(f'#!/bin/sh\ncat "{folder}/words"\nexit {status}\n', encoding="utf-8")
        interpreter.chmod(0o755)
        return folder

    return says


@pytest.fixture
def lock(tmp_path):
    file = tmp_path / "some.lock"
    file.write_text(
        "# made by a tool\nrich==15.0.0 \\\n    --hash=sha256:aa\nzz==1 \\\n    --hash=sha256:bb\n", "utf-8"
    )
    return file


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (OFFLINE, OfflineError, "index was not reached"),
        (BROKEN_OFF, OfflineError, "What arrived is kept"),
        (NO_WHEEL, WheelMissingError, "no ready-made package of onnxruntime"),
        (WRONG_HASH, InstallError, r"rich==15.0.0 is not the file that the lock names"),
        (DISK_FULL, InstallError, "No space left on device"),
        ("", InstallError, "no reason given"),
    ],
    ids=["offline", "broken off", "no wheel", "wrong hash", "disk full", "silent"],
)
def test_what_pip_says_becomes_one_clear_line(fake_pip, lock, tmp_path, said, error, words):
    with pytest.raises(error, match=words) as raised:
        venv.install_lock(fake_pip(said), lock, tmp_path / "log")
    assert type(raised.value) is error
    assert "\n" not in str(raised.value)
    assert said in (tmp_path / "log").read_text(encoding="utf-8")


@pytest.fixture
def dry_pip(tmp_path, monkeypatch):
    """An environment whose pip is the real one, sees two packages in a folder, checks them, and installs nothing."""
    pytest.importorskip("pip")
    if os.name == "nt":
        pytest.skip("needs a script as interpreter")
    offered = tmp_path / "offered"
    offered.mkdir()
    with zipfile.ZipFile(offered / "ready-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("ready-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: ready\nVersion: 1.0\n")
        wheel.writestr("ready-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("ready-1.0.dist-info/RECORD", "")
    (tmp_path / "setup.py").write_text("import setuptools; setuptools.setup(name='source', version='1.0')\n", "utf-8")
    with tarfile.open(offered / "source-1.0.tar.gz", "w:gz") as source:
        source.add(tmp_path / "setup.py", "source-1.0/setup.py")
    interpreter = venv.interpreter_of(tmp_path / "venv")
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@" --dry-run\n', encoding="utf-8")
    interpreter.chmod(0o755)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))

    def install(line):
        (tmp_path / "a.lock").write_text(line + "\n", encoding="utf-8")
        venv.install_lock(tmp_path / "venv", tmp_path / "a.lock", tmp_path / "log")

    install.digest = lambda name: hashlib.sha256((offered / name).read_bytes()).hexdigest()
    return install


def test_only_ready_made_packages_with_the_hash_of_the_lock_are_installed(dry_pip):
    wheel, source = dry_pip.digest("ready-1.0-py3-none-any.whl"), dry_pip.digest("source-1.0.tar.gz")
    dry_pip(f"ready==1.0 --hash=sha256:{wheel}")
    with pytest.raises(InstallError, match="ready==1.0 is not the file that the lock names"):
        dry_pip(f"ready==1.0 --hash=sha256:{source}")
    with pytest.raises(InstallError, match="hash"):
        dry_pip("ready==1.0")
    with pytest.raises(WheelMissingError, match="no ready-made package of source"):
        dry_pip(f"source==1.0 --hash=sha256:{source}")


def test_progress_counts_packages_as_pip_comes_to_them(fake_pip, lock, tmp_path):
    seen = []
    words = "Collecting rich==15.0.0\n  Using cached rich.whl\nIgnoring zz: markers 'x' don't match your environment\n"
    venv.install_lock(fake_pip(words, 0), lock, tmp_path / "log", lambda *at: seen.append(at))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    "name", ["PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_NO_BINARY", "PIP_CONSTRAINT", "VIRTUAL_ENV"]
)
def test_what_would_bend_pip_or_python_is_kept_out(name, monkeypatch):
    monkeypatch.setenv(name, "/nowhere")
    assert name not in venv.clean_environment()


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_CERT", "PIP_PROXY", "PIP_CONFIG_FILE", "HTTPS_PROXY", "PATH"])
def test_how_packages_are_reached_is_left_to_the_user(name, monkeypatch):
    monkeypatch.setenv(name, "/somewhere")
    assert venv.clean_environment()[name] == "/somewhere"


def test_settings_that_forbid_an_environment_are_overruled(monkeypatch):
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")
    assert (venv.clean_environment()["PIP_USER"], venv.clean_environment()["PIP_REQUIRE_VIRTUALENV"]) == ("0", "0")


def test_interpreter_behind_an_environment_is_found():
    """pyenv's shims and virtual environments stand before the Python that an environment is made from."""
    code = "from hippo_core.ops import venv; print(venv.base_interpreter())"
    root = str(Path(__file__).resolve().parents[1])
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True
    ).stdout.strip()
    prefix = subprocess.run([found, "-I", "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True).stdout
    assert Path(prefix.strip()).resolve() == Path(sys.base_prefix).resolve()


class Packages:
    """A site-packages folder."""

    def __init__(self, folder):
        self.environment = folder
        self.folder = folder / ("Lib" if os.name == "nt" else "lib/python3.11") / "site-packages"
        self.folder.mkdir(parents=True)

    def install(self, name, size=3, written=3):
        """One package of one module, whose record says `size`."""
        information = self.folder / f"{name}-1.0.dist-info"
        information.mkdir()
        (self.folder / f"{name}.py").write_bytes(b"x" * written)
        (information / "METADATA").write_bytes(b"Name: " + name.encode())
        (information / "RECORD").write_text(
            f"{name}.py,sha256=aa,{size}\n__pycache__/{name}.cpython-311.pyc,,\n{name}-1.0.dist-info/RECORD,,\n",
            "utf-8",
        )
        return information


@pytest.fixture
def packages(tmp_path):
    return Packages(tmp_path / "venv")


def test_whole_packages_are_left_alone(packages):
    information = packages.install("whole")
    assert venv.mend(packages.environment) == []
    assert information.exists()


def test_a_script_may_have_been_written_anew_but_not_be_gone(packages):
    information = packages.install("tool")
    script = packages.environment / "tool"
    script.write_bytes(b"ours")
    row = f"{os.path.relpath(script, packages.folder).replace(os.sep, '/')},sha256=aa,300\n"
    (information / "RECORD").write_text(row, encoding="utf-8")
    assert venv.mend(packages.environment) == []
    script.unlink()
    assert venv.mend(packages.environment) == ["tool"]


def test_packages_that_are_not_whole_are_taken_off_the_books(packages):
    packages.install("short", written=2)
    gone = packages.install("gone")
    (packages.folder / "gone.py").unlink()
    unrecorded = packages.install("unrecorded")
    (unrecorded / "RECORD").unlink()
    assert venv.mend(packages.environment) == ["gone", "short", "unrecorded"]
    assert not gone.exists() and not unrecorded.exists()


def test_what_a_killed_pip_set_aside_is_removed(packages):
    (packages.folder / "~umpy").mkdir()
    venv.mend(packages.environment)
    assert list(packages.folder.iterdir()) == []
