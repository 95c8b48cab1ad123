"""Candidates ranked again: by what was worked out so far, and by a reranker, which only the settings can switch on."""

import json
import threading
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from server_process import Client, end, keywords_only, learn
from voyage_service import serving

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.config import Config
from hippo_core.errors import RerankerUnavailableError, UsageError
from hippo_core.ops.status import look
from hippo_core.recall.pipeline import recall
from hippo_core.recall.present import recall_for_model, recall_json, recall_text
from hippo_core.recall.rerank import bearing, reordered
from hippo_core.recall.rerankers import Reranking, open_reranker
from hippo_core.usage import used

KEY = "not-a-real-key"
FIRST = "Deploys fail when the disk is full; the disk of the build host fills up with old images."
SECOND = "Deploys fail when the token has expired; renew the token with the vault command."
THIRD = "Deploys fail on Fridays because the gate is closed."
QUESTION = "why do deploys fail"


@pytest.fixture
def known(store, paths):
    """Three memories that answer alike, by keywords alone."""
    keywords_only(paths)
    return [learn(store, text) for text in (FIRST, SECOND, THIRD)]


def ask(store, question=QUESTION, **how):
    return recall(store, question, embedder=None, scopes=None, **how)


def texts(found):
    return [result.memory.text for result in found.results]


# -- what was worked out so far ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, words", [(SECOND, "the vault says the token is too old"), (FIRST, "df: disk is full")])
def test_what_bears_on_what_was_worked_out_comes_first(store, known, text, words):
    found = ask(store, so_far=words)
    assert texts(found)[0] == text and len(texts(found)) == 3
    assert all("so far" in result.stages for result in found.results)
    assert found.results[0].stages["so far"] == max(result.stages["so far"] for result in found.results)


def test_what_was_worked_out_counts_beside_the_question_and_not_instead_of_it():
    fits = bearing({1: 0.8, 2: 0.1}, {1: 0.5, 2: 0.6}, {}, None)
    assert fits[1] > fits[2], "the second fits what was worked out a little better, the question much less"


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
def test_nothing_worked_out_changes_nothing(store, known, nothing):
    plain, again = ask(store), ask(store, so_far=nothing)
    assert texts(plain) == texts(again) and "so far" not in again.results[0].stages


def test_what_was_worked_out_finds_nothing_that_the_question_does_not(store, known):
    learn(store, "The kettle in the office is blue.")
    assert not any("kettle" in text for text in texts(ask(store, so_far="the kettle in the office is blue")))
    assert ask(store, "quokka", so_far=QUESTION).results == []


@pytest.mark.parametrize("so_far", ["don't", "AND *", '"', "\0", "🎉", "ok", "部署", "x " * 50_000])
def test_no_so_far_breaks_it(store, known, so_far):
    assert len(ask(store, so_far=so_far).results) == 3


def test_by_meaning_as_well_where_there_are_vectors(store, paths):
    numpy = pytest.importorskip("numpy")

    class Directions:
        """Texts about tea point one way, all others another."""

        fingerprint, dimension = "directions", 4

        def pieces(self, text):
            return [text]

        def embed(self, texts):
            tea = [any(word in text for word in ("Darjeeling", "beverage")) for text in texts]
            rows = [[0.8, 0.6, 0, 0] if yes else [0.8, 0, 0.6, 0] for yes in tea]
            return numpy.array(rows, dtype="f4")

    from hippo_core.ingest.embed import embed_pending

    learn(store, "The boss likes her coffee black."), learn(store, "The boss likes her Darjeeling hot.")
    embed_pending(store, Directions())
    found = recall(store, "what does the boss like", embedder=Directions(), scopes=None, so_far="some beverage")
    assert "Darjeeling" in texts(found)[0]


def test_by_meaning_one_may_rise_that_the_question_alone_would_not_show(store, paths):
    numpy = pytest.importorskip("numpy")
    asked, worked_out = "does the boss like the blue kettle on her desk at noon", "catering"
    shown, risen = "The boss likes the blue kettle on her desk.", "Lunch for everybody is at noon."
    rows = {asked: [1, 0, 0, 0], shown: [0.8, 0.6, 0, 0], risen: [0, 0, 1, 0], worked_out: [0, 0, 1, 0]}

    class Table:
        fingerprint, dimension = "table", 4

        def pieces(self, text):
            return [text]

        def embed(self, texts):
            return numpy.array([rows[text] for text in texts], dtype="f4")

    from hippo_core.ingest.embed import embed_pending

    learn(store, shown), learn(store, risen)
    embed_pending(store, Table())
    assert texts(recall(store, asked, embedder=Table(), scopes=None)) == [shown]
    assert texts(recall(store, asked, embedder=Table(), scopes=None, so_far=worked_out))[0] == risen


