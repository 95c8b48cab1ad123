#!/usr/bin/env python3
"""What a search costs as the store grows, memories and archive, cold and warm, and whether the aims are met.

    HIPPO_BENCH_DATA=DIR python benchmarks/scale.py [--memories 1000 10000] [--messages 1000 100000] [--questions 20]
        [--runs 11] [--cache DIR] [--cpu] [--plot FILE]

Three kinds of questions: ones that nobody has asked, so that each is embedded; the same again, which the cache of
questions answers; and a name, which its spelling settles. Warm is a search in the tool server as its client sees it,
from writing the request to reading the answer, in one project (and, of memories, what is global) and in all. Cold is
`hippo recall` or `hippo archive`, in all projects, as a process from its start to its end. Of each the median and the
worst in milliseconds. What is cold is measured in turn, as are Python alone and loading the model alone: a process that
imports NumPy, ONNX Runtime and tokenizers, opens the weights and the vocabulary, and ends. The name is also looked for
by agentrecall-db's keyword search among the same 10,000 memories, where that can be installed.

The stores are those of memories.py and grown.py; without HIPPO_BENCH_DATA there is no archive, and memories are made
up. Of the archive also what its parts cost: "words", all that is looked up by words; the same for the questions of
awkward.py, of its commonest words, of words about the planner's budgets, of spellings and of times; "meaning", both
lists of vectors without the question's own. Of memories such questions alone. --cache keeps the stores (3 GB; ten
minutes to make). --cpu: processor time, which a busy machine blurs less. --plot draws the curves.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import grown  # noqa: E402
import memories  # noqa: E402
import peers  # noqa: E402
from cold_and_warm import ALL, ALONE, LOADING, RIVAL, Figures, Place, cold, shown, warm  # noqa: E402
from parts import PLACES, Parts, of_archive, of_memories  # noqa: E402
from scale_aims import missed  # noqa: E402

from hippo_core.config import Config  # noqa: E402
from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.embed.choose import open_embedder  # noqa: E402
from hippo_core.store import Store  # noqa: E402

MEMORIES, MESSAGES = (1_000, 10_000, 100_000), (1_000, 10_000, 100_000, 1_000_000)
WITH_RIVAL = 10_000


def memory_places(options: argparse.Namespace, embedder: Embedder) -> list[Place]:
    places = []
    for size in options.memories:
        for kind in memories.KINDS if size == WITH_RIVAL else memories.KINDS[:1]:
            home = memories.kept(options.cache, kind, size, embedder)
            name = "memories" if kind == memories.REAL_WORDS else f"memories of {kind}"
            asked = memories.questions(kind)
            places.append(Place(name, size, home, memories.SUBJECTS[0], memories.NAME, asked[: options.questions]))
    return places


def message_places(options: argparse.Namespace) -> list[Place]:
    embedder = archived.embedder(options.cache)
    every = archived.queries(grown.SET)
    asked = [query["text"] for query in every[:: len(every) // options.questions][: options.questions]]
    project = grown.projects()[0].label
    return [
        Place("archive", size, grown.kept(options.cache, size, embedder), project, grown.NAME, asked)
        for size in options.messages
    ]


def measure_parts(place: Place, cpu: bool) -> Parts:
    clock = time.process_time if cpu else time.perf_counter
    with Store.open(place.home / "memory.db", readonly=True) as store:
        if place.archive:
            return of_archive(store, open_embedder(Config()), place.questions, clock)
        return of_memories(store, clock)


def rival_of(places: list[Place], cache: Path, scratch: Path) -> list[str] | None:
    """The command that asks agentrecall-db for the name, in a store of the same memories."""
    place = next((place for place in places if (place.store, place.size) == ("memories", WITH_RIVAL)), None)
    if place is None:
        return None
    with Store.open(place.home / "memory.db", readonly=True) as store:
        rows = [{"text": memory.text, "session": ""} for memory in store.memories.select()]
    try:
        return [*peers.agentrecall_of(rows, scratch / "agentrecall.db", cache, scratch), "search", place.name]
    except peers.CannotRun as error:
        print(f"agentrecall-db {error}")
        return None


def report(places: list[Place], figures: Figures, cpu: bool) -> None:
    for store in dict.fromkeys(place.store for place in places):
        print(f"\n{store}: median / worst, ms {'of processor time' if cpu else 'by the clock'}")
        print("| how many | | a new question | asked before | a name |\n|---|---|---|---|---|")
        for place in places:
            if place.store == store:
                for way, label in (("project", "warm, in a project"), (ALL, "warm"), ("cold", "cold")):
                    cells = [
                        shown(figures[place.store, place.size, way, asked], cpu) for asked in ("new", "again", "name")
                    ]
                    print(f"| {place.size:,} | {label} | {' | '.join(cells)} |")
    print()
    for name in (ALONE, LOADING, RIVAL):
        if times := figures.get(name):
            print(f"{name}: {shown(times, cpu)}")


def report_parts(measured: dict[tuple[str, int], Parts]) -> None:
    for store in dict.fromkeys(store for store, _ in measured):
        sizes = {size: parts for (name, size), parts in measured.items() if name == store}
        names = list(dict.fromkeys(name for parts in sizes.values() for name in parts[ALL]))
        print(f"\n{store}, its parts\n| how many | | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
        for size, parts in sizes.items():
            for where, cells in parts.items():
                shares = (f"{cells[name][0]:.1f} / {cells[name][1]:.1f}" if name in cells else "" for name in names)
                print(f"| {size:,} | {PLACES[where]} | {' | '.join(shares)} |")
    print()


def main() -> int:
    options = arguments()
    options.cache.mkdir(parents=True, exist_ok=True)
    places = memory_places(options, open_embedder(Config()))
    if memories.has_sets():
        places += message_places(options)
    figures: Figures = {}
    parts: dict[tuple[str, int], Parts] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for place in places:
            figures |= warm(place)
            parts[place.store, place.size] = measure_parts(place, options.cpu)
        figures |= cold(places, options.runs, Path(folder), rival_of(places, options.cache, Path(folder)))
    report(places, figures, options.cpu)
    report_parts(parts)
    if options.plot:
        from scale_plot import plot

        plot(figures, options.plot, options.cpu)
    misses = missed(figures, parts, options.cpu)
    print("\n" + ("\n".join(misses) or "every aim that was measured is met"))
    return 1 if misses else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, nargs="*", default=list(MEMORIES))
    parser.add_argument("--messages", type=int, nargs="*", default=list(MESSAGES))
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--runs", type=int, default=11, help="cold processes of each kind")
    parser.add_argument("--cache", type=Path, default=peers.CACHE, help="where stores and peers are kept")
    parser.add_argument("--cpu", action="store_true", help="report processor time")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the curves into this SVG")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
