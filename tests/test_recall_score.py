"""The pure stages: fusion, relevance, score, variety. What must hold for any numbers is tested for any numbers."""

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.clock import DAY
from hippo_core.config import Config
from hippo_core.model.memory import Memory
from hippo_core.model.types import LADDER, Author, MemoryType, Tier
from hippo_core.recall.channels import EXACT_CHANNEL, PLAIN_CHANNEL, TIME_CHANNEL, VECTOR_CHANNEL
from hippo_core.recall.diversify import folded, most_varied, says_the_same, vector_similarity, word_similarity
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.relevance import Evidence, coverage, relevance, worth_showing
from hippo_core.recall.score import Aging, nudged, score
from hippo_core.recall.sessions import EPISODE, MEANING, REPLY, TURN, Hit, session_shares
from hippo_core.recall.weights import WEIGHTS

share = st.floats(0, 1)
NOW = 2_000 * DAY


def memory(kind=MemoryType.FACT, age_days=0.0, **more):
    base = Memory(
        1, "text", kind, Tier.SEMANTIC, Author.MACHINE, "g", 0.5, 1.0, False, False, None, 0.0, NOW - age_days * DAY,
        None, None, 1, 1, "active", None,
    )  # fmt: skip
    return base._replace(**more)


# -- score -----------------------------------------------------------------------------------------------------------


@given(share, share, share, share, share, share)
def test_neither_recency_nor_importance_overrides_relevance(
    better, worse, recency_a, recency_b, importance_a, importance_b
):
    """What fits clearly better comes first, were it ever so old and unimportant."""
    if better * WEIGHTS.by_relevance > worse:
        assert score(better, recency_a, importance_a) > score(worse, recency_b, importance_b)


@given(share, share, share)
def test_nothing_is_lifted_above_its_relevance(relevant, recency, importance):
    assert 0 <= score(relevant, recency, importance) <= relevant + 1e-12


def test_at_equal_relevance_the_newer_and_then_the_more_important_wins():
    assert score(0.5, 1.0, 0.5) > score(0.5, 0.2, 0.5)
    assert score(0.5, 0.5, 1.0) > score(0.5, 0.5, 0.2)
    assert score(0.5, 1.0, 0.0) > score(0.5, 0.0, 1.0)
    weighed = (WEIGHTS.by_relevance, WEIGHTS.by_recency, WEIGHTS.by_importance)
    assert weighed == tuple(sorted(weighed, reverse=True)) and math.isclose(sum(weighed), 1)


@pytest.mark.parametrize("kind", list(MemoryType))
def test_a_half_life_halves_what_age_leaves(kind):
    aging = Aging.of(Config())
    assert math.isclose(aging.recency(memory(kind, LADDER[kind].half_life), NOW), 0.5)


def test_the_users_half_life_and_decay_rate_are_used():
    task = memory(MemoryType.TASK, 10)
    assert math.isclose(Aging.of(Config(half_lives=(("task", 10.0),))).recency(task, NOW), 0.5)
    assert math.isclose(Aging.of(Config(half_lives=(("task", 10.0),), decay_rate=2.0)).recency(task, NOW), 0.25)


def test_high_importance_slows_decay_and_low_importance_does_not_hasten_it():
    aging = Aging.of(Config())
    faded = [aging.recency(memory(age_days=300, importance=importance), NOW) for importance in (0.1, 0.5, 0.8, 1.0)]
    assert faded[0] == faded[1] < faded[2] < faded[3]


def test_what_is_pinned_does_not_age_and_the_future_is_no_bonus():
    aging = Aging.of(Config())
    assert aging.recency(memory(MemoryType.PING, 1_000, pinned=True), NOW) == 1.0
    assert aging.recency(memory(age_days=-50), NOW) == 1.0


