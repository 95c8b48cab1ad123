"""benchmarks/published.py: a script that measures quality fails when a figure that is published is not reached."""

import importlib.util
from pathlib import Path

import pytest

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
