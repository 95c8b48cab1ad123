"""benchmarks/retrieval.py on an archive of its own: what it asks, the run it writes, and how its folds are held out."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_precision_scorer import SCORER

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
SAID = {
    "food": "We buy groceries every Saturday", "wires": "The websocket drops behind nginx after a minute",
    "dog": "Our dog hides whenever there is thunder", "invoice": "Invoices are numbered by year",
}  # fmt: skip
ASKED = {"by words": ("why does the websocket drop", "wires"), "by meaning": ("weekly food shopping", "food")}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(what was printed, the run that was written)"""
    pytest.importorskip("onnxruntime")
    data = tmp_path_factory.mktemp("data")
    folder = data / "devmembench"
    folder.mkdir()
    corpus = [
        {"id": f"{name}#0", "session": name, "speaker": "user", "text": text, "timestamp": None}
        for name, text in SAID.items()
    ]
    queries = [
        {"id": name, "text": text, "evidence": [session], "category": "own", "timestamp": None}
        for name, (text, session) in ASKED.items()
    ]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (data / "score.py").write_text(SCORER, encoding="utf-8")
    command = [sys.executable, str(BENCHMARKS / "retrieval.py"), "devmembench", "--runs", str(data / "runs")]
    environment = {**os.environ, "HIPPO_BENCH_DATA": str(data)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert "published figures" in done.stdout, done.stderr
    lines = (data / "runs" / "devmembench.jsonl").read_text(encoding="utf-8").splitlines()
    return done.stdout, {row["id"]: row["ranked"] for row in map(json.loads, lines)}


def test_the_run_is_the_search_with_vectors_and_stands_beside_what_it_is_compared_with(ran):
    printed, run = ran
    assert {name: ranked[:1] for name, ranked in run.items()} == {name: [gold] for name, (_, gold) in ASKED.items()}
    any_of_five = {
        name: float(share) for name, share in re.findall(r"^  (\S.*?) +any@5 +(\d+\.\d)", printed, re.MULTILINE)
    }
    assert any_of_five["keyword floor"] == any_of_five["search, no vectors"] == 50
    assert any_of_five["vectors alone"] == any_of_five["plain fusion"] == any_of_five["search"] == 100


def test_the_figures_of_the_held_out_folds_have_intervals(ran):
    line = next(line for line in ran[0].splitlines() if "devmembench  all" in line)
    assert "any@5 100.0 [100.0, 100.0]" in line and "R@5 100.0 [100.0, 100.0]" in line


@pytest.fixture
def retrieval(monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(BENCHMARKS)
    import retrieval

    return retrieval


def test_a_fold_is_told_by_the_hash_of_a_questions_id_alone(retrieval):
    folds = [retrieval.fold(f"q{n}") for n in range(500)]
    assert folds == [retrieval.fold(f"q{n}") for n in range(500)]
    assert all(60 < folds.count(number) < 140 for number in range(retrieval.FOLDS)) and retrieval.FOLDS == 5


def test_no_question_is_answered_by_a_tuning_that_was_chosen_by_it(retrieval, monkeypatch):
    """Of two tunings one is good everywhere, the other excellent in fold 0 alone, and so better over all."""

    class Part:
        name, folds = "own", [0, 0, 1, 2, 3, 4]
        queries = [{"category": "any"}] * 6

        def tuned(self, right):
            return [dict.fromkeys(retrieval.MEASURES, right(own)) for own in self.folds]

    monkeypatch.setattr(retrieval, "GRID", [lambda own: 0.5, lambda own: 0.4 if own else 1.0])
    monkeypatch.setattr(retrieval, "_shown", str)
    found = retrieval.cross_validate([Part()])
    assert found[retrieval.published.HELD_OUT, "own all, R@5"] == pytest.approx(100 * (2 * 0.5 + 4 * 0.4) / 6)


def test_an_interval_holds_the_mean_and_is_narrower_for_more_questions(retrieval):
    few, many = (retrieval._interval([0.0, 1.0] * n) for n in (10, 1_000))
    assert few[0] < many[0] < 50 < many[1] < few[1]
