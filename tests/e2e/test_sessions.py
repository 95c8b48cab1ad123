"""What a session leaves behind: the next one finds it; a pause archives and no more; our own children leave nothing."""

import dataclasses

import pytest

from e2e.stub_api import say, use
from e2e.test_tools import SERVER

pytestmark = pytest.mark.e2e

TOLD = (
    "We decided to keep sessions in PostgreSQL instead of Redis because the Redis outage in March lost every login. "
    "Always run the migration script before the integration tests."
)
ANSWER = "Understood. The integration tests failed because the migration had not been run; running it first fixed them."


@pytest.fixture
def talkative(client, api):
    api.on(lambda request: "PostgreSQL" in request.prompt, say(ANSWER), times=5)
    return client


def test_a_session_just_held_is_found_in_the_next(talkative, api, product):
    talkative.ask(TOLD)
    product.wait_for(lambda: "PostgreSQL" in product.briefings())
    api.on(
        lambda request: "why" in request.prompt and not request.tool_results,
        use(SERVER + "memory_search", {"query": "why did we choose PostgreSQL over Redis"}),
    )
    run = talkative.ask("why did we leave Redis?")
    (answer,) = run.main[-1].tool_results
    assert "March" in answer
    assert "PostgreSQL" in run.main[0].text, "the next session starts without knowing what memory exists"


@pytest.mark.parametrize("question", ["what were the exact words?", "/recall Redis outage"])
def test_words_of_a_session_just_held_are_in_the_archive_of_the_next(talkative, api, product, question):
    session = talkative.new_session()
    talkative.ask(TOLD, session=session)
    product.wait_for(lambda: {TOLD, ANSWER} <= set(product.archived(session)))
    api.on(
        lambda request: question.split()[-1] in request.prompt and not request.tool_results,
        use(SERVER + "archive_search", {"query": "lost every login"}),
    )
    (answer,) = talkative.ask(question).main[-1].tool_results
    hit, after = answer.splitlines()[3:5]
    assert hit.startswith("- ") and "lost every login" in hit, answer
    assert after.startswith("  after, ") and ANSWER in after, answer


def test_a_pause_archives_and_learns_nothing_yet(talkative, product):
    """A client that is killed after its answer runs Stop, never SessionEnd."""
    session = talkative.new_session()
    with talkative.open_conversation(session) as conversation:
        conversation.send(TOLD)
        product.wait_for(lambda: TOLD in product.archived(session))
        conversation.kill()
    assert product.memories() == []


def test_a_session_that_was_terminated_is_learned_from(talkative, product):
    session = talkative.new_session()
    with talkative.open_conversation(session) as conversation:
        conversation.send(TOLD)
        product.wait_for(lambda: ANSWER in product.archived(session))
        conversation.terminate()
        learned = product.wait_for(product.memories)
    assert any("March" in memory.text for memory in learned)


def test_memory_does_not_feed_on_itself(talkative, api, product):
    """What hooks added and what our tools answered is in the client's transcript, and must not be archived."""
    product.hippo("rules", "add", "The canary is called Bernadette.", "--always", cwd=talkative.work)
    product.hippo("remember", "The canary lives in Rouen.", cwd=talkative.work)
    session = talkative.new_session()
    api.on(lambda request: not request.tool_results, use(SERVER + "memory_search", {"query": "where is the canary"}))
    run = talkative.ask("where does the bird live?", session=session)
    assert "Rouen" in run.main[-1].tool_results[0] and "Bernadette" in run.main[0].text
    kept = product.wait_for(lambda: product.archived(session))
    assert "where does the bird live?" in kept
    assert not any(word in text for text in kept for word in ("Bernadette", "Rouen"))


def test_a_child_of_ours_gets_no_context_and_leaves_no_memory(talkative, product):
    """HIPPO_CHILD=1 marks a client that we started ourselves; else distilling a session would make sessions."""
    product.hippo("rules", "add", "The canary is called Bernadette.", "--always", cwd=talkative.work)
    child, ordinary = talkative.new_session(), talkative.new_session()
    started_by_us = dataclasses.replace(talkative, root=talkative.root / "child")
    run = started_by_us.ask(TOLD, session=child, environment={"HIPPO_CHILD": "1"})
    assert "Bernadette" not in run.main[0].text
    talkative.ask(TOLD, session=ordinary)
    product.wait_for(lambda: product.archived(ordinary))
    assert product.archived(child) == []
