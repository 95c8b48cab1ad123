"""The tool server in the client: there from the first request, readable without asking, writable only with leave."""

import json

import pytest
from voyage_service import serving

from e2e.stub_api import use

pytestmark = pytest.mark.e2e

SERVER = "mcp__plugin_hippo_memory__"
FACT = "The staging database runs on port 5544."


def call(client, api, tool, tool_input, *arguments):
    """Script the model to call one tool of ours; the client's run and the tool's answer as the model gets it."""
    api.on(lambda request: not request.tool_results, use(SERVER + tool, tool_input))
    run = client.ask("please", *arguments)
    (answer,) = run.main[-1].tool_results
    return run, answer


def test_every_tool_is_in_the_first_request_with_its_schema(client):
    (request,) = client.ask("hello").requests
    ours = {name.removeprefix(SERVER): tool for name, tool in request.tools.items() if name.startswith(SERVER)}
    assert {"memory_search", "archive_search", "memory_add", "rules"} <= set(ours)
    assert "query" in ours["memory_search"]["input_schema"]["properties"]
    assert all(tool["description"] for tool in ours.values())


def test_memory_search_is_answered_from_the_store_without_asking_permission(client, api, product):
    product.hippo("remember", FACT, cwd=client.work)
    run, answer = call(client, api, "memory_search", {"query": "which port has the staging database"})
    assert FACT in answer
    assert run.event("result")["permission_denials"] == []


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [("memory_search", {"query": "port"}), ("archive_search", {"query": "port"}), ("rules", {"domain": "git"})],
)
def test_read_only_tools_need_no_permission(client, api, tool, tool_input):
    run, answer = call(client, api, tool, tool_input)
    assert run.event("result")["permission_denials"] == []
    assert "permission" not in answer.lower()


def test_memory_add_without_permission_stores_nothing(client, api, product):
    product.hippo("remember", FACT, cwd=client.work)
    run, _ = call(client, api, "memory_add", {"text": "The office kettle is blue."})
    assert [denied["tool_name"] for denied in run.event("result")["permission_denials"]] == [SERVER + "memory_add"]
    assert [memory.text for memory in product.memories()] == [FACT]


def test_memory_add_with_permission_stores_what_the_machine_found_as_the_machines(client, api, product):
    call(client, api, "memory_add", {"text": "The office kettle is blue."}, "--allowedTools", SERVER + "memory_add")
    (memory,) = product.memories()
    assert memory.text == "The office kettle is blue." and not memory.frozen


CAUSES = ["Deploys fail when the disk of the host is full.", "Deploys fail when the vault token has expired."]


def test_asking_again_with_what_was_worked_out_ranks_again(client, api, product):
    for cause in CAUSES:
        product.hippo("remember", cause, cwd=client.work)
    question = {"query": "why do deploys fail", "so_far": "the log says that the vault token is too old"}
    _, answer = call(client, api, "memory_search", question)
    assert answer.index(CAUSES[1]) < answer.index(CAUSES[0])


def test_the_reranker_that_the_user_chose_is_asked_with_the_user_s_key(client, api, product):
    """The key is in the client's environment, from where the tool server has it."""
    for cause in CAUSES:
        product.hippo("remember", cause, cwd=client.work)
    with serving() as service:
        chosen = {"embedder": "off", "reranker": "voyage", "voyage_base_url": service.url}
        product.paths.config.write_text(json.dumps(chosen), encoding="utf-8")
        api.on(
            lambda request: not request.tool_results, use(SERVER + "memory_search", {"query": "why do deploys fail"})
        )
        run = client.ask("please", environment={"VOYAGE_API_KEY": "not-a-real-key"})
        (answer,) = run.main[-1].tool_results
        assert answer.index(CAUSES[1]) < answer.index(CAUSES[0])
        assert [headers["Authorization"] for headers in service.headers] == ["Bearer not-a-real-key"]
