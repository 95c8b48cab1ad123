"""A search as a process, and in the tool server, timed: what a store costs those who ask it. Knows no aims.

Figures are kept by (store, size, way, question): way is "cold", or warm in "project" or "all"; question is "new",
"again" or "name". What has no store has its name alone.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import memories
import peers
from processes import Times, as_installed, timed
from server import Server

ALL, QUESTIONS = "all", ("new", "again", "name")
ALONE, LOADING, RIVAL = "python alone", "loading the model alone", "agentrecall-db, a name among 10,000 memories"
_LOAD_ALONE = """
import os
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import numpy, onnxruntime, tokenizers
from hippo_core.embed.minilm import MiniLm
MiniLm().load()
"""
_HIPPO = "from hippo_core.cli.entry import main; main()"
_WARMING = 5

Figures = dict[str | tuple[str, int, str, str], list[Times]]


class Place(NamedTuple):
    """A store to be searched. store: what it holds. project: the name of one of its projects. name: to look for."""

    store: str
    size: int
    home: Path
    project: str
    name: str
    questions: list[str]

    @property
    def archive(self) -> bool:
        return self.store == "archive"


def warm(place: Place) -> Figures:
    """In the tool server, each kind of question one after the other, in a project and in all."""
    figures: Figures = {}
    tool = "archive_search" if place.archive else "memory_search"
    server = Server(place.home, memories.project_of(place.home, place.project))
    server.initialize()
    server.request("tools/list")  # as the client does; the model is loaded behind it
    for number in range(_WARMING):  # reads the model, and what of the store was not in the system's file cache
        for everywhere in (False, True):
            server.timed(
                tool, query=f"{place.questions[number % len(place.questions)]} {number}", everywhere=everywhere
            )
    for way in ("project", ALL):
        _forget_questions(place)
        kinds = {"new": place.questions, "again": place.questions, "name": [place.name] * len(place.questions)}
        for kind, asked in kinds.items():
            times = [server.timed(tool, query=question, everywhere=way == ALL) for question in asked]
            figures[place.store, place.size, way, kind] = times
    server.stop()
    return figures


def cold(places: Sequence[Place], runs: int, scratch: Path, rival: list[str] | None) -> Figures:
    """Each kind of process in turn, so that all meet the same machine."""
    python = [sys.executable, "-c"]
    figures: Figures = {}
    for run in range(-1, runs):  # the first round only warms the file cache
        alone = as_installed(places[0].home, scratch)
        processes: list[tuple[str | tuple[str, int, str, str], list[str], Mapping[str, str]]] = [
            (ALONE, [*python, "pass"], alone),
            (LOADING, [*python, _LOAD_ALONE], alone),
        ]
        if rival is not None:
            processes.append((RIVAL, rival, peers.alone(scratch)))
        for place in places:
            _forget_questions(place)
            search = [*python, _HIPPO, "archive" if place.archive else "recall", "--all"]
            question = place.questions[run % len(place.questions)]
            for kind, asked in (("new", question), ("again", question), ("name", place.name)):
                environment = as_installed(place.home, scratch)
                processes.append(((place.store, place.size, "cold", kind), [*search, asked], environment))
        for key, command, environment in processes:
            took = timed(command, environment, scratch)
            if run >= 0:
                figures.setdefault(key, []).append(took)
    return figures


def milliseconds(times: Sequence[Times], cpu: bool) -> list[float]:
    return [1000 * took[cpu] for took in times]


def shown(times: Sequence[Times], cpu: bool) -> str:
    """Median / worst."""
    taken = milliseconds(times, cpu)
    return f"{statistics.median(taken):.1f} / {max(taken):.1f}"


def _forget_questions(place: Place) -> None:
    """Else they were embedded by an earlier run; a server forgets with the file."""
    (place.home / "queries.cache").unlink(missing_ok=True)
