"""One at a time, across processes; a holder that dies leaves nothing stuck."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hippo_core.errors import BusyError, StoreUnavailableError
from hippo_core.lock import one_at_a_time

_HOLDER = """
    import sys
    from pathlib import Path
    from hippo_core.lock import one_at_a_time
    from hippo_core.paths import Paths
    with one_at_a_time(Paths(Path(sys.argv[1])), "job"):
        print("held", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def holder(paths):
    """Another process that holds the lock until it is killed or its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_HOLDER), str(paths.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
    )
    assert process.stdout.readline().strip() == b"held"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_the_lock_is_free_again_after_the_block(paths):
    for _ in range(2):
        with one_at_a_time(paths, "job"):
            assert (paths.run / "job.holder").exists()
            assert os.name == "nt" or (paths.run / "job.lock").stat().st_mode & 0o077 == 0
    assert not (paths.run / "job.holder").exists()


def test_the_lock_is_free_again_after_an_error(paths):
    with pytest.raises(ZeroDivisionError), one_at_a_time(paths, "job"):
        raise ZeroDivisionError
    with one_at_a_time(paths, "job"):
        pass


def test_another_process_is_kept_out_and_told_who_holds_it(paths, holder):
    with pytest.raises(BusyError, match=rf"pid {holder.pid}, for \d+ s"), one_at_a_time(paths, "job"):
        pytest.fail("two held the lock")


def test_two_jobs_do_not_wait_for_each_other(paths, holder):
    with one_at_a_time(paths, "other job"):
        pass


def test_a_killed_holder_leaves_the_lock_free(paths, holder):
    holder.kill()
    holder.wait()
    assert (paths.run / "job.holder").exists(), "it had no time to tidy up"
    with one_at_a_time(paths, "job", wait=5):
        pass


def test_who_waits_gets_the_lock_when_it_is_freed(paths, holder):
    holder.stdin.close()
    with one_at_a_time(paths, "job", wait=20):
        pass


def test_a_damaged_note_of_the_holder_is_no_obstacle(paths, holder):
    (paths.run / "job.holder").write_bytes(b"\xff not json")
    with pytest.raises(BusyError, match="Another hippo job is at work"), one_at_a_time(paths, "job"):
        pytest.fail("two held the lock")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a folder that refuses its owner")
def test_a_folder_that_cannot_be_written_is_said_in_one_line(paths):
    paths.home.mkdir(parents=True)
    paths.home.chmod(0o500)
    with pytest.raises(StoreUnavailableError) as raised, one_at_a_time(paths, "job"):
        pytest.fail("held a lock that could not be written")
    paths.home.chmod(0o700)
    assert "\n" not in str(raised.value)


def test_a_file_where_the_folder_belongs_is_said_in_one_line(paths):
    paths.home.mkdir(parents=True)
    paths.run.write_text("no folder")
    with pytest.raises(StoreUnavailableError, match="cannot be written"), one_at_a_time(paths, "job"):
        pytest.fail("held a lock that could not be written")
