"""What the model is told without asking: rules, what memory exists, the nudge, a sub-agent's briefing."""

import json
import re
from pathlib import Path

import pytest

from e2e.stub_api import use
from e2e.test_packaging import hook_responses
from hippo_core.curate.rules import add_rule
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL_SCOPE, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.render import health
from hippo_core.render.refresh import refresh
from hippo_core.store import Store

pytestmark = pytest.mark.e2e

RULE = "Never commit a secret to the repository."
NUDGE = "Nudge of this test: answer first."
DECISION = "The shop takes payments through the ledger service because refunds must be exact."


@pytest.fixture
def briefed(product, client):
    """A user with one standing rule, one memory of this project and a nudge of their own."""
    product.hippo("rules", "add", RULE, "--always", cwd=client.work)
    product.hippo("remember", DECISION, cwd=client.work)
    product.hippo("nudge", "set", NUDGE, cwd=client.work)
    return client


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5"])
def test_rules_memory_and_nudge_are_in_the_first_request(briefed, model):
    """One model for each of the two places where the client puts what a hook adds."""
    (request,) = briefed.ask("hello", "--model", model).requests
    assert request.body["model"].startswith(model)
    for text in (RULE, DECISION, NUDGE):
        assert request.text.count(text) == 1, text
    assert RULE not in request.prompt.rpartition("hello")[2], "the rule follows the prompt inside the user's message"


def test_when_memory_is_not_well_the_user_and_the_model_are_told_in_one_line(briefed, product):
    health.render(product.paths, ["the watch job last ran 3 days ago, due every hour"])
    run = briefed.ask("hello")
    line = "Memory health: the watch job last ran 3 days ago, due every hour. Tell the user: hippo doctor."
    assert run.main[0].text.count(line) == 1 and DECISION in run.main[0].text
    outputs = [json.loads(event["output"]) for event in hook_responses(run) if event["output"].strip()]
    shown = [output["systemMessage"] for output in outputs if "systemMessage" in output]
    assert shown == [f"\N{LARGE RED CIRCLE} {line}"]


def test_rules_return_after_a_compaction(briefed):
    run = briefed.converse(["hello", "go on", "/compact", "hello again"])
    assert run.event("system", "compact_boundary")
    after = run.requests[-1]
    assert "hello again" in after.prompt
    assert RULE in after.text and DECISION in after.text
    assert "SessionStart:compact" in {event.get("hook_name") for event in run.events}


def test_rules_return_when_the_conversation_is_cleared(briefed):
    run = briefed.converse(["hello", "/clear", "hello again"])
    assert "hello again" in run.requests[-1].prompt
    assert run.requests[-1].text.count(RULE) == 1
    assert "SessionStart:clear" in {event.get("hook_name") for event in run.events}


@pytest.mark.parametrize("how", [[], ["--fork-session"]], ids=["resumed", "forked"])
def test_a_session_taken_up_again_has_the_rules_of_today(briefed, product, how):
    """(What did not change the client does not repeat.)"""
    session = briefed.new_session()
    briefed.ask("hello", session=session)
    product.hippo("rules", "add", "Run the linter before each commit.", "--always", cwd=briefed.work)
    (request,) = briefed.ask("hello again", *how, resume=session).requests
    assert "Run the linter before each commit." in request.text


def test_however_much_there_is_all_of_the_context_reaches_the_model(client, product):
    """Past 10,000 characters the client puts a hook's context in a file, and the model sees the path of it."""
    here = scope_of(str(client.work))
    with Store.open(product.paths.store) as store:
        for number in range(120):
            rule = f"Rule {number}: " + "weigh every word of what you write for the customers " * 3
            add_rule(store, product.paths, rule, scope=GLOBAL_SCOPE, domain=None)
        with store.transaction():
            store.memories.ensure_scope(here)
            for number in range(300):
                text = f"Decision {number} about topic{number % 40}: " + "it was weighed at length " * 12
                store.memories.add(Draft(text, MemoryType.DECISION, here.key, Author.MACHINE), "test")
        refresh(store, product.paths)
    (request,) = client.ask("hello").requests
    assert "<persisted-output>" not in request.text
    assert request.text.count("<hippo-rules>") == request.text.count("</hippo-rules>") == 1
    assert request.text.count("<hippo-memory") == request.text.count("</hippo-memory>") == 1
    left_out = re.search(r"\(120; (\d+) did not fit", request.text)
    assert left_out and len(re.findall(r"Rule \d+:", request.text)) == 120 - int(left_out[1]) > 0


def test_each_turn_is_nudged_once(briefed):
    run = briefed.converse(["first", "second", "third"])
    assert [request.text.count(NUDGE) for request in run.requests] == [1, 2, 3]


def test_nudge_switched_off_is_gone(briefed, product):
    product.hippo("nudge", "off", cwd=briefed.work)
    (request,) = briefed.ask("hello").requests
    assert NUDGE not in request.text and RULE in request.text


def test_a_prompt_that_names_a_domain_is_told_of_its_rules_once(client, product):
    product.hippo("rules", "add", "Rebase onto main before pushing.", "--domain", "git", cwd=client.work)
    run = client.converse(["tidy the kitchen", "push it with git", "now git again"])
    told = [request.text.count('rules for "git"') + request.text.count("Rules for git") for request in run.requests]
    assert told[0] == 0 and told[1:] == [1, 1]
    assert "Rebase onto main" not in run.requests[-1].text


def delegate(api, agent, **more):
    """Script the model to start one sub-agent."""
    task = {"description": "look", "prompt": "Look at the payments.", "subagent_type": agent, **more}
    api.on(lambda request: request.agent_id is None and not request.tool_results, use("Agent", task))


def test_a_sub_agent_is_told_of_memory_in_its_first_request(briefed, api):
    delegate(api, "general-purpose")
    run = briefed.ask("have somebody look")
    first = next(request for request in run.requests if request.agent_id)
    assert DECISION in first.text
    assert "memory_search" in first.text


def test_a_sub_agent_without_tool_servers_is_told_the_command(briefed, api, product):
    delegate(api, "reader")
    reader = {"reader": {"description": "Reads.", "prompt": "You read.", "tools": ["Bash", "Read"]}}
    run = briefed.ask("have somebody read", "--agents", json.dumps(reader))
    first = next(request for request in run.requests if request.agent_id)
    assert not any(name.startswith("mcp__") for name in first.tools)
    assert DECISION in first.text
    program = re.search(r"'?(/[^'\n]*/hippo)'? recall", first.text)
    assert program and Path(program[1]).samefile(product.scripts / "hippo")


def test_the_end_of_a_background_agent_is_not_nudged(briefed, api):
    """The client submits `<task-notification>` as a prompt of its own making."""
    delegate(api, "general-purpose", run_in_background=True)
    run = briefed.ask("have somebody look")
    notified = [request for request in run.main if "<task-notification>" in request.text]
    assert notified and notified[-1].text.count(NUDGE) == 1


def test_whatever_the_user_types_is_a_turn(briefed):
    typed = [
        "don't",
        "a/b c++ 1.0.21 AND * \" '' \\",
        "\N{BRAIN} 部署 \x07\t end",
        "x " * 50_000,
        "<task-notification>",
    ]
    run = briefed.converse(typed)
    assert run.returncode == 0
    assert [event["subtype"] for event in run.events if event["type"] == "result"] == ["success"] * len(typed)
    assert [request.text.count(NUDGE) for request in run.requests] == [1, 2, 3, 4, 4]
    assert all(event["exit_code"] == 0 and not event["stderr"] for event in hook_responses(run))