def test_a_question_about_open_work_leans_towards_tasks_a_little():
    assert nudged(0.5, MemoryType.TODO, True) > nudged(0.5, MemoryType.FACT, True) == 0.5
    assert nudged(0.5, MemoryType.TODO, False) == 0.5
    assert nudged(0.5, MemoryType.TASK, True) < nudged(0.6, MemoryType.FACT, True)
    assert nudged(1.0, MemoryType.TODO, True) == 1.0


# -- fusion ----------------------------------------------------------------------------------------------------------


def test_reciprocal_rank_fusion_by_hand():
    fused = reciprocal_ranks({"a": [(1, 9.0), (2, 8.0)], "b": [(2, 0.9)]}, {"a": 1.0, "b": 0.5}, constant=10)
    best = 1 / 11 + 0.5 / 11
    assert list(fused) == [2, 1]
    assert fused == pytest.approx({2: (1 / 12 + 0.5 / 11) / best, 1: (1 / 11) / best})


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(1, 30), unique=True), min_size=1))
def test_fusion_stays_within_its_bounds_and_loses_nothing(ranks):
    lists = {name: [(item, 1.0) for item in items] for name, items in ranks.items()}
    fused = reciprocal_ranks(lists, {"a": 1.0, "b": 0.5, "c": 0.3})
    assert set(fused) == {item for items in ranks.values() for item in items}
    assert all(0 < value <= 1 + 1e-12 for value in fused.values())
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


# -- relevance -------------------------------------------------------------------------------------------------------


@given(share, share, share, share, st.sampled_from(["coverage", "fused", "cosine"]))
def test_more_evidence_is_never_less_relevant(a, b, low, high, field):
    weaker, stronger = sorted((low, high))
    seen = Evidence(a, b, a)
    less, more = seen._replace(**{field: weaker}), seen._replace(**{field: stronger})
    assert 0 < relevance(less) <= relevance(more) < 1


def test_being_first_is_not_enough_to_be_relevant():
    """Some memory is always first; where neither a word nor the meaning fits, that says nothing."""
    assert relevance(Evidence(0.0, 1.0, 0.2)) < WEIGHTS.best_at_least
    assert relevance(Evidence(0.0, 1.0, None)) < WEIGHTS.best_at_least
    assert worth_showing({1: relevance(Evidence(0.0, 1.0, 0.2)), 2: 0.01}) == set()


def test_a_clear_answer_silences_what_hardly_fits():
    assert worth_showing({1: 0.9, 2: 0.5, 3: 0.05}) == {1, 2}
    assert worth_showing({1: 0.2, 2: 0.05}) == {1, 2}
    assert worth_showing({}) == set()
    assert worth_showing({1: 0.2, 2: 0.029, 3: 0.03}) == {1, 3}, "nor is all shown that is near to a weak best"


def test_a_rare_word_covers_more_of_a_question_than_a_common_one():
    covered = coverage([(1, frozenset({1})), (900, frozenset({2}))], 1_000, [1, 2, 3])
    assert covered[1] > 0.9 > 0.1 > covered[2] > covered[3] == 0


def test_a_word_that_nobody_holds_counts_against_everything():
    matched = (2, frozenset({1}))
    assert coverage([matched], 100, [1])[1] == 1 > coverage([matched, (0, frozenset())], 100, [1])[1]


# -- variety ---------------------------------------------------------------------------------------------------------


def test_five_phrasings_of_one_fact_do_not_crowd_out_the_second_fact():
    texts = {n: f"the billing worker restarts when memory runs out ({n})" for n in range(1, 6)}
    texts[6] = "invoices are sent by the billing worker at night"
    scores = {1: 0.80, 2: 0.79, 3: 0.78, 4: 0.77, 5: 0.76, 6: 0.70}
    assert most_varied(scores, word_similarity(texts), 2) == [1, 6]


@given(st.dictionaries(st.integers(1, 50), share, max_size=20), st.integers(1, 8))
def test_variety_keeps_the_best_and_the_count(scores, count):
    chosen = most_varied(scores, lambda a, b: 0.5, count)
    assert len(chosen) == len(set(chosen)) == min(count, len(scores))
    assert not chosen or scores[chosen[0]] == max(scores.values())


