"""What a search may cost, as aims over the figures of scale.py."""

import statistics
from collections.abc import Mapping

from cold_and_warm import LOADING, RIVAL, Figures, milliseconds

_WARM = {10_000: 20, 100_000: 40}  # memories -> the median of new questions in the tool server
_ARCHIVE = {"all": 350, "project": 120}  # of a million messages, the worst new question in the tool server
_WORDS = 25  # all that is looked up by words there, the worst of any questions
_LARGEST, _COLD_AT = 1_000_000, 10_000
_OVER_LOADING, _NAME = 1.25, 80  # a cold new question, in times of loading the model alone; a cold name


def missed(
    figures: Figures, parts: Mapping[tuple[str, int], Mapping[str, tuple[float, float]]], cpu: bool
) -> list[str]:
    """The aims that are not met, of those that were measured."""
    measured: list[tuple[str, float, float]] = []  # what, how much, at most
    for (store, size, way, kind), times in ((key, t) for key, t in figures.items() if isinstance(key, tuple)):
        taken = milliseconds(times, cpu)
        if store.startswith("memories") and kind == "new" and way != "cold" and size in _WARM:
            measured.append((f"{size:,} {store}, warm, {way}: ms", statistics.median(taken), _WARM[size]))
        if store == "archive" and kind == "new" and way in _ARCHIVE and size == _LARGEST:
            measured.append((f"archive of {size:,}, warm, {way}, worst: ms", max(taken), _ARCHIVE[way]))
    for where, cells in parts.get(("archive", _LARGEST), {}).items():
        for name, (_, worst) in cells.items():
            if name != "meaning":
                measured.append((f"archive of {_LARGEST:,}, {name}, {where}, worst: ms", worst, _WORDS))
    if ("memories", _COLD_AT, "cold", "new") in figures:
        new, name = (milliseconds(figures["memories", _COLD_AT, "cold", kind], cpu) for kind in ("new", "name"))
        ratios = [one / other for one, other in zip(new, milliseconds(figures[LOADING], cpu), strict=True)]
        measured.append(("a cold question, times loading the model", statistics.median(ratios), _OVER_LOADING))
        measured.append(("a cold name: ms", statistics.median(name), _NAME))
        if RIVAL in figures:
            rival = statistics.median(milliseconds(figures[RIVAL], cpu))
            measured.append(("a cold name, times agentrecall-db's", statistics.median(name) / rival, 1.0))
    for what, much, most in measured:
        print(f"{what} {much:.2f}, aim {most}")
    return [f"MISSED {what} {much:.2f}, aim {most}" for what, much, most in measured if much > most]
