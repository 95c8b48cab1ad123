"""Which of many patterns finds something first, without searching them all: as if all had been searched."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_core.distill.cues import CUES
from hippo_core.distill.needs import needs_of
from hippo_core.distill.wordings import Wordings

PATTERNS = [
    r"\b(?:fix|fail)(?:ed|s)?\b.{0,20}\bbecause\b",
    r"^(?:we |i )?(?:use|keep) (?!it\b)\w+",
    r"(?-i:\b[A-Z]+_[A-Z]+\b) is \d+",
    r"`[^`]+`\s+works?",
    r"ends? with (?:a |the )?dot$",
    r"(?:ab){1,3}c|x?yz",
    r"\w+ (?<!no )way\b",
    r"[ßẞ]traße|im auge behalten",
]
WORDS = (
    "fixed fails because we use keep it PORT_NUMBER is 8080 `make` works end with the dot. ababc yz way no STRASSE"
).split()


def first_of(patterns, text):
    return next((place for place, each in enumerate(patterns) if re.search(each, text, re.IGNORECASE)), None)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*WORDS, "port_number", "Because", "\n", "x", "\u0130"]), max_size=8).map(" ".join))
def test_the_first_pattern_is_the_one_that_a_search_of_all_gives(text):
    assert Wordings(PATTERNS).first(text) == first_of(PATTERNS, text)


TABLE = [wording for cue in CUES for wording in cue.wordings]
LITERALS = sorted({literal for wording in TABLE for need in needs_of(wording) for literal in need})
OF_THE_TABLE = Wordings(TABLE)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*LITERALS, "the", "it", "a", "`x.py`", "to", "8080"]), max_size=9).map(" ".join))
def test_no_wording_of_the_distiller_is_passed_over(text):
    assert OF_THE_TABLE.first(text) == first_of(TABLE, text)


def test_only_those_asked_for_are_searched():
    assert Wordings(["a", "b"]).first("ab", among=0b10) == 1 and Wordings(["a", "b"]).first("a", among=0b10) is None


@pytest.mark.parametrize(
    "pattern, needs",
    [
        (r"\bRoot cause\b", [{"cause"}, {"root"}]),
        (r"(?:fixed|solved) by", [{"fixed", "solved"}, {"by"}]),
        (r"because\b.{3,100}\b(?:fail|break)s?", [{"because"}, {"fail", "fails", "break", "breaks"}]),
        (r"port \d{4}", [{"port"}, set("0123456789")]),
        (r"(?:see )?(?:\w+ )*`", [{"`"}]),
        (r"\w+|fail", []),
        (r"(?:never)?", []),
    ],
)
def test_needs_are_read_off_the_pattern_the_rarest_first(pattern, needs):
    assert needs_of(pattern) == needs
