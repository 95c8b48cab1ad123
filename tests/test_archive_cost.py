"""What a question to the archive costs is bounded, however common its words are, and hardly changes what it brings."""

import json
import random

import pytest
from archive_rows import API, append

from hippo_core.curate.forget import forget, what_would_go
from hippo_core.model.message import Role
from hippo_core.model.scope import project_scope
from hippo_core.recall.archive import Search, read_archive_query, search_archive
from hippo_core.recall.as_spelled import as_spelled
from hippo_core.recall.query import read_query
from hippo_core.recall.sessions import TURN
from hippo_core.recall.weights import WEIGHTS
from hippo_core.recall.when import When
from hippo_core.store.frequencies import LISTED, Plan

WEB = project_scope("example.org/team/web", "web")
SHOP = project_scope("example.org/team/shop", "shop")


@pytest.fixture
def counted(store, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.COMMON", 5)
    monkeypatch.setattr("hippo_core.store.frequencies._ENOUGH", 20)
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 50)
    append(store, *(f"the deploys of the api, {n}" for n in range(30)))
    append(store, *(f"deploy {n}" for n in range(30)), scope=WEB, session="s2")
    append(store, "a websocket")
    assert store.frequencies.due()
    with store.transaction():
        store.frequencies.count()
    return store


def test_common_words_are_counted_by_their_stems_and_rare_ones_are_not(counted):
    known = counted.frequencies.of
    assert (known("deploying"), known("API"), known("websocket"), known("nobody")) == (60, 30, None, None)
    assert not counted.frequencies.due()


