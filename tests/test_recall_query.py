"""A question as people and agents really write it: what is looked for, and that none of it can break a search."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_core.errors import UsageError
from hippo_core.recall.query import MOST_LETTERS, MOST_LITERALS, MOST_WORDS, read_query


def test_function_words_are_not_looked_for():
    assert read_query("Why did we drop Redis for the sessions?").words == ("drop", "Redis", "sessions")


@pytest.mark.parametrize(
    "said", ["ok", "Thanks!", "thanks a lot", "yes, do it", "?!", "don't", "*", '"', "''", "🎉", "AND", "(…)", "\udcff"]
)
def test_nothing_is_looked_for_in_what_asks_nothing(said):
    assert read_query(said).empty


@pytest.mark.parametrize(
    "name",
    [
        "brain.py", "--force", "-k", "src/app/main.py", "MAX_RETRIES", "v1.0.21", "1.0.21", "E4012", "getUserName",
        "HTTP", "a/b", "c++", "user@host", "#1234", "pre-edit", "C:\\temp", "std::vector", "3f2a91c", ".env", "lib/",
    ],
)  # fmt: skip
def test_a_name_is_a_literal(name):
    assert name in read_query(f"where is {name}, and why?").literals


@pytest.mark.parametrize("word", ["Redis", "music.", "why?", "(tests)", "don't", "I", "A", "naïve", "部署"])
def test_a_word_is_no_literal(word):
    assert read_query(f"{word} again broken").literals == ()


def test_quotes_make_a_phrase():
    query = read_query('what does `make fixtures` do after "token bucket"?')
    assert query.literals == ("make fixtures", "token bucket")
    assert "make fixtures" in query.terms


def test_a_word_counts_once_however_it_is_spelled():
    query = read_query("Redis redis REDIS.")
    assert query.words == ("Redis",) and query.terms == ("Redis",)


@pytest.mark.parametrize("text", ["", "  \n\t ", "\0"])
def test_an_empty_question_is_refused(text):
    with pytest.raises(UsageError, match="nothing to look for"):
        read_query(text)


def test_a_pasted_log_is_cut_to_its_beginning():
    query = read_query("why does the parser fail? " + "Traceback line 17 in module_x.py\n" * 4_000)
    assert len(query.text) <= MOST_LETTERS and query.words[:2] == ("parser", "fail")


@settings(max_examples=60, deadline=None)
@given(st.builds(lambda text, times: text * times, st.text(max_size=60), st.integers(1, 60)))
def test_every_question_is_bounded_and_can_be_encoded(text):
    try:
        query = read_query(text)
    except UsageError:
        return
    query.text.encode("utf-8")
    assert len(query.words) <= MOST_WORDS and len(query.literals) <= MOST_LITERALS and len(query.text) <= MOST_LETTERS
    assert len(set(map(str.casefold, query.terms))) == len(query.terms)


@pytest.mark.parametrize(
    "text", ["what is left to do?", "open todos", "next steps for billing", "tasks for the release"]
)
def test_a_question_about_open_work_is_recognised(text):
    assert read_query(text).to_do


@pytest.mark.parametrize("text", ["why did we drop redis", "how does the task queue retry", "who owns the login page"])
def test_another_question_is_not_taken_for_one(text):
    assert not read_query(text).to_do
