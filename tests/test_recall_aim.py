"""What a question asks for by name, and what is beside its point: pure tables, and small stores as a whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from precision_cases import WORLDS
from precision_worlds import filled, shown

from hippo_core.recall.aim import aim, names_of, plain
from hippo_core.recall.relevance import at_least_shown, worth_showing
from hippo_core.recall.weights import WEIGHTS

CACHE = "Redis is used as a cache in the backend."
AUTH = "The auth service depends on Redis for sessions."


@pytest.mark.parametrize(
    "text, name",
    [
        (CACHE, "redis"),
        ("The irrigation pump must never run longer than 90 seconds", "irrigation pump"),
        ("In billing: Orders are exported at night.", "orders"),
        ("composition over inheritance. Prefers factory functions", "composition inheritance"),
        ("CI runs on GitHub Actions (GHA)", "gha"),
        ("Over-the-air (OTA) updates are signed", "ota"),
        ("Our CI of GitHub Actions (GHA) runs at night", "gha"),
        ("Adyen is our payment provider, also called PSP", "psp"),
        ("Kubernetes, aka k8s, runs everything", "k8s"),
        ("dead letter queue. Failed messages go there. Aliases: DLQ, failed messages", "failed messages"),
    ],
)
def test_a_memory_is_called_by_what_it_opens_with_and_by_its_other_names(text, name):
    assert plain(name) in names_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "Set up (see README) first",
        "Sessions (30) are kept",
        "In readme: Orders are sent.",
        f"Redis is a cache. {'x' * 300}",
    ],
)
def test_what_is_no_name(text):
    assert not {plain(name) for name in ("see", "readme", "30", "redis")} & names_of(text)


def test_a_name_has_four_words_at_most():
    names = names_of("The cache. Aliases: big blue shared redis, big blue shared redis cluster")
    assert plain("big blue shared redis") in names and plain("big blue shared redis cluster") not in names


def aimed(question, held, texts, relevances):
    words = {word: frozenset(items) for word, items in held.items()}
    found = aim(question, words, dict(enumerate(texts, 1)), dict(enumerate(relevances, 1)))
    return set(found.named), set(found.beside)


def test_what_only_mentions_the_name_is_beside_the_point():
    assert aimed("What are we using Redis for?", {"Redis": {1, 2}}, [CACHE, AUTH], [0.8, 0.6]) == ({1}, {2})


def test_what_holds_none_of_the_words_stays_where_its_meaning_fits_as_well():
    assert aimed("Redis", {"Redis": {1}}, [CACHE, "The session cache is in memory."], [0.45, 0.4]) == ({1}, set())


def test_what_holds_a_word_of_its_own_goes_only_far_below_the_named():
    held = {"Redis": {1}, "night": {2}}
    assert aimed("Redis at night", held, [CACHE, "Backups run each night."], [0.8, 0.25]) == ({1}, set())
    assert aimed("Redis at night", held, [CACHE, "Backups run each night."], [0.8, 0.2]) == ({1}, {2})


def test_what_holds_all_words_but_is_far_from_the_best_puts_nothing_beside_the_point():
    held = {"rain": {1}, "barrel": {1, 2}}
    texts = ["A rain barrel stands there.", "Every barrel leaks.", "Water is short."]
    assert aimed("is rain in a barrel", held, texts, [0.2, 0.1, 0.8])[1] == set()


def test_what_speaks_of_it_before_its_verb_is_not():
    texts = [CACHE, "Webhooks from Redis are verified."]
    assert aimed("Redis", {"Redis": {1, 2}}, texts, [0.8, 0.6]) == ({1}, set())


def test_what_holds_a_further_word_of_the_question_or_fits_as_well_is_not():
    held = {"leave": {2}, "Redis": {1, 2}}
    assert aimed("why did we leave Redis?", held, [CACHE, "Outages made Ines leave Redis."], [0.8, 0.4]) == ({1}, set())
    assert aimed("Redis", {"Redis": {1, 2}}, [CACHE, AUTH], [0.6, 0.6]) == ({1}, set())


def test_a_part_of_a_name_is_another_thing():
    texts = ["CI/CD runs on GitHub. Aliases: CI pipeline", "functional pipeline. Uses pipe() for data."]
    held = {"CI": {1}, "pipeline": {1, 2}, "secrets": set()}
    assert aimed("how does our CI pipeline handle secrets?", held, texts, [0.12, 0.16]) == ({1}, {2})


def test_where_the_best_holds_all_words_what_holds_fewer_has_to_be_near():
    held = {"pump": {1}, "run": {1, 2, 3}}
    texts = ["An old pump may run hot", "Controllers run on batteries", "Batteries may run for days"]
    assert aimed("how long may pumps run", held, texts, [0.8, 0.1, 0.5]) == (set(), {2})
    assert aimed("how long may pumps run", {**held, "days": {3}}, texts, [0.8, 0.1, 0.5]) == (set(), set())


def test_several_names_in_one_question_each_bring_their_own():
    texts = ["React is the frontend", "Kubernetes runs services", "Failed messages go to a queue near services"]
    held = {"React": {1}, "Kubernetes": {2}, "services": {2, 3}}
    assert aimed("React, Kubernetes and the services", held, texts, [0.1, 0.02, 0.025]) == ({1, 2}, {3})


def test_what_the_named_depends_on_comes_with_it_where_that_is_asked():
    texts = ["The gate scanners depend on the Tallinn relay to validate", "Tallinn relay: a cache", "Kiosks print"]
    words = {"scanners": frozenset({1}), "depend": frozenset({1})}
    values = {1: 0.8, 2: 0.002, 3: 0.2}
    found = aim("what do the gate scanners depend on?", words, dict(enumerate(texts, 1)), values)
    assert found.needed == {2} and 2 not in found.beside
    assert worth_showing(at_least_shown(values, found.named, found.needed)) == {1, 2, 3}
    assert not aim("who mends the gate scanners?", words, dict(enumerate(texts, 1)), values).needed


def test_what_holds_but_another_form_of_a_word_beside_the_one_that_is_wanted_goes():
    texts = ["Prints labels at 203 dpi.", "Prefers tables to prose.", "Ghent does the printing."]
    held = {"printing": {1, 3}, "preferences": {2}}
    assert aimed("what are my printing preferences?", held, texts, [0.2, 0.1, 0.2]) == (set(), {1})
    assert aimed("what are my printing preferences?", held, texts, [0.6, 0.1, 0.2]) == (set(), set())  # sure by meaning
    assert aimed("what preferences have I for printing?", held, texts, [0.2, 0.1, 0.2]) == (set(), set())
    nowhere = {**held, "preferences": set()}
    assert aimed("what are my printing preferences?", nowhere, texts, [0.2, 0.1, 0.2]) == (set(), set())
    lengthy = [texts[0] + " And so on." * 30, *texts[1:]]
    assert aimed("what are my printing preferences?", held, lengthy, [0.2, 0.1, 0.2]) == (set(), set())


def test_which_of_two_words_is_wanted_tells_nothing_where_nothing_that_is_shown_holds_it():
    texts, held = ["We test each night.", "A strategy takes long."], {"testing": {1}, "strategy": {2}}
    assert aimed("our testing strategy", held, texts, [0.3, 0.2])[1] == {1}
    assert aimed("our testing strategy", held, texts, [0.3, 0.005])[1] == set()


def test_a_name_is_shown_though_little_else_speaks_for_it():
    assert worth_showing(at_least_shown({1: 0.05, 2: 0.05}, {1})) == {1}
    assert worth_showing(at_least_shown({1: 0.5, 2: 0.012, 3: 0.012}, {2})) == {1, 2}
    assert worth_showing(at_least_shown({1: 0.02}, {1})) == set()
    assert worth_showing(at_least_shown({1: 0.05}, {1}, by_meaning=False)) == set()


relevances = st.dictionaries(st.integers(1, 9), st.floats(0, 1), min_size=1)


@given(relevances, st.sets(st.integers(1, 9)))
def test_a_name_lifts_nothing_above_what_was_shown_and_lowers_nothing(before, named):
    after = at_least_shown(before, named)
    assert all(after[n] >= before[n] for n in after) and max(after.values()) <= max(
        *before.values(), WEIGHTS.best_at_least
    )
    assert worth_showing(before) <= worth_showing(after)


@given(st.text(), st.lists(st.text(), min_size=1, max_size=4), st.data())
def test_the_best_is_never_beside_the_point(question, texts, data):
    values = data.draw(st.lists(st.floats(0.5, 1), min_size=len(texts), max_size=len(texts), unique=True))
    held = {word: data.draw(st.sets(st.integers(1, len(texts)))) for word in dict.fromkeys(question.split())}
    named, beside = aimed(question, held, texts, values)
    assert values.index(max(values)) + 1 not in beside and not named & beside


@pytest.mark.parametrize("world, least", [("greenhouse", 27), ("museum", 25), ("village", 13)])
def test_small_stores_bring_what_bears_on_the_question_and_nothing_else(world, least, tmp_path):
    store, names = filled(tmp_path / "memory.db", WORLDS[world], None)
    with store:
        kept = [case.holds(shown(store, names, case, None)) for case in WORLDS[world].asked]
    assert sum(kept) >= least
