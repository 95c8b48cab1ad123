"""What the store answers about archived messages: by session, by word, and who of a session speaks for it."""

import pytest

from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope
from hippo_core.store.archive import Entry
from hippo_core.store.episodes import SIZE

API = project_scope("example.org/a/api", "api")


@pytest.fixture
def say(store):
    def add(*texts, session="s1", role=Role.USER, agent=None, withheld=None, scope=API, folders=("/srv",)):
        first = store.episodes.newest() + 1
        with store.transaction():
            source = store.progress.begin_source(f"/{session}.jsonl")
            store.archive.append_all([
                Entry(Message(f"u{n}", session, role, text, float(n), folders[(n - first) % len(folders)], n,
                              agent_id=agent), scope, source.id, withheld)
                for n, text in enumerate(texts, first)
            ])  # fmt: skip
        return list(range(first, first + len(texts)))

    return add


def best(store, *words, sessions=("s1",), scopes=None, withheld=False, known=None):
    counts = known or {}
    return store.message_words.best_of_sessions(words, sessions, scopes=scopes, withheld=withheld, known=counts.get)


def test_a_session_is_of_the_folder_and_the_time_it_began_in(store, say):
    say("one", "two", folders=("/srv/shop", "/tmp"))
    say("three", folders=("/elsewhere",))
    assert store.archive.session_place("s1") == (API, "/srv/shop") and store.archive.session_head("s1")[1] == 1.0
    say("four", session="s2", scope=GLOBAL_SCOPE)
    assert store.archive.session_place("s2") == (GLOBAL_SCOPE, "/srv")
    say("five", session="s3")
    assert store.archive.session_counts() == {API.key: 2, GLOBAL_SCOPE.key: 1}


def test_a_session_is_called_by_what_its_user_first_said_and_may_be_shown(store, say):
    say("a sub-agent's user", agent="a1")
    say("what an agent said", role=Role.ASSISTANT)
    say("what is withheld", withheld="private")
    say("how does the shop\nsell?", "and how does it buy?")
    assert store.archive.session_head("s1")[0] == "how does the shop sell?"
    say("sell " * 20, session="s4")
    assert store.archive.session_head("s4")[0] == "sell " * 10 + "sell…"
    say("a" * 59, session="s2"), say("b" * 61, session="s3")
    assert store.archive.session_head("s2")[0] == "a" * 59 and store.archive.session_head("s3")[0] == "b" * 59 + "…"


def test_words_are_found_after_a_message(store, say):
    first, second, _ = say("The PROXY drops it", "the proxy again", "nothing of it")
    found = [number for number, _ in store.message_words.keyword_hits(["proxy"], scopes=None, limit=9, since=first)]
    assert found == [second]
    assert not store.message_words.keyword_hits(["proxy"], scopes=None, limit=9, since=second)


def test_who_holds_the_rarest_words_speaks_for_a_session_and_of_equals_the_shortest(store, say):
    rare, _, _ = say("the heron stands", "the proxy of the shop", "hm")
    assert best(store, "heron", "proxy", "shop", known={"heron": 1, "proxy": 900, "shop": 900}) == {"s1": rare}
    (both,) = say("the proxy of the shop, once more and at length")
    (short,) = say("shop, proxy")
    assert both < short and best(store, "proxy", "shop") == {"s1": short}
    assert best(store, "albatross") == {} and best(store, "heron", sessions=("s1", "s2")) == {"s1": rare}


def test_what_was_said_in_another_project_speaks_for_no_session(store, say):
    """A session goes on in another folder, and is of two projects."""
    (here,) = say("a heron was seen by the river in the evening")
    (elsewhere,) = say("the heron", scope=GLOBAL_SCOPE)
    assert best(store, "heron") == {"s1": elsewhere}
    assert best(store, "heron", scopes=[API.key]) == {"s1": here} and best(store, "heron", scopes=["nowhere"]) == {}


