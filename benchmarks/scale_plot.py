"""Draws what a search costs against the size of the store: memories and archive, cold and warm, median and worst."""

import statistics
from pathlib import Path

from cold_and_warm import ALL, LOADING, Figures, milliseconds

_PANELS = {"memories": "memories", "archive": "messages in the archive"}
_COLOURS = {"new": "tab:blue", "again": "tab:orange", "name": "tab:green"}
_WAYS = {"cold": ("--", "s", "a process"), ALL: ("-", "o", "in the tool server")}
_QUESTIONS = {"new": "a new question", "again": "asked before", "name": "a name"}


def plot(figures: Figures, file: Path, cpu: bool) -> None:
    import matplotlib

    matplotlib.use("svg")
    # The same figures give the same file, and its letters are text.
    matplotlib.rcParams.update({"svg.hashsalt": "scale", "svg.fonttype": "none"})
    from matplotlib import pyplot
    from matplotlib.ticker import ScalarFormatter

    figure, panels = pyplot.subplots(1, len(_PANELS), figsize=(10, 5), sharey=True, layout="constrained")
    for axes, (store, label) in zip(panels, _PANELS.items(), strict=True):
        for way, (line, marker, place) in _WAYS.items():
            for question, colour in _COLOURS.items():
                times = {key[1]: milliseconds(some, cpu) for key, some in figures.items()
                         if isinstance(key, tuple) and (key[0], *key[2:]) == (store, way, question)}  # fmt: skip
                sizes = sorted(times)
                middle = [statistics.median(times[size]) for size in sizes]
                worst = [max(times[size]) for size in sizes]
                name = f"{_QUESTIONS[question]}, {place}"
                axes.plot(sizes, middle, line, color=colour, marker=marker, markersize=4, label=name)
                axes.fill_between(sizes, middle, worst, color=colour, alpha=0.15, linewidth=0)
        model = statistics.median(milliseconds(figures[LOADING], cpu))
        axes.axhline(model, color="grey", linewidth=1, linestyle=":", label="loading the model alone, a process")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("ms: median, shaded up to the worst")
    panels[0].yaxis.set_major_formatter(ScalarFormatter())
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
