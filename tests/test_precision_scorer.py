"""benchmarks/retrieval.py on typed memories of its own: what passes each rule, what breaks it, and the run written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "retrieval.py"


def belief(name, text, scope="domain:code", **more):
    plain = {"type": "entity", "superseded_by": None, "pinned": False, "speaker": "test-user"}
    return {"id": name, "text": text, "belief_scope": [scope], "timestamp": "2026-10-01T00:00:00Z", **plain, **more}


def case(name, text, expect, scope="domain:code", user=None, category="own"):
    wanted = expect.get("relevantBeliefs", {}).get("shouldOnlyInclude", [])
    row = {"id": name, "category": category, "text": text, "query_scope": [scope], "expect": expect, "user": user}
    return {**row, "evidence": wanted}


CORPUS = [
    belief("old", "Sessions are stored in redis", superseded_by="new"),
    belief("new", "Sessions are stored in postgres"),
    belief("else", "Mara plays sessions of jazz in Lisbon", "domain:writing"),
    belief("pinned", "Sessions end after one hour", pinned=True),
    belief("theirs", "Their sessions are secret", speaker="other-user"),
]
CASES = [
    case("superseded, scoped, pinned apart", "sessions", {"relevantBeliefs": {"shouldOnlyInclude": ["new"]}}),
    case("silent", "weather in Paris", {"relevantBeliefs": {"shouldOnlyInclude": []}}),
    case("empty", "", {"relevantBeliefs": {"shouldOnlyInclude": []}, "personaPrelude": {"nonEmpty": True}}),
    case("nobody's", "sessions", {"relevantBeliefs": {"shouldOnlyInclude": []}}, user="brand-new-user"),
    case("kept out", "sessions", {"relevantBeliefs": {"mustExclude": ["theirs", "else", "old"]}}),
    case("one too many", "sessions", {"relevantBeliefs": {"shouldOnlyInclude": []}}),
    case("one missing", "sessions", {"relevantBeliefs": {"shouldOnlyInclude": ["new", "else"]}}),
    case("not kept out", "sessions", {"pinnedFacts": {"mustExclude": ["pinned"]}}),
    case(
        "no room", "sessions", {"relevantBeliefs": {"shouldOnlyInclude": []}}, category="Budget eviction and capacity"
    ),
]


SCORER = """
def score(ranked, gold):
    return {name: float(set(gold) <= set(ranked[:5])) for name in ("any@5", "R@5", "R@10", "MRR")}
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(what was printed for keywords only, the run that was written, the exit code)"""
    data = tmp_path_factory.mktemp("data")
    folder = data / "precisionmembench"
    folder.mkdir()
    for name, rows in (("corpus.jsonl", CORPUS), ("queries.jsonl", CASES)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (data / "score.py").write_text(SCORER, encoding="utf-8")
    command = [sys.executable, str(SCRIPT), "precisionmembench", "--explain", "--runs", str(data / "runs")]
    environment = {**os.environ, "HIPPO_BENCH_DATA": str(data)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert "published figures" in ran.stdout, ran.stderr
    _, by_words, _ = ran.stdout.split("rules of precisionmembench, recall")
    lines = (data / "runs" / "precisionmembench.jsonl").read_text(encoding="utf-8").splitlines()
    return by_words, {row["id"]: row["ranked"] for row in map(json.loads, lines)}, ran.returncode


def test_each_rule_is_scored_for_what_it_says(done):
    printed, _, _ = done
    table = dict(line.split(maxsplit=1) for line in printed.splitlines() if line.startswith(("all", "own")))
    assert table["own"].split() == ["8", "4/6", "5/6", "7/8"] and table["all"].split() == ["9", "4/7", "5/7", "8/9"]
    assert "abstentions: 3 of 5" in printed and "1 rules personaPrelude.nonEmpty" in printed


def test_what_a_budget_leaves_no_room_for_is_told_apart(done):
    printed, _, _ = done
    assert "without a budget's: exact 4 of 6, abstentions 3 of 4" in printed and "1 rules of a budget" in printed


def test_what_fails_is_named_and_nothing_else(done):
    printed, _, _ = done
    failed = [line.split(" [")[0] for line in printed.splitlines() if " [own] " in line]
    assert failed == ["one too many", "one missing", "not kept out"]


def test_the_run_ranks_beliefs_for_every_question_and_none_that_is_out_of_its_scope(done):
    _, run, _ = done
    assert run.keys() == {row["id"] for row in CASES}
    assert set(run["superseded, scoped, pinned apart"]) == {"new", "pinned"}
    assert run["empty"] == run["nobody's"] == []


def test_figures_worse_than_the_published_end_the_script_with_a_failure(done):
    assert done[2] == 1
