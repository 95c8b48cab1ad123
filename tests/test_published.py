"""benchmarks/published.py: a script that measures quality fails when a figure that is published is not reached."""

import importlib.util
from pathlib import Path

import pytest

from hippo_core.recall.weights import WEIGHTS

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture
def published(monkeypatch):
    spec = importlib.util.spec_from_file_location("published_figures", BENCHMARKS / "published.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    figures = {("a set", "R@5"): module.Figure(80.0, 0.6, aim=90), ("a set", "kept"): module.Figure(7)}
    figures |= module.percent("another", 50, {"R@5": 60.0})
    monkeypatch.setattr(module, "FIGURES", {**module.FIGURES, "own": figures})
    return module


def test_what_is_as_published_passes_and_an_aim_that_was_missed_is_told(published, capsys):
    assert published.held("own", {("a set", "R@5"): 79.5, ("a set", "kept"): 7, ("another", "R@5"): 58.0}) == 0
    printed = capsys.readouterr().out
    assert "3 of 3 held" in printed and "aim missed, as published: a set, R@5 79.5 of 90" in printed


@pytest.mark.parametrize(
    "found", [{("a set", "R@5"): 79.3}, {("a set", "kept"): 6}, {("another", "R@5"): 57.9}, {("a set", "kept"): 0}]
)
def test_what_is_worse_fails_by_name(published, capsys, found):
    whole = {("a set", "R@5"): 80.0, ("a set", "kept"): 7, ("another", "R@5"): 60.0}
    assert published.held("own", whole | found) == 1
    ((part, name),) = found
    assert f"LOST: {part}, {name}" in capsys.readouterr().out


def test_what_is_no_longer_measured_fails_unless_all_of_its_part_was_left_out(published, capsys):
    assert published.held("own", {("a set", "R@5"): 80.0}) == 1
    assert "LOST: a set, kept not measured" in capsys.readouterr().out
    assert published.held("own", {("another", "R@5"): 60.0}) == 0


def test_every_script_that_judges_by_a_table_has_one_and_ends_with_what_it_says(published):
    for script in (name.split()[0] for name in published.FIGURES if name != "own"):
        source = (BENCHMARKS / f"{script}.py").read_text(encoding="utf-8")
        assert "return published.held(" in source and "sys.exit(main())" in source


CURVE = ("answered", "silent", "true of shown")
UNASKED = ("helped", None, "right", "silent, elsewhere", "silent, answers removed")


@pytest.mark.parametrize(
    ("document", "threshold", "script", "part", "place", "measures"),
    [
        ("recall.md", f"{WEIGHTS.best_at_least:g}", "calibrate", "with vectors", 0, CURVE),
        ("recall.md", f"{WEIGHTS.best_at_least:g}", "calibrate", "keywords only", 3, CURVE),
        ("recall.md", f"{WEIGHTS.archive_best_at_least:g}", "silence", "with vectors", 0, CURVE),
        ("recall.md", f"{WEIGHTS.best_at_least:g}", "silence", "keywords only", 3, CURVE),
        ("hooks.md", f"{WEIGHTS.confident:.2f}", "proactive", "with vectors", 0, UNASKED),
        ("hooks.md", f"words alone, {WEIGHTS.confident_by_words:.2f}", "proactive", "keywords only", 0, UNASKED),
    ],
)
def test_a_published_curve_holds_at_the_threshold_in_force_what_its_script_is_judged_by(
    published, document, threshold, script, part, place, measures
):
    lines = (BENCHMARKS.parent / "docs" / document).read_text(encoding="utf-8").replace("*", "").splitlines()
    rows = [line.strip("| ").split(" | ")[1:] for line in lines if line.startswith(f"| {threshold} |")]
    wanted = {
        place + at: f"{published.FIGURES[script][part, name].value:.1f}" for at, name in enumerate(measures) if name
    }
    assert any(all(row[at : at + 1] == [value] for at, value in wanted.items()) for row in rows)
