"""The instruments themselves: the stub speaks the API that the real client expects, and the runner keeps it at home."""

import json
import shutil
import urllib.error
import urllib.request

import pytest

from e2e.client_binary import ClientUnavailableError, client_binary
from e2e.stub_api import fail, say, use

pytestmark = pytest.mark.e2e


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def question(text, **more):
    return {"model": "some-model", "messages": [{"role": "user", "content": text}], **more}


def test_plain_reply(api):
    api.on(lambda request: request.prompt == "2 + 2?", say("4"))
    message = json.loads(post(f"{api.url}/v1/messages", question("2 + 2?")))
    assert message["content"] == [{"type": "text", "text": "4"}]
    assert (message["model"], message["stop_reason"]) == ("some-model", "end_turn")


def test_streamed_reply_carries_a_tool_call_in_pieces(api):
    api.on(lambda request: True, use("Look", {"at": "größe"}))
    lines = post(f"{api.url}/v1/messages?beta=true", question("look", stream=True)).splitlines()
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert names == [event["type"] for event in events]
    assert (names[0], names[-1]) == ("message_start", "message_stop")
    delta = next(event["delta"] for event in events if event["type"] == "content_block_delta")
    assert json.loads(delta["partial_json"]) == {"at": "größe"}
    assert next(event["delta"]["stop_reason"] for event in events if event["type"] == "message_delta") == "tool_use"


def test_a_rule_is_used_as_often_as_it_says(api):
    api.on(lambda request: True, say("first"))
    answers = [json.loads(post(f"{api.url}/v1/messages", question("x")))["content"][0]["text"] for _ in range(2)]
    assert answers == ["first", "Done"]


def test_error_reply_and_unknown_path(api):
    api.on(lambda request: True, fail(529, "overloaded_error"))
    for path, status in (("/v1/messages", 529), ("/v1/unknown", 404)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(api.url + path, question("x"))
        assert refused.value.code == status


def test_tokens_are_counted_and_not_taken_for_a_message(api):
    counted = json.loads(post(f"{api.url}/v1/messages/count_tokens", question("x" * 400)))
    assert counted["input_tokens"] >= 100
    assert api.requests == []


def test_every_text_of_a_request_is_found_whatever_its_role_and_shape(api):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "in a result"}]}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "in a block"}]},
        {"role": "system", "content": "in a replayed system message"},
        {"role": "user", "content": [result]},
    ]
    post(
        f"{api.url}/v1/messages",
        {"model": "m", "system": [{"type": "text", "text": "in the system"}], "messages": messages},
    )
    (request,) = api.requests
    for text in ("in a block", "in a replayed system message", "in a result", "in the system"):
        assert text in request.text
    assert (request.prompt, request.tool_results) == ("in a block", ["in a result"])


def test_the_client_talks_to_the_stub_and_writes_its_transcript_at_home(bare_client, api):
    api.on(lambda request: "hello stub" in request.prompt, say("Hello, client."))
    session = bare_client.new_session()
    run = bare_client.ask("hello stub", session=session)
    assert (run.returncode, run.answer) == (0, "Hello, client.")
    assert [request.agent_id for request in run.requests] == [None]
    assert "hello stub" in bare_client.transcript(session).read_text(encoding="utf-8")


def test_the_client_runs_a_scripted_tool_and_answers_with_its_result(bare_client, api):
    (bare_client.work / "note.txt").write_text("the kettle is blue", encoding="utf-8")
    api.on(lambda request: not request.tool_results, use("Read", {"file_path": str(bare_client.work / "note.txt")}))
    run = bare_client.ask("what colour is the kettle?")
    assert len(run.main) == 2
    assert "the kettle is blue" in run.main[1].tool_results[0]


def test_two_prompts_on_standard_input_are_two_turns(bare_client):
    run = bare_client.converse(["first thing", "second thing"])
    assert [("first" in r.prompt, "second" in r.prompt) for r in run.main] == [(True, False), (False, True)]


def test_without_npm_the_client_is_said_to_be_unavailable(tmp_path, monkeypatch):
    monkeypatch.delenv("HIPPO_CLIENT", raising=False)
    monkeypatch.setenv("HIPPO_CLIENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClientUnavailableError, match="npm is not on PATH"):
        client_binary()


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on PATH")
def test_without_a_network_the_client_is_said_to_be_unavailable_and_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.delenv("HIPPO_CLIENT", raising=False)
    monkeypatch.setenv("HIPPO_CLIENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retry_mintimeout", "10")
    with pytest.raises(ClientUnavailableError, match="npm could not fetch the client"):
        client_binary()
    assert not [entry.name for entry in (tmp_path / "cache").iterdir() if entry.is_dir()]
