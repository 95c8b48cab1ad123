"""The scorer of benchmarks/precision.py, on a set of its own: what passes each rule and what breaks it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "precision.py"


def belief(name, text, scope="domain:code", **more):
    plain = {"type": "entity", "superseded_by": None, "pinned": False, "speaker": "test-user"}
    return {"id": name, "text": text, "belief_scope": [scope], "timestamp": "2026-10-01T00:00:00Z", **plain, **more}


def case(name, text, expect, scope="domain:code", user=None, category="own"):
    return {"id": name, "category": category, "text": text, "query_scope": [scope], "expect": expect, "user": user}


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


@pytest.fixture
def printed(tmp_path):
    folder = tmp_path / "precisionmembench"
    folder.mkdir()
    for name, rows in (("corpus.jsonl", CORPUS), ("queries.jsonl", CASES)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [sys.executable, str(SCRIPT), "--no-vectors", "--explain"]
    environment = {**os.environ, "HIPPO_BENCH_DATA": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_rule_is_scored_for_what_it_says(printed):
    table = dict(line.split(maxsplit=1) for line in printed.splitlines() if line.startswith(("all", "own")))
    assert table["own"].split() == ["8", "4/6", "5/6", "7/8"] and table["all"].split() == ["9", "4/7", "5/7", "8/9"]
    assert "abstentions: 3 of 5" in printed and "1 rules personaPrelude.nonEmpty" in printed


def test_what_a_budget_leaves_no_room_for_is_told_apart(printed):
    assert "without a budget's: exact 4 of 6, abstentions 3 of 4" in printed and "1 rules of a budget" in printed


def test_what_fails_is_named_and_nothing_else(printed):
    failed = [line.split(" [")[0] for line in printed.splitlines() if " [own] " in line]
    assert failed == ["one too many", "one missing", "not kept out"]
