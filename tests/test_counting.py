"""Numbers of things in words."""

import pytest

from hippo_core.counting import counted, where_sessions_are


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


@pytest.mark.parametrize(
    ("sessions", "projects", "outside", "words"),
    [
        (0, 0, 0, "0 sessions in 0 projects"),
        (3, 1, 0, "3 sessions in 1 project"),
        (1, 0, 1, "1 session outside any project"),
        (1077, 15, 45, "1,077 sessions: 1,032 in 15 projects, 45 outside any"),
    ],
)
def test_the_parts_of_the_sessions_add_up(sessions, projects, outside, words):
    assert where_sessions_are(sessions, projects, outside) == words
