"""Memories that nobody asked for, in the real client: what reaches the model with a prompt, and what a sub-agent's."""

import json
import re

import pytest

from e2e.stub_api import use
from e2e.test_packaging import hook_responses
from hippo_core.model.memory import Draft
from hippo_core.model.scope import scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.proactive.notes import TURN_TOKENS
from hippo_core.render import budget
from hippo_core.store import Store

pytestmark = pytest.mark.e2e

FACT = "The staging database listens on port 5544."
PROMPT = "Which port has the staging database?"
ASKED = [PROMPT + "?" * times for times in range(6)]  # a turn on a busy machine may go without
BLOCK = re.compile(r"<hippo-memory>.*?</hippo-memory>", re.DOTALL)


@pytest.fixture
def knowing(product, client):
    """A user with a memory of this project that is in no block of the session's start; only keywords, no model."""
    product.paths.config.write_text('{"embedder": "off"}', encoding="utf-8")
    scope = scope_of(str(client.work))
    with Store.open(product.paths.store) as store, store.transaction():
        store.memories.ensure_scope(scope)
        store.memories.add(Draft(FACT, MemoryType.FACT, scope.key, Author.MACHINE, sources=("u1",)), "test")
    return client


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5"])
def test_what_bears_on_a_prompt_is_added_to_it_once_and_stays(knowing, model):
    run = knowing.converse(["hello there", *ASKED], "--model", model)
    added = [request.text.count(FACT) for request in run.requests]
    assert added[0] == 0 and added[-1] == 1 and added == sorted(added)
    (block,) = [block for block in BLOCK.findall(run.requests[-1].text) if FACT in block]
    assert "not instructions" in block and budget.tokens(block) <= TURN_TOKENS
    assert all(event["exit_code"] == 0 and not event["stderr"] for event in hook_responses(run))


def test_the_hooks_tools_are_not_among_the_model_s(knowing):
    requests = knowing.converse(ASKED).requests
    assert FACT in requests[-1].text, "they were called"
    for request in requests:
        assert not any("hook" in name for name in request.tools) and "hook_prompt" not in json.dumps(request.body)


def test_switched_off_nothing_is_added(knowing, product):
    product.hippo("proactive", "off", cwd=knowing.work)
    (request,) = knowing.ask(PROMPT).requests
    assert FACT not in request.text
    assert "UserPromptSubmit completed" not in request.text, "what the client says of a hook that answers nothing"


def test_after_a_forget_it_is_not_added_any_more(knowing, product):
    product.hippo("forget", product.memories()[0].public_id, "--yes", cwd=knowing.work)
    (request,) = knowing.ask(PROMPT).requests
    assert FACT not in request.text


def test_the_nudge_and_the_turn_come_through_without_the_tool_server(knowing, product):
    """Also for a sub-agent: it starts with what was rendered."""
    product.hippo("nudge", "set", "Nudge of this test.", cwd=knowing.work)
    servers = product.plugin / ".mcp.json"
    manifest = json.loads(servers.read_text(encoding="utf-8"))
    manifest["mcpServers"]["memory"]["args"] = ["-c", "raise SystemExit(1)"]
    servers.write_text(json.dumps(manifest), encoding="utf-8")
    knowing.api.on(lambda request: request.agent_id is None and not request.tool_results, use("Agent", TASK))
    run = knowing.ask(PROMPT)
    assert run.returncode == 0 and run.answer == "Done"
    assert "Nudge of this test." in run.main[0].text and "not connected" not in run.main[0].text
    first = next(request for request in run.requests if request.agent_id)
    assert TASK["prompt"] in first.text and FACT not in first.prompt
    assert any(FACT in block for block in re.findall(r"<hippo-memory.*?</hippo-memory>", first.text, re.DOTALL))


TASK = {"description": "look", "prompt": PROMPT + " Answer with the number.", "subagent_type": "general-purpose"}


def test_a_sub_agent_s_own_prompt_is_extended_and_its_parent_s_requests_are_not(knowing, api, product):
    api.on(lambda request: request.agent_id is None and not request.tool_results, use("Agent", TASK))
    run = knowing.ask("have somebody look", session=(session := knowing.new_session()))
    first = next(request for request in run.requests if request.agent_id)
    (block,) = [block for block in BLOCK.findall(first.prompt) if FACT in block]
    assert first.prompt.index(TASK["prompt"]) < first.prompt.index(block), "the task, then the notes"
    assert "not instructions" in block and budget.tokens(block) <= budget.AGENT_TOKENS
    assert len(run.main) > 1 and not any(FACT in request.text for request in run.main)
    kept = product.wait_for(lambda: product.archived(session))
    assert not any(FACT in text for text in kept), "memory does not feed on itself"


def test_where_nothing_bears_on_a_task_the_model_hears_nothing_of_the_hook(knowing, api):
    """To some answers the client adds a line about the hook itself, which costs tokens and says nothing."""
    task = {**TASK, "prompt": "Count the zebras in the wombat enclosure."}
    api.on(lambda request: request.agent_id is None and not request.tool_results, use("Agent", task))
    run = knowing.ask("have somebody look")
    assert any(event.get("hook_name") == "PreToolUse:Agent" for event in hook_responses(run))
    assert any(request.agent_id for request in run.requests)
    for request in run.requests:
        assert "PreToolUse" not in request.text and "hook success" not in request.text
