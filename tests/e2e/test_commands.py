"""The slash commands: each reaches the model by its full and by its bare name, and is answered from the store."""

import re

import pytest

from e2e.stub_api import use
from e2e.test_tools import SERVER

pytestmark = pytest.mark.e2e

FACT = "Deployments go out on Tuesdays because the on-call rota starts then."
MAY_ADD = ("--allowedTools", SERVER + "memory_add")
GIT_RULE = "Rebase onto main before pushing."


def obey(client, api, prompt, tool, tool_input, *arguments):
    """Give a command; the model does what its body asks. Returns the body and the tool's answer."""
    api.on(lambda request: not request.tool_results, use(SERVER + tool, tool_input))
    run = client.ask(prompt, *arguments)
    assert run.event("result")["permission_denials"] == []
    return run.main[0].prompt, run.main[-1].tool_results[0]


@pytest.mark.parametrize("name", ["recall", "rules", "remember", "forget", "memories"])
def test_a_command_has_its_bare_name(client, name):
    (request,) = client.ask(f"/{name} something").requests
    assert f"<command-name>/hippo:{name}</command-name>" in request.prompt
    assert "something" in request.prompt


@pytest.mark.parametrize("command", ["/recall", "/hippo:recall"])
def test_recall_answers_from_the_store(client, api, product, command):
    product.hippo("remember", FACT, cwd=client.work)
    body, answer = obey(client, api, f"{command} when do we deploy", "memory_search", {"query": "when do we deploy"})
    assert "memory_search" in body and "when do we deploy" in body
    assert FACT in answer


@pytest.mark.parametrize("command", ["/rules", "/hippo:rules"])
def test_rules_of_a_domain_answer_from_the_store(client, api, product, command):
    product.hippo("rules", "add", GIT_RULE, "--domain", "git", cwd=client.work)
    body, answer = obey(client, api, f"{command} git", "rules", {"domain": "git"})
    assert "git" in body and GIT_RULE not in body
    assert GIT_RULE in answer


def test_remember_stores_the_users_words_as_the_users(client, api, product):
    words = "Releases are tagged from the main branch only."
    body, _ = obey(client, api, f"/remember {words}", "memory_add", {"text": words, "by_user": True}, *MAY_ADD)
    assert "memory_add" in body and words in body
    (memory,) = product.memories()
    assert memory.text == words and memory.frozen


def test_words_that_the_user_did_not_say_are_not_the_users(client, api, product):
    """The model may rewrite what it was asked to remember; then it is the model's memory."""
    other = {"text": "Everybody may release anything.", "by_user": True}
    _, answer = obey(client, api, "/remember Releases come from main.", "memory_add", other, *MAY_ADD)
    (memory,) = product.memories()
    assert not memory.frozen
    assert "not the user's own" in answer


def test_forget_has_the_command_show_what_would_go_before_it_asks(client, product):
    product.hippo("remember", FACT, cwd=client.work)
    run = client.ask("/forget the deployment")
    (arguments,) = re.findall(r"/hippo'? (forget [^`]*ID)`", run.main[0].text)
    shown = product.hippo(*arguments.replace("ID ID", "m1").split(), cwd=client.work)
    assert FACT in shown and "To be deleted" in shown
    assert [memory.text for memory in product.memories()] == [FACT]


@pytest.mark.parametrize("name", ["recall", "rules", "remember", "forget", "memories"])
def test_what_the_user_types_reaches_no_shell(client, name):
    trap = client.work / "trap"
    client.ask(f"/{name} $(touch {trap}) `touch {trap}` \" ; touch {trap} ; '")
    client.ask(f"/{name} x\n!`touch {trap}`")
    assert not trap.exists()
