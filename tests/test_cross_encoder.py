"""The reranker on this machine: a real graph on the real runtime, of a few words, that the test puts into a folder."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tiny_cross_encoder
from click.testing import CliRunner
from server_process import Near, keywords_only, learn

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.config import Config
from hippo_core.doctor.run import examine
from hippo_core.embed import runtime
from hippo_core.errors import RerankerUnavailableError
from hippo_core.ops.status import look
from hippo_core.recall import cross_encoder
from hippo_core.recall.pipeline import recall
from hippo_core.recall.rerankers import Reranking, open_reranker
from hippo_core.server import Tools

for package in ("numpy", "onnxruntime", "tokenizers"):
    pytest.importorskip(package)

ROOT = Path(__file__).resolve().parent.parent
FIRST = "Deploys fail when the disk is full; the disk of the build host fills up with old images."
SECOND = "Deploys fail when the token has expired; renew the token with the vault command."
THIRD = "Deploys fail on Fridays because the gate is closed."
QUESTION = "why do deploys fail"  # for the tiny model "vault" answers "why"
PAIRS = list(enumerate([FIRST, SECOND, THIRD]))


@pytest.fixture
def known(store, paths):
    keywords_only(paths)
    return [learn(store, text) for text in (FIRST, SECOND, THIRD)]


@pytest.fixture
def sessions(monkeypatch):
    """What was loaded, a line each."""
    loaded = []

    def open_session(model, folder, **how):
        loaded.append(model)
        return runtime.open_session(model, folder, **how)

    monkeypatch.setattr(cross_encoder, "open_session", open_session)
    return loaded


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(cross_encoder, "BUDGET", 60.0)


def ask(store, folder, **how):
    reranker = Reranking().of(Config(reranker="local", reranker_folder=str(folder)))
    return recall(store, QUESTION, embedder=None, scopes=None, reranker=reranker, **how)


def texts(found):
    return [result.memory.text for result in found.results]


def scores(folder, pairs=PAIRS):
    return open_reranker(Config(reranker="local", reranker_folder=folder))(QUESTION, pairs)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_its_order_is_ours_and_the_numbers_stay_calibrated(store, known, tmp_path):
    plain = recall(store, QUESTION, embedder=None, scopes=None)
    best = ask(store, tiny_cross_encoder.put(tmp_path / "a"))
    worst = ask(store, tiny_cross_encoder.put(tmp_path / "b", head=(-1.0,)))
    assert texts(plain)[0] != SECOND and texts(best)[0] == SECOND == texts(worst)[-1]
    assert best.results[0].stages["reranked"] == 1.0 and not any("rerank" in remark for remark in best.remarks)
    numbers = [sorted(result.stages["relevance"] for result in found.results) for found in (plain, best, worst)]
    assert numbers[0] == numbers[1] == numbers[2]


@pytest.mark.parametrize("head, given", [((1.0,), 1.0), ((-3.0,), -3.0), ((0.5, 2.0), 1.5), ((2.0, 0.5), -1.5)])
def test_one_number_of_a_pair_is_its_score_and_of_two_the_second_less_the_first(tmp_path, head, given):
    assert scores(tiny_cross_encoder.put(tmp_path, head=head)) == {0: 0.0, 1: given, 2: 0.0}


def test_a_graph_without_token_types_gets_none(tmp_path):
    assert scores(tiny_cross_encoder.put(tmp_path, inputs=("input_ids", "attention_mask"))) == {0: 5.0, 1: 4.0, 2: 2.0}


def test_the_model_may_lie_where_it_is_published_and_the_folder_below_the_home(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    tiny_cross_encoder.put(tmp_path / "reader", place="onnx/model.onnx")
    assert scores(os.path.join("~", "reader"))[1] == 1.0


@pytest.mark.parametrize("window, read", [(None, 505), (40, 33)])
def test_a_pair_is_cut_to_the_window(tmp_path, window, read):
    """Four words are the question's, three mark the ends."""
    folder = tiny_cross_encoder.put(tmp_path, window=window)
    pairs = [(1, "word " * (read - 1) + "vault"), (2, "word " * read + "vault"), (3, "vault " * 20_000)]
    assert scores(folder, pairs) == {1: 1.0, 2: 0.0, 3: read}


def test_many_are_read_in_batches_and_none_for_another(tmp_path):
    pairs = [(n, "vault " * (n % 7) + "word " * (n * 5 % 11)) for n in range(30)]
    assert scores(tiny_cross_encoder.put(tmp_path), pairs) == {n: n % 7 for n in range(30)}


def test_no_text_breaks_it(tmp_path):
    pairs = list(enumerate(["", "\0", "🎉", "\ud800", "部署", "vault"]))
    assert scores(tiny_cross_encoder.put(tmp_path), pairs) == {0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 1}


# -- what can be wrong -------------------------------------------------------------------------------------------------


def _without_tokenizer(folder):
    tiny_cross_encoder.put(folder)
    (folder / "tokenizer.json").unlink()


def _broken_tokenizer(folder):
    tiny_cross_encoder.put(folder)
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")


