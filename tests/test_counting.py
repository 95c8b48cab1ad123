"""Numbers of things in words."""

import pytest

from hippo_core.counting import counted


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "file", "0 files"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (2, "day", "2 days"),
        (2, "keyword index", "2 keyword indexes"),
        (1200, "bad line", "1,200 bad lines"),
    ],
)
def test_one_is_singular_and_all_else_plural(number, noun, words):
    assert counted(number, noun) == words
