"""The figures of quality that docs/ publish, and whether a run still finds them. Used by the scripts beside it.

A script ends with what `held` returns: 1 if a figure is worse than published by more than its slack, or was not found.
An aim that was missed when the figures were published is listed and is no loss; to fall behind what was reached is.
"""

from collections.abc import Mapping
from typing import NamedTuple

HELD_OUT = "held-out folds"  # of retrieval.py: the part that is answered by a tuning chosen on the others

Key = tuple[str, str]  # part of the script's work (a set, a half, a search), what was measured of it


class Figure(NamedTuple):
    """value: as published; more is better. slack: what may be missing. aim: what was wanted, where that is known."""

    value: float
    slack: float = 0.05  # what rounding hides
    aim: float | None = None


def percent(part: str, questions: int, values: Mapping[str, float]) -> dict[Key, Figure]:
    """Figures of one part in percent of so many questions; one of these may be lost to another machine's rounding."""
    return {(part, name): Figure(value, 0.05 + 100 / questions) for name, value in values.items()}


def held(script: str, found: Mapping[Key, float]) -> int:
    """Print what is lost and which aims are missed; 1 if anything is lost. What was not measured does not count."""
    parts = {part for part, _ in found}
    judged = {key: figure for key, figure in FIGURES[script].items() if key[0] in parts}
    lost = {key: figure for key, figure in judged.items() if not _keeps(found.get(key), figure)}
    missed = [key for key, figure in judged.items() if figure.aim is not None and found.get(key, 0.0) < figure.aim]
    print(f"\npublished figures: {len(judged) - len(lost)} of {len(judged)} held")
    for part, name in (key for key in missed if key not in lost):
        print(f"  aim missed, as published: {part}, {name} {found[part, name]:.4g} of {judged[part, name].aim:g}")
    for (part, name), figure in lost.items():
        value = found.get((part, name))
        print(f"  LOST: {part}, {name} {'not measured' if value is None else f'{value:.4g}'}, was {figure.value:g}")
    return int(bool(lost))