def test_what_is_withheld_speaks_for_no_session_unless_it_is_asked_for(store, say):
    (hidden,) = say("the heron", withheld="private")
    (shown,) = say("a heron was seen by the river in the evening")
    say("heron, heron", session="s2", withheld="private")
    assert best(store, "heron", sessions=("s1", "s2")) == {"s1": shown}
    assert best(store, "heron", withheld=True) == {"s1": hidden}
    assert store.archive.places([hidden, shown], withheld=False) == {shown: ("s1", Role.USER)}


@pytest.mark.parametrize("length", [0, 5_000])
def test_which_of_some_messages_hold_a_word_is_told_alike_of_rare_common_and_long_ones(store, say, length):
    filler = "filler " * (length // 7)
    numbers = say(
        f"{filler} Herons nest", f"{filler} 我们部署到 done", f"{filler} a heron", f"{filler} nothing", "a heron"
    )
    for known in ({}.get, {"heron": 3, "部署": 1}.get):
        (herons, who), (_, deployed) = store.message_words.word_matches(
            ["heron", "部署"], among=numbers[:4], known=known
        )
        assert (herons, who, deployed) == (3, {numbers[0], numbers[2]}, {numbers[1]})


def test_the_append_only_rule_is_lifted_with_a_record_of_how_much_went(store, say):
    (number, *_) = say("one", "two")
    with store.transaction(), store.archive.door("forget", 1, 2):
        assert store.archive.erase([number], ()) == 1
    record = store._db.execute("SELECT * FROM archive_door_record").fetchall()
    assert [row[1:] for row in record] == [("forget", 1, 2)]
    with pytest.raises(Exception, match="append-only"):
        store._db.execute("DELETE FROM message")


def test_turns_beside_messages_are_of_their_session_and_their_speakers_file(store, say):
    one, two = say("one", "two")
    say("aside", agent="a1"), say("elsewhere", session="s2")
    three, four = say("three", "four")
    beside = store.archive.beside([two, four], 1)
    assert {n: [[turn.id for turn in side] for side in sides] for n, sides in beside.items()} == {
        two: [[one], [three]], four: [[three], []],
    }  # fmt: skip


# -- episodes ----------------------------------------------------------------------------------------------------------


def episodes(store, since=0, share=None):
    more = {"scopes": None, "limit": 99, "user_weight": 5.0, "since": since, "share": share}
    return store.episodes.keyword_hits(["heron"], **more)


def test_episodes_are_made_in_the_order_of_their_messages_however_these_come(store):
    with store.transaction():
        source = store.progress.begin_source("/both.jsonl")
        store.archive.append_all([
            Entry(Message(f"u{n}", f"s{n % 2}", Role.USER, "heron", 1.0, "/srv", n), API, source.id, None)
            for n in range(4 * SIZE)
        ])  # fmt: skip
    first = [number for (number,) in store._db.execute("SELECT first_id FROM episode ORDER BY id")]
    assert first == sorted(first) and len(first) == 4


@pytest.mark.parametrize("share", [None, 0.9])
def test_episodes_that_end_before_a_message_are_left_out_and_a_user_weighs_more(store, say, share):
    last = say(*["heron"] * SIZE)[-1]
    say("heron", *["crane"] * (SIZE - 1), session="s2")
    say("heron", *["crane"] * (SIZE - 1), session="s3", role=Role.ASSISTANT)
    assert {session for session, _ in episodes(store, last - 1, share)} == {"s1", "s2", "s3"}
    found = dict(episodes(store, last, share))
    assert found.keys() == {"s2", "s3"} and found["s2"] > 1.5 * found["s3"]


@pytest.mark.parametrize("aside", [{"agent": "a1"}, {"scope": GLOBAL_SCOPE}])
def test_an_episode_goes_with_its_messages_though_others_lie_between_them(store, say, aside):
    (first,), (between,), (last,) = say("one"), say("two", **aside), say("three")
    with store.transaction(), store.archive.door("forget", 2, 0):
        store.archive.erase([first, last])
        store.episodes.drop_empty()
    assert store._db.execute("SELECT first_id, last_id FROM episode").fetchall() == [(between, between)]
