"""How well the numbers of recall/weights.py rank, on made-up stores that each of them decides: a bad one is told."""

from collections import Counter

import pytest
from weighed_worlds import NOW, TIMES, Memories, Sessions

from hippo_core.recall import channels, pipeline
from hippo_core.recall.archive import Search, read_archive_query
from hippo_core.recall.channels import Where
from hippo_core.recall.query import read_query
from hippo_core.recall.weights import WEIGHTS
from hippo_core.store import Store


@pytest.fixture(scope="module")
def memories(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("memories") / "memory.db") as store:
        yield Memories(store)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("sessions") / "memory.db") as store:
        yield Sessions(store)


def ranked_wrong(world, weights):
    """The kinds of questions for which not every answer is first in the fusion of the channels."""
    right = Counter()
    for question in world.questions:
        asked, _ = channels.mended(world.store, read_query(question.text, NOW))
        found = channels.search(world.store, asked, Where(None, None), world.names)
        best_first = list(pipeline.judge(world.store, asked, found, weights).evidence)
        right[question.kind] += best_first[:1] == [question.answer]
    return {kind for kind, count in right.items() if count < TIMES}


def recalled_wrong(world, weights):
    """The same of what recall shows."""
    right = Counter()
    for question in world.questions:
        shown = pipeline.recall(
            world.store, question.text, embedder=world.names, scopes=None, now=NOW, weights=weights
        ).results
        right[question.kind] += [result.memory.id for result in shown[:1]] == [question.answer]
    return {kind for kind, count in right.items() if count < TIMES}


def searched_wrong(world, weights):
    """The same of what the archive's search shows."""
    right = Counter()
    for question in world.questions:
        search = Search(world.store, read_archive_query(question.text, NOW), None, weights=weights)
        search.by_words()
        search.by_meaning(world.names if question.by_meaning else None)
        messages = world.store.archive.fetch([number for number, _ in search.choose(1)])
        right[question.kind] += [message.session_id for message in messages.values()] == [question.answer]
    return {kind for kind, count in right.items() if count < TIMES}


def channel(**changed):
    return WEIGHTS._replace(channels={**WEIGHTS.channels, **changed})


def lists(**changed):
    return WEIGHTS._replace(lists={**WEIGHTS.lists, **changed})


def test_the_weights_in_force_put_every_answer_first(memories, sessions):
    assert recalled_wrong(memories, WEIGHTS) == set()
    assert ranked_wrong(memories, WEIGHTS) == {"in a quiet week"}, "which recall alone can tell"
    assert searched_wrong(sessions, WEIGHTS) == set()


@pytest.mark.parametrize(
    "weights, wrong",
    [
        (channel(exact=3.0), "named in passing"),
        (channel(exact=0.0), "spelled"),
        (channel(words=0.0), "words"),
        (channel(words=10.0), "meaning"),
        (channel(meaning=0.0), "meaning"),
        (channel(meaning=10.0), "words"),
        (channel(time=0.0), "of last week"),
        (channel(time=3.0), "of last week"),
        (WEIGHTS._replace(rank_constant=1), "of last week"),
        (WEIGHTS._replace(rank_constant=60), "named in passing"),
    ],
)
def test_a_channel_that_weighs_far_too_much_or_nothing_is_told(memories, weights, wrong):
    assert wrong in ranked_wrong(memories, weights)


@pytest.mark.parametrize(
    "weights, wrong",
    [
        (WEIGHTS._replace(others=1.0), "by the user"),
        (WEIGHTS._replace(user_column=1.0), "over many turns"),
        (lists(turn=0.0), "in one turn"),
        (lists(turn=4.5), "over many turns"),
        (lists(episode=0.0), "over many turns"),
        (lists(episode=4.0), "in one turn"),
        (lists(meaning=0.0), "meant by the user"),
        (lists(meaning=5.0), "meant in a reply"),
        (lists(reply=0.0), "meant in a reply"),
        (lists(reply=2.0), "by the user"),
    ],
)
def test_a_list_of_the_archive_that_weighs_far_too_much_or_nothing_is_told(sessions, weights, wrong):
    assert wrong in searched_wrong(sessions, weights)