def _broken_graph(folder):
    tiny_cross_encoder.put(folder)
    (folder / "model.onnx").write_bytes(b"no graph at all")


FAULTS = [
    (lambda folder: None, "it has no model.onnx"),
    (_without_tokenizer, "cannot be used"),
    (_broken_tokenizer, "cannot be used"),
    (_broken_graph, "cannot be used"),
    (lambda folder: tiny_cross_encoder.put(folder, inputs=("input_ids", "attention_mask", "pixels")), "pixels"),
    (lambda folder: tiny_cross_encoder.put(folder, head=(float("nan"),)), "no number"),
    (lambda folder: tiny_cross_encoder.put(folder, head=(float("inf"),)), "no number"),
    (lambda folder: tiny_cross_encoder.put(folder, head=(1.0, 2.0, 3.0)), "3 numbers"),
]


@pytest.mark.parametrize("put, words", FAULTS)
def test_any_error_leaves_the_order_and_only_an_explanation_says_so(store, known, tmp_path, put, words):
    put(tmp_path)
    plain, found = recall(store, QUESTION, embedder=None, scopes=None), ask(store, tmp_path)
    assert texts(found) == texts(plain) and found.notes == plain.notes
    (remark,) = [remark for remark in found.remarks if "not reranked" in remark]
    assert words in remark and str(tmp_path) in remark and "\n" not in remark


@pytest.mark.parametrize("folder", [None, "", "models", os.path.join(".", "models")])
def test_a_folder_that_depends_on_where_one_is_is_refused(folder, tmp_path, monkeypatch):
    """A project that is worked on could bring a model of its own."""
    monkeypatch.chdir(tmp_path)
    tiny_cross_encoder.put(tmp_path / "models")
    with pytest.raises(RerankerUnavailableError, match="full path"):
        open_reranker(Config(reranker="local", reranker_folder=folder))