def test_words_are_counted_again_when_the_archive_has_grown_by_a_quarter(counted):
    newest = counted.episodes.newest()
    append(counted, *("more" for _ in range(newest // 4)))
    assert not counted.frequencies.due()
    append(counted, "and one")
    assert counted.frequencies.due()


def test_a_question_within_the_budget_is_ranked_whole_else_its_rarest_words_are_listed(counted):
    words = ["deploy", "websocket", "api"]
    assert counted.frequencies.plan(words, None, budget=100) == Plan(("websocket", "api", "deploy"))
    assert counted.frequencies.plan(words, None, budget=80) == Plan(("websocket", "api"), 0, 1.0)
    assert counted.frequencies.plan(["deploy", "api"], [WEB.key], budget=80).words == ("api", "deploy")


def test_what_fts5_ranks_in_a_large_project_costs_the_project(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies._RANKING", 10)
    assert counted.frequencies.plan(["websocket"], None, budget=100).share is None
    assert counted.frequencies.plan(["websocket"], [WEB.key], budget=100).share == pytest.approx(30 / 61)


def test_what_fts5_ranks_in_a_small_project_costs_all_rows_of_the_words(counted, monkeypatch):
    """Before it ranks it counts them, wherever they are; to list it skips from one of the scope to the next."""
    append(counted, "a deploy of the shop", scope=SHOP, session="s3")
    with counted.transaction():
        counted.frequencies.count()
    assert counted.frequencies.plan(["deploy"], [SHOP.key], budget=6).share is None
    assert counted.frequencies.plan(["deploy", "api"], [SHOP.key], budget=5).words == ("api",), "a word costs by itself"
    monkeypatch.setattr("hippo_core.store.frequencies._WORD_BY_SKIPPING", 1)
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 10)
    assert counted.frequencies.plan(["deploy", "api"], [SHOP.key], budget=5) == Plan(("api", "deploy"), 0, 1 / 62)


def test_what_came_since_the_last_count_may_all_be_of_the_project_that_is_searched(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies._RANKING", 10)
    append(counted, *("tea" for _ in range(10)), scope=SHOP, session="s3")
    assert counted.frequencies.plan(["websocket"], [SHOP.key], budget=100).share == pytest.approx(10 / 71)
    assert counted.frequencies.plan(["websocket"], [WEB.key], budget=420).share == pytest.approx(40 / 71)


def test_in_a_large_archive_half_as_many_are_ranked_whole(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies._LARGE", 60)
    assert counted.frequencies.plan(["deploy"], None, budget=120).share is None
    assert counted.frequencies.plan(["deploy"], None, budget=119).share == 1.0


def test_a_single_common_word_is_looked_for_among_the_newest(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 15)
    plan = counted.frequencies.plan(["deploy"], None, budget=15)
    assert plan == Plan(("deploy",), 45, 1.0)
    more = {"scopes": None, "limit": 100, "since": plan.since, "share": plan.share}
    hits = counted.message_words.keyword_hits(plan.words, **more)
    assert hits and min(number for number, _ in hits) > 45
    near = counted.episodes.keyword_hits(plan.words, user_weight=5.0, **more)
    assert near and {session for session, _ in near} == {"s2"}


def test_a_phrase_costs_what_all_its_words_cost(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 40)
    plan = counted.frequencies.plan(["the deploys of the api"], None, budget=20)
    assert plan == Plan(("the deploys of the api",), int(61 * (1 - 40 / 150)), 1.0)
    pasted = "api " * 1_000  # of which the last six are looked for
    assert counted.frequencies.plan([pasted], None, budget=20) == Plan((pasted,), int(61 * (1 - 40 / (6 * 30))), 1.0)


def test_rows_that_are_listed_are_ranked_as_fts5_ranks_them(store):
    chance = random.Random(8)
    words = [f"word{n:02}" for n in range(30)]
    for n in range(120):
        said = chance.choices(words, k=chance.randint(1, 12))
        append(store, " ".join(said), session=f"s{n % 9}", scope=(API, WEB)[n % 3 == 0], role=list(Role)[n % 2])
    for asked in (["word01"], ["word02", "word03"], ["word04", "word05", "nowhere", "word06"], ["nowhere"]):
        exact = store.message_words.keyword_hits(asked, scopes=None, limit=200)
        listed = store.message_words.keyword_hits(asked, scopes=None, limit=200, share=1.0)
        assert dict(listed) == pytest.approx(dict(exact))
        scoped = store.message_words.keyword_hits(asked, scopes=[WEB.key], limit=200, share=1 / 3)
        assert {number for number, _ in scoped} == {number for number, _ in exact if number % 3 == 1}
        more = {"scopes": None, "limit": 200, "user_weight": 5.0}
        exact, listed = (
            store.episodes.keyword_hits(asked, **more),
            store.episodes.keyword_hits(asked, share=1.0, **more),
        )
        assert sorted(session for session, _ in exact) == sorted(session for session, _ in listed)


def test_the_commonest_words_speak_for_rows_that_rarer_ones_brought(store, monkeypatch):
    monkeypatch.setattr("hippo_core.store.postings._ENOUGH", 3)
    monkeypatch.setattr("hippo_core.store.postings._MORE", 0)
    monkeypatch.setattr("hippo_core.store.postings._RANKED", 2)
    append(store, *["tea"] * 5, "rare", "rare", "rare tea", *["tea"] * 5, *["milk"] * 20)
    hits = store.message_words.keyword_hits(["rare", "tea"], scopes=None, limit=2, share=1.0)
    assert [number for number, _ in hits] == [8, 7]


def test_forms_of_a_word_are_counted_in_the_best_of_the_rows_that_are_listed(store):
    once, often = append(store, "a deploy, then lunch and tea", "deployed, Deploys, redeployed: a walk and tea")
    append(store, *["coffee"] * 20)
    exact, listed = (
        store.message_words.keyword_hits(["deploying"], scopes=None, limit=9, **more) for more in ({}, {"share": 1.0})
    )
    assert [number for number, _ in exact] == [number for number, _ in listed] == [often, once]


def test_what_a_common_word_is_in_is_known_without_going_through_all_of_it(counted):
    matches = counted.message_words.word_matches(["deploy", "websocket"], among=[1, 61], known=counted.frequencies.of)
    assert matches == [(60, frozenset({1})), (1, frozenset({61}))]


def test_a_common_word_is_found_in_a_text_however_long_and_in_a_phrase(counted, monkeypatch):
    (short, long) = append(counted, "Über the deployed APIs", "the api " + "and so on " * 1_000 + "deploys")
    (pairs,) = append(counted, "部署 the api")
    asked, among = ["deploying", "the api", "API", "deploy the"], [short, long, pairs]
    with counted.transaction():
        counted.frequencies.count()
    matches = counted.message_words.word_matches(asked, among=among, known=lambda word: 7)
    by_index = counted.message_words.word_matches(asked, among=among, known=lambda word: None)
    assert [held for _, held in matches] == [held for _, held in by_index]
    assert [held for _, held in matches] == [{short, long}, {long, pairs}, {short, long, pairs}, set()]


def test_forgetting_clears_the_counts(counted, paths):
    forget(counted, paths, what_would_go(counted, text="deploys"))
    assert counted.frequencies.of("deploy") is None and counted.frequencies.plan(["deploy"], None, 20).since == 0


# -- of a time -------------------------------------------------------------------------------------------------------

JUNE = (100.0, 130.0)


@pytest.fixture
def of_june(store):
    """Sixty that are older than June, in it every tenth of thirty says so, and a hundred that are newer."""
    append(store, *(f"deploy of the api, {n}" for n in range(59)), "a hotfix", session="old")
    append(store, *("deploy, at last" if n % 10 == 0 else "lunch" for n in range(30)), session="june", began=100.0)
    append(store, *(f"deploy of the api again, {n}" for n in range(100)), session="new", began=500.0)
    append(store, "deploy of the web", "lunch", session="june in web", scope=WEB, began=110.0)
    append(store, "hotfix at lunch", session="june, later", began=120.0)
    return store


def then(store, *words, scopes=None, span=JUNE):
    limits = (50, 50)
    return store.said_when.keyword_hits(words, span, scopes=scopes, limits=limits, user_weight=5.0)


@pytest.mark.parametrize("scopes", [None, [API.key], [WEB.key]])
@pytest.mark.parametrize("words", [["deploy"], ["lunch", "deploy"], ["nobody", "web"], ["hotfix", "lunch"]])
def test_what_was_said_at_a_time_is_ranked_as_among_all(of_june, words, scopes):
    turns, episodes = then(of_june, *words, scopes=scopes)
    numbers = {n for (n,) in of_june._db.execute("SELECT id FROM message WHERE at >= 100 AND at < 130")}
    everywhere = of_june.message_words.keyword_hits(
        words, scopes=scopes, limit=500, share=1.0 if scopes is None else 0.5
    )
    assert [n for n, _ in turns] == [n for n, _ in everywhere if n in numbers]
    if scopes is None:
        assert dict(turns) == pytest.approx({n: score for n, score in everywhere if n in numbers})
    sessions = of_june.episodes.keyword_hits(words, scopes=scopes, limit=500, user_weight=5.0)
    assert {name for name, _ in episodes} == {name for name, _ in sessions if name.startswith("june")}


def test_of_a_word_that_is_counted_only_the_rows_of_the_time_are_listed(of_june, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.COMMON", 5)
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 20)
    before = then(of_june, "deploy")
    with of_june.transaction():
        of_june.frequencies.count()
    listed, loads = [], json.loads
    monkeypatch.setattr("hippo_core.store.postings.json.loads", lambda found: listed.append(found) or loads(found))
    turns, episodes = then(of_june, "deploy")
    assert [n for n, _ in turns] == [n for n, _ in before[0]] and len(turns) == 4
    assert dict(turns) == pytest.approx(dict(before[0]), rel=0.05)
    assert {name for name, _ in episodes} == {"june", "june in web"}
    assert max(len(loads(rows)) for rows in listed) < 110, "of 164 that hold it"
    listed.clear()
    assert [n for n, _ in then(of_june, "deploy", span=(100.0, 110.0))[0]] == [61]
    assert max(len(loads(rows)) for rows in listed) == 1


def test_of_a_word_that_too_many_of_the_time_hold_the_newest_are_listed(of_june, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.COMMON", 5)
    with of_june.transaction():
        of_june.frequencies.count()
    assert len(then(of_june, "deploy", span=(500.0, 600.0))[0]) == 50
    monkeypatch.setattr("hippo_core.store.said_when._LISTED", 10)
    turns, episodes = then(of_june, "deploy", span=(500.0, 600.0))
    assert 170 < min(n for n, _ in turns) and len(turns) > 5 and {name for name, _ in episodes} == {"new"}


def test_of_a_time_with_too_many_that_hold_a_word_the_newest_are_listed(of_june, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.COMMON", 5)
    monkeypatch.setattr("hippo_core.store.said_when._LISTED", 20)
    with of_june.transaction():
        of_june.frequencies.count()
    plan = of_june.frequencies.plan_among(["deploy"], None, 90, 189, 20)
    assert 90 + 100 - 2 * 20 < plan.since < 189 - 20 and plan.share == 1.0
    numbers = [n for n, _ in then(of_june, "deploy", span=(500.0, 600.0))[0]]
    assert numbers and min(numbers) > plan.since


def test_what_was_said_by_an_agent_speaks_for_the_episode_that_it_is_in(store):
    append(store, *["lunch"] * 5, began=100.0)
    append(store, "deploy", agent="a1", began=103.0)
    append(store, "deploy", began=105.0)
    assert len(store.episodes._holding([6])) == len(store.episodes._holding([7])) == 1
    assert store.episodes._holding([7]) == store.episodes._holding([1]) != store.episodes._holding([6])


@pytest.mark.parametrize("count", [False, True])
def test_of_a_time_in_a_project_all_words_of_a_question_are_looked_for(of_june, count):
    """What it costs to find a project's messages for each word is in proportion to how many there are between."""
    (last,) = append(of_june, "a heron", session="june, later", began=121.0)
    if count:
        append(of_june, *("tea" for _ in range(600)), session="new", began=1_000.0)
        with of_june.transaction():
            of_june.frequencies.count()
    turns, _ = then(of_june, "deploy", "api", "lunch", "heron", scopes=[API.key], span=(121.0, 122.0))
    assert last in [n for n, _ in turns]
    words = [f"word{n}" for n in range(8)]
    assert of_june.frequencies.plan_among(words, [API.key], 61, 92, 4_000).words == tuple(words)


def test_a_word_that_very_many_hold_is_found_in_a_quiet_week(of_june, monkeypatch):
    """Elsewhere the rarer words of the question are looked for instead, and the time's own are among them."""
    monkeypatch.setattr("hippo_core.store.frequencies.COMMON", 5)
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 20)
    with of_june.transaction():
        of_june.frequencies.count()
    weights = WEIGHTS._replace(ranked_rows=20)
    search = Search(of_june, read_query("deploy")._replace(when=When("in June", *JUNE)), None, weights=weights)
    search.by_words()
    assert {"june", "june in web"} <= {hit.session for hit in search.lists[TURN]}


def test_a_project_that_began_after_the_last_count_is_asked_for_a_time_as_well(of_june):
    """The share of what was counted that is in it is none."""
    with of_june.transaction():
        of_june.frequencies.count()
    new, nothing_said = project_scope("example.org/team/new", "new"), project_scope("example.org/team/none", "none")
    number, _ = append(of_june, "deploy of the new one", "lunch", session="june in new", scope=new, began=120.0)
    turns, episodes = then(of_june, "deploy", scopes=[new.key])
    assert [n for n, _ in turns] == [number] and [name for name, _ in episodes] == ["june in new"]
    assert then(of_june, "deploy", scopes=[nothing_said.key]) == ([], [])


def test_of_a_time_that_holds_too_much_nothing_is_gone_through(of_june, monkeypatch):
    monkeypatch.setattr("hippo_core.store.said_when._GONE_THROUGH", 33)
    assert then(of_june, "deploy")[0]
    monkeypatch.setattr("hippo_core.store.said_when._GONE_THROUGH", 32)
    assert then(of_june, "deploy") == ([], [])


def test_what_was_said_then_is_looked_for_by_the_words_that_are_not_the_time_s(of_june, monkeypatch):
    asked, real = [], of_june.said_when.keyword_hits
    monkeypatch.setattr(
        of_june.said_when, "keyword_hits", lambda *args, **more: asked.append(args) or real(*args, **more)
    )
    now = 1_790_000_000.0
    Search(of_june, read_archive_query("which deploy failed in June", now), None).by_words()
    assert [words for words, _ in asked] == [("deploy", "failed")]


@pytest.mark.parametrize("query, share", [("deploy", 1), ("deploy yesterday", 2), ('what of "deploy"', 2)])
def test_half_of_what_may_be_listed_is_left_for_a_time_or_a_spelling(counted, monkeypatch, query, share):
    plans, real = [], counted.frequencies.plan
    monkeypatch.setattr(counted.frequencies, "plan", lambda *args: plans.append(args) or real(*args))
    Search(counted, read_archive_query(query, 1_790_000_000.0), None).by_words()
    assert plans[0][3] == LISTED // share


# -- as it is spelled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 700, 1_399])
@pytest.mark.parametrize("query", ["--force", 'did we say "--force" in the lunch break', "--force --no-verify"])
def test_a_name_is_found_among_the_newest_that_have_its_words(store, place, query):
    """However many say the words shorter and more often."""
    said = [f"force verify {n}" if n % 2 else f"tea at {n}" for n in range(1_400)]
    said[place] = "once upon a time somebody pushed with --force, and it took a whole day to mend what was lost by it"
    append(store, *said)
    assert search_archive(store, query, scopes=None, k=1).hits[0].message.text == said[place]
    assert search_archive(store, query, scopes=[API.key], k=1).hits[0].message.text == said[place]


def test_of_what_holds_a_name_alike_the_newest_comes_first(store):
    """None of these is among the best by its words, so nothing else tells them apart."""
    for session in ("c", "a", "b"):
        append(store, "once we had to push with --force, on a day when nothing else helped at all", session=session)
    append(store, *(f"force {n}" for n in range(500)), session="words")
    append(store, *(f"tea at {n}" for n in range(500)), session="tea")
    found = search_archive(store, "--force", scopes=None, k=3).hits
    assert [hit.message.session_id for hit in found] == ["b", "a", "c"]


def test_what_holds_a_name_is_looked_for_first_in_what_was_said_at_the_time(of_june, monkeypatch):
    monkeypatch.setattr("hippo_core.recall.as_spelled._ROWS", 10)
    monkeypatch.setattr("hippo_core.recall.as_spelled._TEXTS", 10)
    said = "that day somebody pushed with --force, and it took until the next to mend what was lost by it"
    (number,) = append(of_june, said, session="june", began=125.0)
    append(of_june, *(f"force {n}" for n in range(50)), session="new", began=2_000.0)
    search = Search(of_june, read_query('"--force"')._replace(when=When("in June", *JUNE)), None)
    search.by_words()
    assert set(search.as_spelled.sessions) == {number}


def test_of_several_names_what_holds_the_most_comes_first(store):
    append(store, *(f"retry_limit {n}" for n in range(600)), session="one")
    append(store, "retry_limit and max_burst, long before and after, with much beside it", session="both")
    append(store, *(f"max_burst {n}" for n in range(600)), session="other")
    found = search_archive(store, "retry_limit max_burst", scopes=None, k=2).hits
    assert found[0].message.session_id == "both"


def test_a_name_whose_words_are_all_common_is_shown_whatever_its_session_scores(store, monkeypatch):
    """It is lifted to what the best has to reach, and no rounding may take it below."""
    append(store, *(f"force {n}" for n in range(20)), "push with --force")
    monkeypatch.setattr("hippo_core.recall.archive.relevance", lambda *_: 0.0)
    for hundredths in range(100, 200):
        weights = WEIGHTS._replace(spelled_out=hundredths / 100)
        search = Search(store, read_query("--force"), None, weights=weights)
        search.by_words()
        assert len(search.choose(1)) == 1, hundredths


def test_others_that_hold_a_name_are_looked_for_where_few_sessions_of_the_best_do(store):
    append(store, "--force", session="best")
    append(store, "once we had to push with --force, on a day when nothing else had helped at all", session="other")
    append(store, *(f"force {n}" for n in range(600)), session="words")
    found = search_archive(store, "--force", scopes=None, k=2).hits
    assert [hit.message.session_id for hit in found] == ["best", "other"]


@pytest.mark.parametrize(
    "names", [["retry_limit"], ["retry_limit", "max_burst"], ["in_a_very_long_path_of_retry_limit"]]
)
def test_what_a_spelling_costs_is_bounded_however_many_hold_its_words(counted, monkeypatch, names):
    append(counted, *(f"in a long path of retry_limit and max_burst, {n}" for n in range(100)))
    with counted.transaction():
        counted.frequencies.count()
    monkeypatch.setattr("hippo_core.recall.as_spelled._ROWS", 24)
    monkeypatch.setattr("hippo_core.recall.as_spelled._TEXTS", 12)
    rows, texts = [], []
    with_words, read = counted.message_words.with_words, counted.message_words.spelled

    def listed(*args, **more):
        rows.extend(found := with_words(*args, **more))
        return found

    def compared(*args, **more):
        texts.extend(found := list(read(*args, **more)))
        return found

    monkeypatch.setattr(counted.message_words, "with_words", listed)
    monkeypatch.setattr(counted.message_words, "spelled", compared)
    best = [number for number, _ in counted.message_words.keyword_hits(names, scopes=None, limit=100)]
    as_spelled(counted, names, best, None, False)
    assert 0 < len(rows) <= 24 and len(texts) <= 2 * 12
    assert rows[-1] == counted.episodes.newest()


def test_what_the_guard_keeps_back_is_not_found_by_its_spelling_either(store):
    append(store, "send it with --force-token", withheld="looks like a secret")
    append(store, *(f"force token {n}" for n in range(500)))
    assert "--force-token" not in str(
        [h.message.text for h in search_archive(store, "--force-token", scopes=None).hits]
    )
    found = search_archive(store, "--force-token", scopes=None, withheld=True).hits
    assert found[0].message.text == "send it with --force-token"


def test_a_name_is_not_found_in_another_project_by_its_spelling(store):
    append(store, "push with --force", session="here", scope=WEB)
    append(store, "and with --force", session="elsewhere")
    assert [h.message.session_id for h in search_archive(store, "--force", scopes=[WEB.key]).hits] == ["here"]


def test_of_what_has_a_names_words_the_newest_are_read_and_no_more(store):
    numbers = append(store, *(f"--force {n}" for n in range(9)), "force")
    assert store.message_words.with_words("--force", scopes=None, since=numbers[4]) == numbers[5:]
    rows = store.message_words.spelled(["--force"], numbers, limit=3, withheld=False)
    assert [number for number, _, _ in rows] == numbers[8:5:-1]


def test_how_many_hold_what_was_asked_is_told_of_those_that_hold_all_of_it(store):
    append(store, "push with --force", "verify", session="one")
    search = Search(store, read_query("--force --no-verify"), None)
    search.by_words()
    assert search.as_spelled == ({1: "one"}, False)
    append(store, "--force and --no-verify", session="both")
    search.by_words()
    assert search.as_spelled == ({3: "both"}, True)


def test_what_only_seems_to_hold_a_name_does_not_hold_it(store):
    append(store, "push with --force-with-lease")
    search = Search(store, read_query("--force"), None)
    search.by_words()
    assert search.as_spelled == ({}, False)


@pytest.mark.parametrize(("texts", "sessions"), [(1, 20), (4, 1)])
def test_the_newest_are_gone_through_unless_enough_sessions_hold_all_of_it(store, monkeypatch, texts, sessions):
    monkeypatch.setattr("hippo_core.recall.as_spelled._TEXTS", texts)
    monkeypatch.setattr("hippo_core.recall.as_spelled._SESSIONS", sessions)
    query = "--force" if texts == 1 else "--force --no-verify"
    append(store, *["--force no, verify"] * 3, session="one")
    (last,) = append(store, "--force, once, " + "and so on " * 200 + "with --no-verify", session="two")
    search = Search(store, read_query(query), None)
    search.by_words()
    assert last in search.as_spelled.sessions and search.as_spelled.complete


def test_a_name_is_looked_for_no_farther_back_than_its_words_are_listed(counted, monkeypatch):
    monkeypatch.setattr("hippo_core.recall.as_spelled._ROWS", 15)
    asked, real = [], counted.message_words.with_words
    monkeypatch.setattr(
        counted.message_words, "with_words", lambda *args, **more: asked.append(more) or real(*args, **more)
    )
    Search(counted, read_query('"deploy"'), None).by_words()
    assert asked == [{"scopes": None, "since": 45}]


def test_where_a_name_s_words_are_said_more_of_late_no_more_of_them_are_gone_through(counted, monkeypatch):
    """How many there are is reckoned as if they were said evenly all the time."""
    monkeypatch.setattr("hippo_core.recall.as_spelled._ROWS", 15)
    latest = append(counted, *("now deploy" for _ in range(40)))
    compared, real = [], counted.message_words.spelled
    monkeypatch.setattr(
        counted.message_words,
        "spelled",
        lambda names, numbers, **more: compared.append(numbers) or real(names, numbers, **more),
    )
    Search(counted, read_query('"deploy"'), None).by_words()
    assert compared[1] == latest[-15:]
