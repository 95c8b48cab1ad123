#!/usr/bin/env python3
"""What a search of the archive costs as it grows, and whether the aims at a million messages are met.

    HIPPO_BENCH_DATA=DIR python benchmarks/scale.py [--sizes 1000 100000] [--cache DIR] [--cpu] [--plot FILE]

20 of the longmemeval set's own questions, in archives made of its messages (benchmarks/grown.py), after a round to warm
up: median / worst in milliseconds, over all projects and in one of ten. "words": both keyword lists. "meaning": both
lists of vectors, without the question's own. "search": all that `archive_search` does, embedding the question included.
"commonest": keyword lists of questions made of the archive's commonest words. --cpu: processor time, which a busy
machine blurs less. --cache keeps the archives (2.6 GB for a million; three minutes to make). --plot draws the curve.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import grown  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.recall.archive import DEPTH, Search, search_archive  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.recall.sessions import MEANING, REPLY  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SIZES, QUESTIONS = (1_000, 10_000, 100_000, 1_000_000), 20
# The aims at a million messages: over all of them, in a project of a tenth of them, the keyword lists of any question.
LARGEST, ALL, ONE, WORDS = 1_000_000, 350, 120, 25
COMMONEST = 60  # words, of which the hardest questions are made

Cell = tuple[float, float]  # median, worst


def milliseconds(questions: Sequence[str], clock: Callable[[], float], search: Callable[[str], object]) -> Cell:
    times = []
    for _ in range(2):
        times = []
        for question in questions:
            started = clock()
            search(question)
            times.append((clock() - started) * 1000)
    return statistics.median(times), max(times)


def hardest(store: Store) -> list[str]:
    """Questions of the commonest words that a question may hold, from one of them to twelve."""
    rows = store._db.execute("SELECT word FROM archive_word ORDER BY messages DESC").fetchall()
    common = [word for (word,) in rows if word.isalpha() and not read_query(word).empty][:COMMONEST]
    return (
        [" ".join(common[start : start + size]) for size in (1, 2, 4, 8, 12) for start in (0, 12, 24)] if common else []
    )


def measure(store: Store, embedder: Embedder, questions: list[str], clock: Callable[[], float]) -> dict[str, Cell]:
    vectors = {question: embedder.embed([question])[0].tobytes() for question in questions}
    cells: dict[str, Cell] = {}
    for where, scopes in (("all", None), ("one", [grown.projects()[0].key])):

        def words(question: str, scopes: list[str] | None = scopes) -> None:
            Search(store, read_query(question), scopes).by_words()

        def meaning(question: str, scopes: list[str] | None = scopes) -> None:
            for kind in (MEANING, REPLY):
                store.message_vectors.nearest(
                    embedder.fingerprint, kind, vectors[question], scopes=scopes, limit=DEPTH[kind]
                )

        def search(question: str, scopes: list[str] | None = scopes) -> None:
            search_archive(store, question, scopes=scopes, embedder=embedder)

        cells[f"words, {where}"] = milliseconds(questions, clock, words)
        cells[f"commonest, {where}"] = milliseconds(hardest(store) or questions, clock, words)
        cells[f"meaning, {where}"] = milliseconds(questions, clock, meaning)
        cells[f"search, {where}"] = milliseconds(questions, clock, search)
    return cells


def missed(cells: dict[str, Cell]) -> list[str]:
    """The aims at a million messages that are not met."""
    aims = {"search, all": ALL, "search, one": ONE}
    aims |= {f"{name}, {where}": WORDS for name in ("words", "commonest") for where in ("all", "one")}
    return [f"{name}: {cells[name][1]:.0f} ms, aim {aim}" for name, aim in aims.items() if cells[name][1] > aim]


def plot(curve: dict[int, dict[str, Cell]], file: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    # The same figures give the same file, and its letters are text.
    matplotlib.rcParams.update({"svg.hashsalt": "scale", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, colour in (("search", "tab:blue"), ("words", "tab:orange"), ("meaning", "tab:green")):
        for where, style in (("all", "-"), ("one", "--")):
            worst = [cells[f"{name}, {where}"][1] for cells in curve.values()]
            label = f"{name}, {'all projects' if where == 'all' else 'one of ten'}"
            axes.plot(list(curve), worst, style, color=colour, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="messages", ylabel="worst of 20 questions, ms")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--cache", type=Path, help="keep the archives here for the next run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu", action="store_true", help="measure processor time")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the curve into this SVG")
    arguments = parser.parse_args()
    asked = archived.queries(grown.SET)
    questions = [query["text"] for query in asked[:: len(asked) // QUESTIONS][:QUESTIONS]]
    clock = time.process_time if arguments.cpu else time.perf_counter
    curve: dict[int, dict[str, Cell]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = arguments.cache or Path(folder)
        for size in sorted(arguments.sizes):
            with grown.store(cache, size, arguments.seed, archived.embedder(cache)) as store:
                cells = curve[size] = measure(store, open_embedder(Config()), questions, clock)
                print(f"\n{size:,} messages, {store.path.stat().st_size / 1e6:,.0f} MB")
            for name, (median, worst) in cells.items():
                print(f"  {name:16} {median:7.1f} / {worst:6.1f}", flush=True)
    if arguments.plot:
        plot(curve, arguments.plot)
    if LARGEST in curve:
        misses = missed(curve[LARGEST])
        print("\nat a million messages: " + ("; ".join(misses) or "every aim is met"))
        sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
