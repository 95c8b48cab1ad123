"""install.py before any package is there: what it refuses, how it says so, what it leaves alone."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hippo_core.errors import WheelMissingError
from hippo_core.ops import bootstrap, link, venv
from hippo_core.paths import Paths, for_shell
from hippo_core.record import Record, installer, python_by_hand

REPOSITORY = Path(__file__).resolve().parents[1]
INSTALL = REPOSITORY / "install.py"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, INSTALL, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )


def only_line(done, status=1):
    """The one line that a refusal consists of."""
    assert done.returncode == status, done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("script", ["install.py", "tests/run.py"])
@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 0), (3, 9, 18)])
def test_old_python_gets_one_line(script, version):
    code = f"import sys; sys.version_info = {version}; exec(compile(open(sys.argv[1]).read(), 'script', 'exec'))"
    done = subprocess.run([sys.executable, "-c", code, REPOSITORY / script], capture_output=True, encoding="utf-8")
    assert "3.10 or newer" in only_line(done)


@pytest.mark.parametrize("script", ["install.py", "tests/run.py"])
def test_old_python_can_read_as_far_as_that_line(script):
    """A Python that fails on newer syntax would print a traceback: nothing in these files may be newer than 3.6."""
    import ast

    ast.parse((REPOSITORY / script).read_text(encoding="utf-8"), feature_version=(3, 6))
    assert 'f"' not in (REPOSITORY / script).read_text(encoding="utf-8")


@pytest.mark.parametrize("missing", ["ensurepip", "venv"])
def test_python_in_parts_as_debian_ships_it_gets_one_line_and_nothing_is_written(missing, tmp_path, paths):
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{missing!r}] = None", encoding="utf-8")
    line = only_line(run(PYTHONPATH=str(tmp_path)))
    assert missing in line and "python3." in line and "-venv" in line
    assert not paths.home.exists()


def test_environment_of_somebody_else_is_not_touched(paths):
    (paths.venv / "bin").mkdir(parents=True)
    line = only_line(run())
    assert str(paths.venv) in line and "HIPPO_HOME" in line
    assert sorted(path.name for path in paths.home.rglob("*")) == ["bin", "venv"]


def test_data_folder_that_cannot_be_made_gets_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert "file" in only_line(run(HIPPO_HOME=str(tmp_path / "file" / "data")))


def test_damaged_record_gets_one_line(paths):
    paths.home.mkdir(parents=True)
    paths.install_record.write_text("{", encoding="utf-8")
    assert "Delete it and run this again" in only_line(run())


def test_second_installer_waits_for_nobody(paths):
    with bootstrap._alone(paths):
        assert "at work" in only_line(run())


@pytest.mark.parametrize("arguments", [["--purge"], ["--with", "nonsense"], ["--nonsense"]])
def test_arguments_that_are_wrong_are_one_line(arguments):
    assert f"Nothing was done. See: {python_by_hand()} install.py --help" in only_line(run(*arguments), status=2)


def test_folder_of_transcripts_that_is_not_there_is_refused(paths, tmp_path):
    assert "no such folder" in only_line(run("--from", str(tmp_path / "nowhere")), status=2)
    assert not paths.home.exists()


def test_uninstalling_nothing_says_so(paths):
    done = run("--uninstall")
    assert done.returncode == 0 and "Nothing is installed" in done.stdout
    assert not paths.home.exists()


def test_purge_leaves_what_is_not_ours_and_nothing_that_is(paths):
    """Every place that the paths module knows, so that none is forgotten when one is added."""
    paths.home.mkdir(parents=True)
    Record(paths).put(version="1")
    places = [getattr(paths, name) for name, kind in vars(Paths).items() if isinstance(kind, property)]
    for place in {*places, paths.home / "memory.db-wal", paths.home / "diary.txt"}:
        if place.suffix or place.exists():
            place.write_text("{}", encoding="utf-8")
        else:
            (place / "inner").mkdir(parents=True)
    Record(paths).put(version="1")
    done = run("--uninstall", "--purge")
    assert done.returncode == 0 and "diary.txt" in done.stdout
    assert [path.name for path in paths.home.iterdir()] == ["diary.txt"]


def test_uninstall_keeps_memory_and_configuration(paths):
    paths.home.mkdir(parents=True)
    Record(paths).put(version="1")
    kept = ("memory.db", "memory.db-wal", "config.json")
    for name in kept:
        (paths.home / name).write_text(name, encoding="utf-8")
    done = run("--uninstall")
    assert done.returncode == 0 and "memory stays in" in done.stdout
    assert sorted(path.name for path in paths.home.iterdir()) == sorted(kept)


def test_what_an_uninstall_put_aside_and_did_not_delete_goes_with_the_next_one(paths):
    """It was stopped, or on Windows a program still held a file of it."""
    left = paths.venv.with_name("venv.removed")
    (left / "inner").mkdir(parents=True)
    Record(paths).put(version="1")
    assert run("--uninstall").returncode == 0
    assert not paths.home.exists()


def test_platform_without_wheels_for_vectors_goes_on_with_keywords(paths, monkeypatch, capsys):
    """One line, and tried again by the next run: another Python or a later lock may have them."""

    def install_lock(folder, lock, log, on_package=None):
        raise WheelMissingError("There is no onnxruntime for this platform.")

    monkeypatch.setattr(venv, "install_lock", install_lock)
    record = Record(paths)
    bootstrap._install_vectors(paths, record, paths.log / "install.log")
    said = capsys.readouterr().out
    assert "keywords" in said and "no onnxruntime" in said and len(said.splitlines()) <= 2
    assert "vectors" not in record.get("done", {})


def test_what_is_installed_is_not_installed_again(paths, monkeypatch):
    calls = []
    monkeypatch.setattr(venv, "install_lock", lambda folder, lock, *rest: calls.append(lock.stem))
    monkeypatch.setattr(venv, "install_folder", lambda *rest: calls.append("hippo"))
    for _ in range(2):
        record = Record(paths)
        bootstrap._install_lock("core", paths, record, paths.log)
        bootstrap._install_itself(paths, record, paths.log)
    assert calls == ["core", "hippo"]


def test_where_the_checkout_is_stays_known(paths, monkeypatch):
    for name in ("ensure", "install_lock", "install_folder"):
        monkeypatch.setattr(venv, name, lambda *arguments: True)
    monkeypatch.setattr(subprocess, "call", lambda *arguments, **options: 0)
    assert bootstrap.install(paths, bootstrap._options([])) == 0
    assert installer() == f"{python_by_hand()} {for_shell(INSTALL)}"


@pytest.mark.parametrize(
    "system, there, called", [("posix", [], "python3"), ("nt", ["py", "python"], "py -3"), ("nt", ["python"], "python")]
)
def test_what_is_named_to_install_is_a_python_that_starts_here(system, there, called, tmp_path, monkeypatch):
    """python3 is what Windows calls a program that only opens a page of its store."""
    for name in there:
        program = tmp_path / (f"{name}.exe" if os.name == "nt" else name)
        program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert python_by_hand(system) == called


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such folder")
class TestLink:
    def test_placed_and_removed_with_the_folders_made_for_it(self, paths, isolated):
        record = Record(paths)
        link.place(paths, record)
        placed = isolated / ".local" / "bin" / "hippo"
        assert os.readlink(placed) == str(link.program(paths))
        link.remove(paths, Record(paths))
        assert not (isolated / ".local").exists()

    def test_another_program_of_that_name_stays(self, paths, isolated):
        other = isolated / ".local" / "bin" / "hippo"
        other.parent.mkdir(parents=True)
        other.write_text("another program", encoding="utf-8")
        link.place(paths, Record(paths))
        link.remove(paths, Record(paths))
        assert other.read_text(encoding="utf-8") == "another program"

    def test_program_put_in_its_place_meanwhile_stays(self, paths, isolated):
        link.place(paths, Record(paths))
        placed = isolated / ".local" / "bin" / "hippo"
        placed.unlink()
        placed.symlink_to("/usr/bin/true")
        link.remove(paths, Record(paths))
        assert os.readlink(placed) == "/usr/bin/true"

    def test_without_the_folder_on_path_the_full_path_is_named(self, paths, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        assert shlex.split(link.typed(paths)) == [str(link.program(paths))]
        link.place(paths, Record(paths))
        assert shlex.split(link.typed(paths)) == [link.advice(paths).partition(";")[0]], "the same as on the line above"

    @pytest.mark.parametrize("shell, file", [("/bin/zsh", ".zshrc"), ("/bin/bash", ".bashrc"), ("", ".profile")])
    def test_where_its_folder_is_not_on_path_the_line_that_puts_it_there_is_said(self, paths, monkeypatch, shell, file):
        monkeypatch.setenv("PATH", "/usr/bin")
        monkeypatch.setenv("SHELL", shell)
        link.place(paths, Record(paths))
        said = link.advice(paths)
        assert "/.local/bin/hippo;" in said and said.endswith(f">> ~/{file}")

    def test_that_line_works(self, paths, monkeypatch, isolated):
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        monkeypatch.setenv("SHELL", "/bin/sh")
        link.place(paths, Record(paths))
        program = link.program(paths)
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\necho it answers\n", encoding="utf-8")
        program.chmod(0o755)
        subprocess.run(["sh", "-c", link.advice(paths).partition("terminal: ")[2]], check=True)
        done = subprocess.run(["sh", "-c", ". ~/.profile && hippo"], capture_output=True, encoding="utf-8")
        assert done.stdout == "it answers\n", done.stderr

    def test_on_path_it_is_one_word_and_behind_another_program_it_says_so(self, paths, monkeypatch, isolated, tmp_path):
        link.place(paths, Record(paths))
        program = link.program(paths)
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
        folder = str(isolated / ".local" / "bin")
        monkeypatch.setenv("PATH", folder)
        assert link.advice(paths) == "hippo"
        (tmp_path / "hippo").touch(mode=0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{folder}")
        assert "another program named hippo" in link.advice(paths)

    @pytest.mark.parametrize("name", ["with space", "quote's", 'a "quoted" one', "$HOME", "`id`", "back\\\\slash"])
    def test_it_starts_in_any_folder(self, tmp_path, monkeypatch, name):
        """pip puts the path between double quotes, where a shell goes on reading."""
        paths = Paths(tmp_path / name)
        python = venv.interpreter_of(paths.venv)
        python.parent.mkdir(parents=True)
        python.write_text('#!/bin/sh\nprintf "%s|" "$@"\n', encoding="utf-8")
        link.program(paths).write_text(f'#!/bin/sh\nexec "{python}" "$@"\n', encoding="utf-8")
        python.chmod(0o755), link.program(paths).chmod(0o755)
        link.make_startable(paths)
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        done = subprocess.run(["sh", "-c", f"{link.typed(paths)} recall 'a  b'"], capture_output=True, encoding="utf-8")
        assert done.stdout.endswith("recall|a  b|"), done.stderr

    def test_where_no_link_could_be_made_the_full_path_is_said(self, paths, monkeypatch):
        monkeypatch.setenv("PATH", "/usr/bin")
        assert str(link.program(paths)) in link.advice(paths) and "could not be made" in link.advice(paths)


def test_record_survives_two_writers(paths):
    """install.py and the setup it starts write to it in turn."""
    first, second = Record(paths), Record(paths)
    first.put(done={"core": "1"})
    second.put(link={"path": "x"})
    first.put(version="2")
    assert json.loads(paths.install_record.read_text(encoding="utf-8")).keys() == {"done", "link", "version"}
