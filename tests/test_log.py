"""The log of what ran unseen: bounded, and never at the cost of a line."""

from hippo_core.log import MOST_BYTES, log


def lines(paths):
    return (paths.log / "hippo.log").read_text(encoding="utf-8").splitlines()


def test_a_log_that_is_full_goes_on_in_a_new_one(paths):
    log(paths, "watch", "first")
    with (paths.log / "hippo.log").open("a", encoding="utf-8") as file:
        file.write("x" * MOST_BYTES + "\n")
    log(paths, "watch", "second")
    assert len(lines(paths)) == 1 and lines(paths)[0].endswith("watch: second")
    assert "first" in (paths.log / "hippo.log.1").read_text(encoding="utf-8")


def test_a_log_that_cannot_be_put_aside_loses_no_line(paths):
    """On Windows somebody may just read it, or the one before it."""
    log(paths, "watch", "first")
    with (paths.log / "hippo.log").open("a", encoding="utf-8") as file:
        file.write("x" * MOST_BYTES + "\n")
    (paths.log / "hippo.log.1").mkdir()
    log(paths, "watch", "second")
    assert lines(paths)[0].endswith("first") and lines(paths)[-1].endswith("watch: second")