FIGURES: Mapping[str, Mapping[Key, Figure]] = {
    "retrieval": {
        **percent("longmemeval", 166, {"search, any@5": 87.3, "search, R@5": 77.9, "search, MRR": 72.9}),
        **percent("longmemeval", 166, {"search, no vectors, any@5": 85.5, "search, no vectors, R@5": 74.3}),
        **percent("memaware", 450, {"search, any@5": 40.0, "search, R@5": 32.4}),
        **percent("memaware", 450, {"search, no vectors, any@5": 36.0, "search, no vectors, R@5": 28.1}),
        **percent("devmembench", 84, {"search, any@5": 100.0, "search, R@5": 95.1, "search, MRR": 94.0}),
        **percent("devmembench", 84, {"search, no vectors, any@5": 100.0, "search, no vectors, R@5": 94.3}),
        **percent("precisionmembench", 43, {"recall, R@5": 98.6, "recall, any@5": 100.0}),
        ("precisionmembench", "recall, exact"): Figure(73),
        ("precisionmembench", "recall, exact without a budget's"): Figure(72, aim=72),
        ("precisionmembench", "recall, clean"): Figure(73),
        ("precisionmembench", "recall, kept out"): Figure(77, aim=77),
        ("precisionmembench", "recall, silent"): Figure(30),
        ("precisionmembench", "recall, no vectors, exact"): Figure(53),
        ("precisionmembench", "recall, no vectors, kept out"): Figure(77),
        (HELD_OUT, "longmemeval all, any@5"): Figure(88.0, 0.65, 92),
        (HELD_OUT, "longmemeval all, R@5"): Figure(78.5, 0.65, 80),
        (HELD_OUT, "longmemeval single-session-preference, R@5"): Figure(35.7, aim=50),
        (HELD_OUT, "memaware all, any@5"): Figure(39.8, 0.25, 45),
        (HELD_OUT, "memaware all, R@5"): Figure(32.5, 0.25),
        (HELD_OUT, "memaware hard, R@5"): Figure(5.8, 0.65, 12),
        (HELD_OUT, "devmembench all, R@5"): Figure(95.1, 1.2, 96),
        (HELD_OUT, "devmembench cross-session-synthesis, R@5"): Figure(73.8, aim=70),
    },
    "curated": {
        **percent("devmembench", 84, {"recall R@5": 93.7, "recall any@5": 97.6, "recall MRR": 88.9}),
        **percent("devmembench", 84, {"recall, no vectors R@5": 92.7, "recall, no vectors any@5": 98.8}),
        **percent("precisionmembench", 43, {"recall R@5": 98.6, "recall any@5": 100.0, "recall MRR": 95.0}),
        **percent("precisionmembench", 43, {"recall, no vectors R@5": 94.4, "recall, no vectors any@5": 97.7}),
        **percent("longmemeval", 40, {"recall R@5": 85.6, "recall any@5": 90.0, "recall MRR": 81.1}),
        **percent("longmemeval", 40, {"recall, no vectors R@5": 85.2, "recall, no vectors any@5": 90.0}),
    },
    "fusion": {
        **percent("the fused list alone, devmembench", 84, {"any@5": 98.8, "R@5": 92.8, "MRR": 89.1}),
        **percent("the fused list alone, longmemeval", 40, {"any@5": 90.0, "R@5": 88.1, "MRR": 83.8}),
        **percent("the fused list alone, precisionmembench", 43, {"any@5": 100.0, "R@5": 97.0, "MRR": 97.3}),
        **percent("recall, devmembench", 84, {"any@5": 97.6, "R@5": 93.7, "MRR": 88.9}),
        **percent("recall, longmemeval", 40, {"any@5": 90.0, "R@5": 88.1, "MRR": 81.0}),
        **percent("recall, precisionmembench", 43, {"any@5": 100.0, "R@5": 98.6, "MRR": 97.3}),
    },
    "precision_own": {
        (world, "holds"): Figure(cases) for world, cases in {"greenhouse": 28, "museum": 29, "village": 15}.items()
    },
    "precision_own by words": {
        (world, "holds"): Figure(cases) for world, cases in {"greenhouse": 28, "museum": 26, "village": 14}.items()
    },
    "calibrate": {
        **percent("with vectors", 88, {"answered": 94.3, "true of shown": 36.6}),
        **percent("with vectors", 176, {"silent": 63.6}),
        **percent("keywords only", 88, {"answered": 95.5, "true of shown": 29.3}),
        **percent("keywords only", 176, {"silent": 34.1}),
    },
    "silence": {
        **percent("with vectors", 147, {"answered": 74.1, "silent": 69.4, "true of shown": 18.8}),
        **percent("keywords only", 147, {"answered": 71.4, "silent": 49.7, "true of shown": 17.5}),
    },
    "proactive": {
        **percent("with vectors", 88, {"helped": 37.5, "right": 88.9, "silent, answers removed": 94.3}),
        **percent("with vectors", 176, {"silent, elsewhere": 100.0}),
        **percent("keywords only", 88, {"helped": 15.9, "right": 87.5, "silent, answers removed": 97.7}),
        **percent("keywords only", 176, {"silent, elsewhere": 100.0}),
    },
    "so_far": {
        ("devmembench, with vectors", "with"): Figure(69.0),
        ("devmembench, with vectors", "gained"): Figure(7.1),
        ("devmembench, keywords only", "with"): Figure(58.0),
        ("devmembench, keywords only", "gained"): Figure(4.8),
        ("longmemeval, with vectors", "with"): Figure(88.2),
        ("longmemeval, with vectors", "gained"): Figure(1.9),
        ("longmemeval, keywords only", "with"): Figure(88.2),
        ("longmemeval, keywords only", "gained"): Figure(4.9),
    },
    "distill": {
        (sessions, name): Figure(value, 0.005)
        for sessions, both in {
            "developed on": (1.0, 1.0),
            "held out": (0.90, 1.0),
            "longer": (0.96, 0.87),
            "joined": (0.95, 0.80),
            "messy": (0.98, 0.94),
            "messy, unseen": (0.98, 0.87),
            "fresh": (0.93, 0.89),
            "last": (0.81, 0.71),
        }.items()
        for name, value in zip(("precision", "recall"), both, strict=True)
    },
}


def _keeps(value: float | None, figure: Figure) -> bool:
    return value is not None and value >= figure.value - figure.slack