@given(st.text(), st.text())
def test_word_overlap_is_symmetric_and_bounded(a, b):
    similarity = word_similarity({1: a, 2: b})
    assert similarity(1, 2) == similarity(2, 1) and 0 <= similarity(1, 2) <= 1 and similarity(1, 1) == 1


@pytest.mark.parametrize(
    "one, other",
    [
        ("the api listens on port 8080", "the api listens on port 9090"),
        ("We always squash merge", "We never squash merge"),
        ("Deploys go to staging first", "Deploys go to production first"),
        ("Run make fixtures before the unit tests", "Run make fixtures before the integration tests"),
        ("The frontend uses React with Tailwind", "The admin panel uses React with Tailwind"),
        ("Sessions are stored in redis with a ttl", "Sessions are stored in postgres with a job"),
        ("Tests must run before a push", "Tests must not run before a push"),
        ("We always review, never push to main", "We never review, always push to main"),
        ("Run the linter before the tests", "Run the linter after the tests"),
        ("The beta flag for exports is on in staging", "In staging the beta flag for exports is off"),
        ("Upgrade the driver to 1.0.2 soon", "Soon the driver is upgraded to 1.0.21"),
        ("Timeouts of the gateway are 30s", "The timeout of the gateway is 30m"),
        ("Two reviewers approve each change", "Each change is approved by three reviewers"),
        ("Sessions went to Redis after the outage", "After the outage sessions are kept in Valkey"),
        ("Deploys of the site are done by Mara", "Jorge is who deploys the site, as of now"),
        ("Retries are set in `client.toml` for all calls", "For all calls the retries are set in `server.toml`"),
        ("The build needs the flag --strict on Linux", "On Linux the flag --loose is needed for the build"),
        ("Guests can't export invoices", "Guests can export invoices"),
        ("The cache is enabled in tests", "In tests we have the cache disabled"),
        ("Guests cannot export invoices", "Invoices can be exported by guests"),
        ("api.example.org:8080 serves the api", "The api is served by api.example.org:9090"),
        ("v2 of the API is public", "The API is public since v3"),
    ],
)
def test_a_figure_a_name_a_denial_or_a_word_in_its_place_makes_another_fact(one, other):
    assert not says_the_same(one, other) and not says_the_same(other, one)
    assert says_the_same(one, one) and says_the_same(one, one.rstrip(".") + ".")


@given(st.text(), st.text())
def test_to_say_the_same_is_mutual_and_true_of_oneself(a, b):
    assert says_the_same(a, b) == says_the_same(b, a) and says_the_same(a, a)


fact = st.lists(st.sampled_from("sessions expire after outage redis worker port nightly build".split()), min_size=4)


@given(fact, st.sampled_from(["8080", "v1.2", "`main.py`", "not", "never", "three"]), st.integers(0, 9))
def test_a_figure_a_name_or_a_denial_that_only_one_has_is_never_folded_away(words, more, place):
    one, other = " ".join(words), " ".join([*words[: place % len(words)], more, *words[place % len(words) :]])
    assert folded({1: 0.5, 2: 0.4}, {1: one, 2: other}, {1: "a", 2: "a"}, lambda a, b: 1.0, 0.84) == {1: [], 2: []}


def test_what_holds_in_one_scope_is_not_folded_into_another():
    texts = dict.fromkeys((1, 2, 3), "Deploys need a review")
    groups = folded({1: 0.5, 2: 0.4, 3: 0.3}, texts, {1: "a", 2: "b", 3: "a"}, lambda a, b: 1.0, 0.84)
    assert groups == {1: [3], 2: []}