@pytest.mark.parametrize("worked_out, first", [("the token is too old", SECOND), ("df: the disk is full", FIRST)])
def test_the_command_takes_it_and_explains_the_stage(known, worked_out, first):
    run = CliRunner().invoke(hippo, ["recall", *QUESTION.split(), "--so-far", worked_out, "--explain"])
    assert run.exit_code == 0 and "so far 0." in run.output
    assert min((FIRST, SECOND, THIRD), key=run.output.index) == first


def test_the_tool_takes_it(store, paths, known, tmp_path):
    client = Client(tmp_path)
    client.start()
    for worked_out, first in (("the token is too old", SECOND), ("df: the disk is full", FIRST)):
        answer, failed = client.call("memory_search", query=QUESTION, so_far=worked_out)
        assert not failed and min((FIRST, SECOND, THIRD), key=answer.index) == first
    end(client)


@given(st.dictionaries(st.integers(0, 20), st.floats(0, 1)), st.dictionaries(st.integers(0, 20), st.floats(-9, 9)))
def test_a_new_order_hands_out_the_same_numbers(relevances, judged):
    again = reordered(relevances, judged)
    assert again.keys() == relevances.keys() and sorted(again.values()) == sorted(relevances.values())
    for better in relevances.keys() & judged.keys():
        for item in relevances.keys() - {better}:
            if item not in judged or judged[better] > judged[item]:
                assert again[better] >= again[item]


# -- the service -------------------------------------------------------------------------------------------------------


@pytest.fixture
def service():
    with serving() as server:
        yield server


@pytest.fixture
def hurried(service, monkeypatch):
    """The reranker with the time that a user's has."""
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    return open_reranker(Config(reranker="voyage", voyage_base_url=service.url))


@pytest.fixture
def reranker(hurried, monkeypatch):
    monkeypatch.setattr("hippo_core.recall.voyage.BUDGET", 30.0)
    return hurried


def test_the_service_s_order_is_ours_and_the_numbers_stay_calibrated(store, known, service, reranker):
    before, found = ask(store), ask(store, reranker=reranker)
    assert texts(found)[0] == SECOND and found.results[0].stages["reranked"] == 0.9
    assert sorted(r.stages["relevance"] for r in found.results) == sorted(r.stages["relevance"] for r in before.results)
    (request,) = service.requests
    assert request["model"] == "rerank-2.5-lite" and request["query"] == QUESTION
    assert sorted(request["documents"]) == sorted([FIRST, SECOND, THIRD])
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_secrets_are_redacted_before_anything_leaves(store, known, service, reranker):
    ask(store, "why do deploys fail at postgres://app:hunter2swordfish@db.internal/app", reranker=reranker)
    assert "deploys fail at" in service.requests[0]["query"] and "swordfish" not in json.dumps(service.requests)


def test_only_what_may_be_shown_is_sent_and_nothing_where_there_is_nothing_to_order(store, known, service, reranker):
    ask(store, "quokka", reranker=reranker), ask(store, "vault command token renew expired", reranker=reranker)
    sent = [len(request["documents"]) for request in service.requests]
    assert all(count > 1 for count in sent) and "Fridays" not in json.dumps(service.requests)


def test_at_most_50_texts_are_sent_and_2000_letters_of_each(store, paths, service, reranker):
    keywords_only(paths)
    for number in range(60):
        learn(store, f"Deploys fail for reason {number}. " + "And so it goes. " * 200)
    ask(store, reranker=reranker)
    (request,) = service.requests
    assert len(request["documents"]) == 50 and {len(text) for text in request["documents"]} <= {1_999, 2_000}


def test_of_an_answer_without_end_no_more_is_read_than_an_answer_may_be_long(store, known, service, reranker):
    service.answer = (200, b" " * 1_000_000 + json.dumps({"data": []}).encode())
    assert any("cannot be read" in remark for remark in ask(store, reranker=reranker).remarks)


