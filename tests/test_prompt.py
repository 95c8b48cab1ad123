"""What is read of a prompt before it is compared with memories that nobody asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.proactive.prompt import MOST_TOKENS, first_tokens, question_in


@pytest.mark.parametrize("prompt", ["why does /etc/hosts matter", "/etc/hosts is wrong", "brain.py?", "部署 staging"])
def test_a_path_a_name_or_two_words_are_a_question(prompt):
    assert question_in(prompt) == prompt


def test_only_the_first_64_tokens_are_read():
    assert first_tokens("word " * 500, MOST_TOKENS).split() == ["word"] * MOST_TOKENS
    assert len(first_tokens("部署" * 500, MOST_TOKENS)) == MOST_TOKENS
    assert len(first_tokens("x" * 10_000, MOST_TOKENS)) <= 7 * MOST_TOKENS
    assert question_in("staging database " + "x " * 100_000 + "quokka").count("quokka") == 0
    assert MOST_TOKENS == 64 and "quokka" in question_in("find data " + "word " * 61 + "quokka")
    assert "quokka" not in question_in("find data " + "word " * 62 + "quokka")


def test_a_secret_in_a_prompt_is_not_asked():
    assert "swordfish" not in question_in("why does postgres://app:hunter2swordfish@db.internal/app fail to connect")


@given(st.text(max_size=300))
def test_no_prompt_breaks_the_reading_of_it(prompt):
    question = question_in(prompt)
    assert question is None or question.strip()
