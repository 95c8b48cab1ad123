"""A long message is shown where it answers, not where it begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.recall.passage import passage

FILLER = "Then the build went on and printed one more line of no interest.\n"
ANSWER = "The migration failed because the quota of the staging database was used up.\n"


def test_the_part_is_shown_that_holds_most_of_the_words():
    text = FILLER * 3 + "A quota is mentioned here.\n" + FILLER * 60 + ANSWER + FILLER * 60
    shown = passage(text, ["quota", "staging", "database"], 600)
    assert ANSWER.strip() in shown
    assert shown.startswith("… ") and shown.endswith(" …")


def test_it_begins_with_a_sentence_or_a_line():
    text = FILLER * 40 + "Before that, nothing. " + ANSWER + FILLER * 40
    assert passage(text, ["migration", "quota"], 300).startswith("… " + ANSWER[:20])


def test_words_count_in_their_other_forms():
    text = FILLER * 40 + "Two deployments were cancelled by hand.\n" + FILLER * 40
    assert "cancelled by hand" in passage(text, ["deployment", "cancelling"], 300)


def test_a_short_part_holds_the_word_that_it_is_shown_for():
    text = "one two three four five six " * 40 + "and the quota " + "seven eight nine ten " * 40
    assert "quota" in passage(text, ["quota"], 80)


def test_capitals_do_not_hide_a_word_nor_move_it():
    """A capital dotted I is two letters when it is made small."""
    text = "İİİİİİİİİİ Zürich, İstanbul. " * 30 + "The QUOTA is used up. " + FILLER * 40
    assert passage(text, ["Quota"], 80).startswith("… The QUOTA is used up. Then")


def test_words_inside_other_words_do_not_count():
    text = FILLER * 40 + "unquotable\n" + FILLER * 40
    assert passage(text, ["quot"], 300).startswith(FILLER[:20])


@pytest.mark.parametrize(("first", "wanted", "words"), [
    ("It was cold.", "Both runs were cancelled by hand.", ["cancelling"]),
    ("It was a pity.", "The port is taken.", ["port"]),  # of a short word nothing is cut off
    ("It was error-1043.", "Then came error-1042.", ["error-1042"]),  # nor of a name
    ("A port.", "A portable port.", ["port", "portable"]),
    ("Nothing of it.", "The quota of staging.", ["staging", "quota"]),
])  # fmt: skip
def test_a_word_is_found_in_its_forms_and_no_other_is_taken_for_it(first, wanted, words):
    text = f"{first}\n{FILLER * 20}{FILLER * 20}{wanted}\n{FILLER * 40}"
    assert passage(text, words, 300).startswith(f"… {wanted}")


def test_words_far_apart_do_not_stand_together():
    text = f"{FILLER * 20}A quota.\n{FILLER * 20}Then staging.\n{FILLER * 20}{ANSWER}{FILLER * 20}"
    assert passage(text, ["quota", "staging"], 300).startswith(f"… {ANSWER}")


def test_it_begins_with_the_whole_name_that_holds_the_word_or_with_a_long_sentence():
    words = "one two three four five six " * 40
    assert passage(f"{words}src/app/quota.py is {words}", ["quota"], 300).startswith("… src/app/quota.py is one")
    sentence = "It was said in the long meeting of that rainy Monday of the other week that the quota is used up."
    assert passage(f"{FILLER * 20}{sentence}\n{FILLER * 20}", ["quota"], 600).startswith(f"… {sentence}")


def test_where_the_text_ends_there_are_as_many_letters_of_it():
    shown = passage(FILLER * 40 + "The quota.", ["quota"], 300)
    assert len(shown) == 302 and shown.endswith("The quota.")


def test_what_holds_no_word_is_shown_from_its_beginning():
    text = "Dear all. " + FILLER * 40
    assert passage(text, ["kubernetes"], 300) == text[:300] + " …"
    assert passage(text, [], 300) == text[:300] + " …"


def test_the_beginning_is_kept_where_it_is_no_worse():
    text = ANSWER + FILLER * 40 + ANSWER
    assert passage(text, ["quota", "staging"], 300).startswith(ANSWER)


def test_words_without_spaces_between_them_are_found():
    text = FILLER * 40 + "我们决定部署到新的服务器。" + FILLER * 40
    assert "部署" in passage(text, ["部署"], 300)


@given(st.text(max_size=900), st.lists(st.text(max_size=12), max_size=5), st.integers(80, 700))
def test_any_text_gives_so_many_letters_of_itself(text, words, length):
    shown = passage(text, words, length)
    if len(text) <= length:
        assert shown == text
    else:
        begin, end = shown.startswith("… "), shown.endswith(" …")
        assert begin or end
        assert any(shown[cut : cut + length] in text for cut in (0, 2)) and len(shown) <= length + 4
