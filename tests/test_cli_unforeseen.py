"""What nobody foresaw: still one line and a code, whoever's mistake it was."""

import errno
import os
import subprocess
import sys

import pytest

from hippo_core.cli.failing import plain_errors


def hippo(*arguments, stdout=subprocess.PIPE, module="hippo_core.cli.main"):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=environment, encoding="utf-8", timeout=60)


def test_an_error_of_our_own_making_is_one_line_with_its_place(capsys):
    with pytest.raises(SystemExit) as stopped, plain_errors():
        raise TypeError("two\nlines")
    told = capsys.readouterr().err
    assert stopped.value.code == 1 and told.count("\n") == 1
    assert "TypeError at test_cli_unforeseen.py:" in told and "two lines" in told


def test_what_the_system_refuses_is_named_with_its_file_and_is_no_unforeseen_error(capsys):
    with pytest.raises(SystemExit) as stopped, plain_errors():
        raise OSError(errno.EROFS, "Read-only file system", "/data/schedule.json")
    told = capsys.readouterr().err
    assert stopped.value.code == 1 and told.count("\n") == 1 and "unforeseen" not in told
    assert "/data/schedule.json cannot be read or written (Read-only file system)" in told


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("module", ["hippo_core.cli.main", "hippo_core.cli.entry"])
@pytest.mark.parametrize("command", [("list",), ("recall", "port"), ("status",)])
def test_output_to_a_full_disk_is_one_line_and_a_code(isolated, command, module):
    assert hippo("remember", "--no-embed", "The port is 9090.").returncode == 0
    with open("/dev/full", "w") as full:
        done = hippo(*command, stdout=full, module=module)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "space" in done.stderr, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes a stream")
@pytest.mark.parametrize("closed", [">&-", "2>&-"])
@pytest.mark.parametrize("command", [("list",), ("recall", "port")])
def test_a_stream_that_is_closed_is_nothing_unforeseen(isolated, command, closed):
    assert hippo("remember", "--no-embed", "The port is 9090.").returncode == 0
    program = [sys.executable, "-m", "hippo_core.cli.entry", *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *program], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"") and (b"9090" in done.stdout) is (closed == "2>&-")