def test_a_vague_phrasing_does_not_join_what_contradicts_each_other():
    texts = {
        1: "exports: the cache is enabled there",
        2: "about exports there is a cache",
        3: "there, exports have a disabled cache",
    }
    scopes = dict.fromkeys(texts, "a")
    groups = folded({1: 0.5, 2: 0.4, 3: 0.3}, texts, scopes, lambda a, b: 0.9, 0.84)
    assert groups == {1: [2], 3: []}


def test_the_project_named_before_a_fact_does_not_make_it_another():
    assert says_the_same("In billing: sessions expire after an hour", "Sessions expire after an hour.")


def test_other_words_in_another_order_may_be_the_same_fact():
    assert says_the_same("test_orders was flaky; freezing the clock fixed it", "freeze the clock: test_orders flaked")


@pytest.mark.parametrize("order", [(3, 1, 2, 4), (2, 1, 3, 4), (1, 2, 3, 4)])
def test_a_chain_of_phrasings_is_one_group_led_by_its_best(order):
    """The ends of the chain are not alike, whichever of it is met first."""
    likeness = {frozenset((1, 2)): 0.9, frozenset((2, 3)): 0.9}
    texts = {1: "one", 2: "quite another order of words", 3: "a third way to put it altogether", 4: "four"}
    scores, scopes = {item: 0.9 - place / 5 for place, item in enumerate(order)}, dict.fromkeys(texts, "a")
    groups = folded(scores, texts, scopes, lambda a, b: likeness.get(frozenset((a, b)), 0.0), 0.84)
    assert groups == {order[0]: list(order[1:3]), 4: []}


def likenesses(**pairs):
    return lambda a, b: pairs.get("".join(sorted((a, b))), 0.0)


def test_variety_heeds_all_that_was_chosen_and_not_the_last_alone():
    scores = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}
    assert most_varied(scores, likenesses(ac=1.0), 3) == ["a", "b", "d"]


def test_likeness_takes_off_a_share_so_that_variety_never_lifts_what_hardly_fits():
    scores = {"a": 0.9, "b": 0.3, "c": 0.25}
    assert most_varied(scores, likenesses(ab=0.3), 2) == ["a", "b"]
    assert most_varied({"a": 0.9, "b": 0.8, "c": 0.1}, likenesses(ab=1.0), 2) == ["a", "b"]
    assert most_varied({"a": 0.9, "b": 0.8, "c": 0.6}, likenesses(ab=1.0), 2) == ["a", "c"]


def test_a_double_may_still_be_better_than_what_hardly_fits():
    assert most_varied({"a": 0.9, "b": 0.85, "c": 0.3}, likenesses(ab=1.0), 2) == ["a", "b"]


def test_a_cosine_below_what_strangers_reach_takes_nothing_off_a_session():
    hits = [Hit("near", 1, 0.9), Hit("far", 2, WEIGHTS.cosine_floor / 2)]
    assert session_shares(MEANING, hits) == {"near": 1.0, "far": 0.0}


def test_two_of_which_one_has_no_vector_are_as_alike_as_their_words():
    vectors = {1: numpy.array([1.0, 0.0]), 2: numpy.array([0.6, 0.8]), 3: numpy.array([-1.0, 0.0])}
    similarity = vector_similarity(vectors, lambda a, b: 0.7)
    assert similarity(1, 4) == similarity(4, 1) == 0.7
    assert similarity(1, 2) == pytest.approx(0.6) and similarity(1, 3) == 0, "and opposites are not less than unlike"


# -- the table ---------------------------------------------------------------------------------------------------------


def test_the_table_weighs_each_channel_and_each_list_by_its_name_and_nobody_can_change_it():
    assert set(WEIGHTS.channels) == {EXACT_CHANNEL, PLAIN_CHANNEL, VECTOR_CHANNEL, TIME_CHANNEL}
    assert set(WEIGHTS.lists) == {TURN, EPISODE, MEANING, REPLY}
    for table in (WEIGHTS.channels, WEIGHTS.lists):
        with pytest.raises(TypeError):
            table["time"] = 1.0
    with pytest.raises(AttributeError):
        WEIGHTS.floor = 0.0