FAULTS = [
    (401, b'{"detail": "Provided API key is invalid: not-a-real-key"}', "refused VOYAGE_API_KEY"),
    (429, b"{}", "limit"),
    (500, b"oh", "HTTP 500"),
    (200, b"no json", "cannot be read"),
    (200, b"[" * 100_000, "cannot be read"),
    (200, b'{"data": [{"index": 0}]}', "cannot be read"),
    (200, b'{"data": [{"index": 0, "relevance_score": 0.5}]}', "does not fit"),
    (200, b'{"data": [{"index": 7, "relevance_score": NaN}]}', "does not fit"),
]


@pytest.mark.parametrize("status, data, words", FAULTS)
def test_any_error_leaves_the_order_and_only_an_explanation_says_so(
    store, known, service, reranker, status, data, words
):
    service.answer = (status, data)
    before, found = ask(store), ask(store, reranker=reranker)
    assert texts(found) == texts(before) and found.notes == before.notes
    (remark,) = [remark for remark in found.remarks if "not reranked" in remark]
    assert words in remark and KEY not in remark


def test_who_asks_is_told_whether_a_reranker_ran(store, known, service, reranker):
    """An explanation and JSON always; the agent when it asks for another ranking and gets none."""
    without, read = ask(store), ask(store, reranker=reranker)
    assert "no reranker ran" in recall_text(without, explain=True) and "reranker" not in recall_text(without)
    assert any("no reranker ran" in remark for remark in recall_json(without)["remarks"])
    assert "no reranker" not in recall_text(read, explain=True) and ", reranked " in recall_text(read, explain=True)
    assert recall_json(read)["remarks"] == read.remarks
    service.answer = (500, b"")
    failed = ask(store, reranker=reranker)
    assert "not reranked" in recall_for_model(failed, again=True)
    assert "rerank" not in recall_for_model(failed) + recall_for_model(without, again=True)


def test_a_service_that_failed_is_left_alone_for_a_while(store, known, service, reranker):
    service.answer = (500, b"")
    for _ in range(3):
        ask(store, reranker=reranker)
    assert len(service.requests) == 1
    reranker.rest_until = 0.0
    service.answer = None
    assert texts(ask(store, reranker=reranker))[0] == SECOND


def test_a_service_that_takes_too_long_is_not_waited_for(store, known, service, reranker, monkeypatch):
    monkeypatch.setattr("hippo_core.recall.voyage.BUDGET", 0.05)
    service.hold = threading.Event()
    found = ask(store, reranker=reranker)
    assert len(found.results) == 3 and any("within 0.05 s" in remark for remark in found.remarks)


def test_a_search_waits_a_second_and_a_half_and_no_longer(store, known, hurried, monkeypatch):
    waits, before = [], ask(store)

    class NeverDone:
        def __init__(self, target, daemon):
            assert daemon, "the process need not wait for it either"

        def start(self):
            pass

        def join(self, seconds):
            waits.append(seconds)

    monkeypatch.setattr("hippo_core.recall.voyage.threading", SimpleNamespace(Thread=NeverDone))
    found = ask(store, reranker=hurried)
    assert waits == [1.5] and texts(found) == texts(before)
    assert any("within 1.5 s" in remark for remark in found.remarks)


def test_no_single_read_of_the_service_waits_longer_than_the_search_does(store, known, hurried, monkeypatch):
    timeouts = []

    class Opener:
        def open(self, request, timeout):
            timeouts.append(timeout)
            raise TimeoutError

    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Opener())
    found = ask(store, reranker=hurried)
    assert timeouts == [1.5] and any("within 1.5 s" in remark for remark in found.remarks)


def test_an_answer_that_comes_in_drops_is_not_waited_for(store, known, service, reranker, monkeypatch):
    """Each read of it is in time; the whole is not."""
    monkeypatch.setattr("hippo_core.recall.voyage.BUDGET", 1.0)
    service.drip = threading.Event()
    before, found = ask(store), ask(store, reranker=reranker)
    assert texts(found) == texts(before) and any("within 1 s" in remark for remark in found.remarks)


def test_a_service_that_is_not_there_is_no_error(store, known, service, reranker):
    service.shutdown(), service.server_close()
    found = ask(store, reranker=reranker)
    assert len(found.results) == 3 and any("cannot be reached" in remark for remark in found.remarks)


def test_the_key_follows_no_redirect(store, known, service, reranker):
    with serving() as other:
        service.answer, service.elsewhere = (307, b""), other.url + "/rerank"
        found = ask(store, reranker=reranker)
    assert any("HTTP 307" in remark for remark in found.remarks) and other.requests == []