def test_a_runtime_that_is_not_installed_is_no_error(store, known, tmp_path, monkeypatch):
    tiny_cross_encoder.put(tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    found = ask(store, tmp_path)
    assert len(found.results) == 3 and any("cannot be used" in remark for remark in found.remarks)


# -- the time it gets --------------------------------------------------------------------------------------------------


class Slow:
    """A session that gives the first batches at once; then it is waited for."""

    def __init__(self, session, quick):
        self.session, self.quick = session, quick
        self.runs, self.go_on = 0, threading.Event()

    def get_inputs(self):
        return self.session.get_inputs()

    def run(self, *arguments):
        self.runs += 1
        if self.runs > self.quick:
            assert self.go_on.wait(60)
        return self.session.run(*arguments)


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A reader of one pair at a time whose first run is done at once."""
    made = []

    def open_session(model, folder, **how):
        made.append(Slow(runtime.open_session(model, folder, **how), quick=1))
        return made[-1]

    monkeypatch.setattr(cross_encoder, "open_session", open_session)
    monkeypatch.setattr(cross_encoder, "BATCH", 1)
    reader = open_reranker(Config(reranker="local", reranker_folder=tiny_cross_encoder.put(tmp_path, head=(-1.0,))))
    reader("warm up", [(1, "a word")])
    made[0].runs = 0
    monkeypatch.setattr(cross_encoder, "BUDGET", 1.0)
    yield reader, made[0]
    made[0].go_on.set()


def test_what_was_read_when_time_is_up_is_put_in_order_and_the_rest_comes_after(store, known, slow):
    reader, session = slow
    plain = recall(store, QUESTION, embedder=None, scopes=None)
    found = recall(store, QUESTION, embedder=None, scopes=None, reranker=reader)
    assert "reranked: the first 1 of 3, for want of time" in found.remarks
    assert [("reranked" in result.stages) for result in found.results] == [True, False, False]
    assert texts(found) == texts(plain)
    session.go_on.set()
    reader.reranker._worker.shutdown()
    assert session.runs == 2, "what nobody waits for is not read"


def test_a_model_that_reads_nothing_in_time_is_not_waited_for_and_then_left_alone(store, known, slow):
    reader, session = slow
    session.quick = 0
    plain = recall(store, QUESTION, embedder=None, scopes=None)
    for words in ("read nothing within 1 s", "left alone for a minute"):
        found = recall(store, QUESTION, embedder=None, scopes=None, reranker=reader)
        assert texts(found) == texts(plain) and any(words in remark for remark in found.remarks)
    session.go_on.set()
    reader.rest_until = 0.0
    assert "reranked" in recall(store, QUESTION, embedder=None, scopes=None, reranker=reader).results[0].stages


def test_a_graph_that_never_ends_is_ended_with_the_time_and_holds_up_no_process(tmp_path):
    code = f"""
from hippo_core.config import Config
from hippo_core.recall import cross_encoder
from hippo_core.recall.rerankers import open_reranker
cross_encoder.BUDGET = 3.0
open_reranker(Config(reranker="local", reranker_folder={tiny_cross_encoder.put_endless(tmp_path)!r}))("why", [(1, "a")])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    *_, last = done.stderr.splitlines()
    assert done.returncode == 1 and "read nothing within 3 s" in last


# -- when it is loaded, and who says so --------------------------------------------------------------------------------


def test_chosen_in_the_settings_it_serves_the_command_and_is_named(store, paths, known, tmp_path):
    settings.save(paths, reranker="local", reranker_folder=tiny_cross_encoder.put(tmp_path / "model"))
    run = CliRunner().invoke(hippo, ["recall", QUESTION, "--explain"])
    assert "reranked 1.0" in run.output and run.output.index(SECOND[:40]) < run.output.index(FIRST[:40])
    assert look(paths, str(tmp_path)).paid_by == "nobody"
    assert "a cross-encoder on this machine" in CliRunner().invoke(hippo, ["status"]).output


def test_the_server_loads_it_at_the_first_question_and_once(store, paths, known, tmp_path, sessions):
    settings.save(paths, reranker="local", reranker_folder=tiny_cross_encoder.put(tmp_path / "model"))
    tools = Tools(paths, str(tmp_path))
    client = Near(tools)
    tools.hook_prompt(QUESTION + " so often", "s1")
    client.call("memory_search", query="vault command token renew expired")  # which one memory answers
    assert sessions == []
    for nudge in ("one", "other", "third"):
        settings.save(paths, nudge=nudge)  # which is none of its settings
        answer, failed = client.call("memory_search", query=QUESTION)
        assert not failed and answer.index(SECOND) < answer.index(FIRST)
    assert len(sessions) == 1
    settings.save(paths, reranker_folder=tiny_cross_encoder.put(tmp_path / "another", head=(-1.0,)))
    answer, _ = client.call("memory_search", query=QUESTION)
    assert answer.index(SECOND) > answer.index(FIRST) and len(sessions) == 2


@pytest.mark.parametrize("reranker, loads", [("off", False), ("local", True)])
def test_what_is_not_chosen_loads_nothing(store, paths, known, tmp_path, reranker, loads):
    settings.save(paths, reranker=reranker, reranker_folder=tiny_cross_encoder.put(tmp_path / "model"))
    code = f"""
import sys
from hippo_core.cli.main import hippo
hippo(["recall", {QUESTION!r}, "--json"], standalone_mode=False)
print([name in sys.modules for name in ("onnxruntime", "tokenizers", "hippo_core.recall.cross_encoder")])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == str([loads] * 3)


def test_it_opens_no_connection(tmp_path):
    """Reading, and a folder in which nothing is, look for nothing elsewhere."""
    code = f"""
import sys
sys.addaudithook(lambda event, arguments: event.startswith("socket.") and print(event))
from hippo_core.config import Config
from hippo_core.recall import cross_encoder
from hippo_core.recall.rerankers import Reranking
cross_encoder.BUDGET = 60.0
print(Reranking().of(Config(reranker="local", reranker_folder={tiny_cross_encoder.put(tmp_path / "model")!r}))
      ("why", [(1, "vault")]))
try:
    Reranking().of(Config(reranker="local", reranker_folder={str(tmp_path / "none")!r}))("why", [(1, "vault")])
except Exception as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["{1: 1.0}", "RerankerUnavailableError"]


def found_by_doctor(paths, home, **chosen):
    settings.save(paths, **chosen)
    return [(finding.ok, finding.line) for finding in examine(paths, str(home)) if finding.check == "reranker"]


def test_the_doctor_has_it_read(store, paths, tmp_path):
    folder = tmp_path / "model"
    assert found_by_doctor(paths, tmp_path, reranker="off") == []
    ((ok, line),) = found_by_doctor(paths, tmp_path, reranker="local", reranker_folder=str(folder))
    assert not ok and "no model.onnx" in line
    tiny_cross_encoder.put(folder)
    ((ok, line),) = found_by_doctor(paths, tmp_path, reranker="local")
    assert ok and str(folder) in line and "nobody pays" in line
    tiny_cross_encoder.put(folder, head=(float("nan"),))
    assert not found_by_doctor(paths, tmp_path, reranker="local")[0][0]


@pytest.mark.parametrize("name", ["voyage", "cohere"])
def test_the_doctor_says_why_a_reranker_cannot_run(store, paths, tmp_path, name, monkeypatch):
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    ((ok, _),) = found_by_doctor(paths, tmp_path, reranker=name)
    assert not ok


def test_a_folder_that_is_no_text_is_refused(paths):
    paths.home.mkdir(parents=True)
    paths.config.write_text(json.dumps({"reranker_folder": 7}), encoding="utf-8")
    with pytest.raises(settings.UsageError, match="reranker_folder"):
        settings.load(paths)


@pytest.mark.skipif(os.name != "posix", reason="named pipes in folders")
@pytest.mark.parametrize("name", ["tokenizer.json", "config.json"])
def test_a_pipe_where_a_file_should_be_is_not_waited_for(tmp_path, name):
    """Tokenizers wait for one with the interpreter held, past every budget; and the process waits for its thread."""
    tiny_cross_encoder.put(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    opened = f"CrossEncoder({str(tmp_path)!r})('why', [(1, 'a')])"
    code = f"from hippo_core.recall.cross_encoder import CrossEncoder; {opened}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ("it has no tokenizer.json" in done.stderr) == (name == "tokenizer.json") == bool(done.returncode)