@pytest.mark.parametrize("address", ["http://example.org/v1", "ftp://127.0.0.1/v1", "file:///etc", "voyage"])
def test_the_key_is_sent_over_no_open_connection(monkeypatch, address):
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with pytest.raises(RerankerUnavailableError, match="https"):
        open_reranker(Config(reranker="voyage", voyage_base_url=address))


def test_what_it_costs_is_kept_as_the_service_counts_it(store, known, service, reranker, paths):
    for _ in range(2):
        ask(store, reranker=reranker)
    service.answer = (200, b'{"data": [], "usage": {"total_tokens": 5}}')
    ask(store, reranker=reranker)
    (use,) = used(paths)
    assert (use.service, use.model, use.tokens, use.requests) == ("127.0.0.1", "rerank-2.5-lite", 2 * 7 + 5, 3)
    assert not any(b"disk" in file.read_bytes() for file in paths.usage.iterdir())


@pytest.mark.parametrize("status, data, requests", [(401, b"{}", 0), (500, b"", 0), (200, b"no json", 1),
                                                    (200, b'{"usage": 7}', 1), (200, b"[" * 100_000, 1)])  # fmt: skip
def test_a_refusal_costs_nothing_and_an_answer_counts_whatever_it_says(
    store, known, service, reranker, paths, status, data, requests
):
    service.answer = (status, data)
    ask(store, reranker=reranker)
    assert sum(use.requests for use in used(paths)) == requests


def test_an_answer_that_nobody_waits_for_any_more_is_paid_for_all_the_same(
    store, known, service, reranker, paths, monkeypatch
):
    monkeypatch.setattr("hippo_core.recall.voyage.BUDGET", 0.05)
    answered = threading.Event()
    usage = b'{"usage": {"total_tokens": 7}}'
    monkeypatch.setattr(reranker.reranker, "_post", lambda body: answered.wait(60) and usage)
    assert any("within 0.05 s" in remark for remark in ask(store, reranker=reranker).remarks) and used(paths) == []
    answered.set()
    deadline = time.monotonic() + 30
    while not used(paths) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert used(paths)[0].tokens == 7


# -- who decides, and who pays -----------------------------------------------------------------------------------------


def test_a_stray_key_switches_nothing_on(store, known, service, monkeypatch):
    """No surprise bill: only the settings choose a service that costs."""
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    assert open_reranker(Config(voyage_base_url=service.url)) is None
    run = CliRunner().invoke(hippo, ["recall", QUESTION])
    assert run.exit_code == 0 and service.requests == []


def test_without_a_key_nothing_is_sent_and_the_explanation_says_why(store, known, service):
    found = ask(store, reranker=Reranking().of(Config(reranker="voyage", voyage_base_url=service.url)))
    assert len(found.results) == 3 and any("VOYAGE_API_KEY is not set" in remark for remark in found.remarks)
    assert service.requests == []


def test_a_name_that_is_none_is_refused():
    with pytest.raises(UsageError, match="local, voyage or off"):
        open_reranker(Config(reranker="cohere"))


def test_chosen_in_the_settings_it_serves_the_command_the_tool_and_never_a_prompt(
    store, paths, known, service, monkeypatch, tmp_path
):
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    settings.save(paths, reranker="voyage", voyage_base_url=service.url)
    assert "Voyage" in look(paths, str(tmp_path)).paid_by
    run = CliRunner().invoke(hippo, ["recall", QUESTION, "--explain"])
    assert "reranked 0.9" in run.output and run.output.index(SECOND) < run.output.index(FIRST)
    client = Client(tmp_path)
    client.start()
    client.call("hook_prompt", prompt=QUESTION + " so often", session_id="s1")
    assert len(service.requests) == 1
    text, _ = client.call("memory_search", query=QUESTION)
    assert text.index(SECOND) < text.index(FIRST) and len(service.requests) == 2
    end(client)


def test_who_pays_without_it_is_nobody(store, paths, tmp_path):
    assert look(paths, str(tmp_path)).paid_by == "nobody"


def test_a_question_of_names_that_spelling_does_not_settle_is_paid_for_once(store, paths, service, monkeypatch):
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    keywords_only(paths)
    for part in range(12):  # more than a spelling settles
        learn(store, f"Part {part} of the build reads deploy/targets.toml before it begins.")
    settings.save(paths, reranker="voyage", voyage_base_url=service.url)
    run = CliRunner().invoke(hippo, ["recall", "deploy/targets.toml"])
    assert run.exit_code == 0 and "targets.toml" in run.output and len(service.requests) == 1
