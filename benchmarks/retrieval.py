#!/usr/bin/env python3
"""How well the archive and the memories are searched, on the sets that HIPPO_BENCH_DATA names.

    HIPPO_BENCH_DATA=DIR python benchmarks/retrieval.py [SET ...] [--cache DIR] [--runs DIR] [--explain]

precisionmembench is asked as typed memories, in the scopes of each question, by the pipeline that `hippo recall` and
`memory_search` call: how it ranks, and how many of the set's rules hold (precision.py); --explain prints each case that
fails.

Of the other sets every line of a corpus is an archived message. First the search as `hippo archive` and
`archive_search` do it, silence and all, beside a keyword floor (FTS5, Porter, OR of all words), the vectors alone and
plain reciprocal rank fusion (60) of the two; then what cross-validation gives: five folds by a hash of the question's
id, the tuning chosen on the other four, one for all sets. In brackets the 95 % interval of a bootstrap over questions.
A session's best turn speaks for it. --cache keeps stores and vectors; embedding the large set anew takes half an hour.
--runs writes files for score.py, of the last line of each table. Exits with 1 when a published figure is lost
(published.py).
"""

import argparse
import hashlib
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import archived  # noqa: E402
import numpy  # noqa: E402
import precision  # noqa: E402
import published  # noqa: E402
import searches  # noqa: E402
import sets  # noqa: E402

from hippo_core.embed.base import Embedder  # noqa: E402
from hippo_core.recall.archive import Search, read_archive_query, search_archive  # noqa: E402
from hippo_core.recall.query import read_query  # noqa: E402
from hippo_core.recall.sessions import EPISODE, MEANING, REPLY, TURN, session_shares  # noqa: E402
from hippo_core.recall.timed import leaning  # noqa: E402
from hippo_core.recall.weights import WEIGHTS, Weights  # noqa: E402
from hippo_core.recall.when import When  # noqa: E402
from hippo_core.store import Store  # noqa: E402

SETS = ("longmemeval", "memaware", "devmembench", precision.NAME)
MEASURES = ("any@5", "R@5", "R@10", "MRR")
DEPTH, FOLDS, DRAWS = 20, 5, 2_000
USER_COLUMNS, OTHERS = (1.0, 3.0, 5.0, 8.0), (0.5, 0.6, 0.7, 1.0)
GRID = [
    WEIGHTS._replace(
        lists={TURN: turn, EPISODE: 0.40, MEANING: meaning, REPLY: reply}, others=others, user_column=column
    )
    for turn, meaning, reply, others, column in itertools.product(
        (0.30, 0.45, 0.60), (0.35, 0.50, 0.65), (0.0, 0.1, 0.2, 0.3), OTHERS, USER_COLUMNS
    )
]
WITHOUT = {
    "turn": {TURN: 0.0},
    "episode": {EPISODE: 0.0},
    "meaning": {MEANING: 0.0},
    "reply": {REPLY: 0.0},
    "both keyword lists": {TURN: 0.0, EPISODE: 0.0},
}

Scores = list[dict[str, float]]  # one for each question

Ranking = Callable[[str, float | None], list[str]]  # question, when it is asked -> sessions, best first


class Heard:
    """What each list says of each session to one question, by the list's name and the setting that it depends on."""

    def __init__(
        self,
        sessions: Sequence[str],
        shares: Mapping[tuple[str, float | None], Mapping[str, float]],
        when: When | None,
        times: Mapping[str, tuple[float, ...]],
    ):
        self._sessions, self._when, self._times = sessions, when, times
        self._shares = {
            key: numpy.array([share.get(session, 0.0) for session in sessions]) for key, share in shares.items()
        }

    def ranking(self, tuning: Weights) -> list[str]:
        """As `sessions.total` and the search rank, for all sessions at once: there are very many tunings."""
        scores = sum(tuning.lists[name] * self._shares[name, setting] for name, setting in _settings(tuning).items())
        if self._when is not None:
            leant = leaning(self._when, dict(zip(self._sessions, scores.tolist(), strict=True)), self._times)
            scores = numpy.array(list(leant.values()))
        best = numpy.argsort(-scores, kind="stable")[:DEPTH]
        return [self._sessions[place] for place in best if scores[place] > 0]


def fold(query_id: str) -> int:
    return int(hashlib.sha256(query_id.encode()).hexdigest(), 16) % FOLDS


class Measured:
    """One set with its store, and what the search's lists say to each of its questions."""

    def __init__(self, name: str, store: Store, embedder: Embedder):
        self.name, self._store, self._embedder = name, store, embedder
        self.queries = archived.queries(name)
        self.folds = [fold(query["id"]) for query in self.queries]
        self._score = sets.scorer()
        self._heard = [self._listen(query["text"], archived.asked_at(query)) for query in self.queries]

    def scores(self, rankings: Sequence[Sequence[str]]) -> Scores:
        pairs = zip(self.queries, rankings, strict=True)
        return [self._score(list(ranking), query["evidence"]) for query, ranking in pairs]

    def tuned(self, tuning: Weights) -> Scores:
        """What the ordering alone gives, without silence."""
        return self.scores([heard.ranking(tuning) for heard in self._heard])

    def _listen(self, text: str, now: float | None) -> "Heard":
        asked = read_archive_query(text, now)
        search = Search(self._store, asked, None)
        search.by_meaning(self._embedder)
        shares = {(name, None): session_shares(name, search.lists.get(name, ())) for name in (MEANING, REPLY)}
        for column in USER_COLUMNS:
            by_words = Search(self._store, asked, None, weights=WEIGHTS._replace(user_column=column))
            by_words.by_words()
            shares[EPISODE, column] = session_shares(EPISODE, by_words.lists[EPISODE])
        for others in OTHERS:
            shares[TURN, others] = session_shares(TURN, by_words.lists[TURN], WEIGHTS._replace(others=others))
        sessions = sorted({session for share in shares.values() for session in share})
        search.lists |= by_words.lists
        return Heard(sessions, shares, search.when, search.session_times(sessions) if search.when else {})

    def rankings(self) -> dict[str, Ranking]:
        """The search as it is, and what it is compared with."""
        store, embedder = self._store, self._embedder
        floor = archived.KeywordFloor(self.name)

        def keywords(text: str, now: float | None) -> list[str]:
            return floor(text)

        def vectors(text: str, now: float | None) -> list[str]:
            search = Search(store, read_query(text), None)
            search.by_meaning(embedder)
            hits = sorted((hit for found in search.lists.values() for hit in found), key=lambda hit: -hit.score)
            return list(dict.fromkeys(hit.session for hit in hits))

        def plain_fusion(text: str, now: float | None) -> list[str]:
            scores: dict[str, float] = {}
            for ranked in (floor(text), vectors(text, now)):
                for place, session in enumerate(ranked, 1):
                    scores[session] = scores.get(session, 0.0) + 1 / (60 + place)
            return sorted(scores, key=lambda session: -scores[session])

        def search(searcher: Embedder | None) -> Ranking:
            def sessions(text: str, now: float | None) -> list[str]:
                found = search_archive(store, text, scopes=None, embedder=searcher, k=DEPTH, now=now)
                return list(dict.fromkeys(hit.message.session_id for hit in found.hits))

            return sessions

        return {
            "keyword floor": keywords,
            "vectors alone": vectors,
            "plain fusion": plain_fusion,
            "search, no vectors": search(None),
            "search": search(embedder),
        }


def compare(part: Measured, runs: Path | None) -> dict[published.Key, float]:
    found = {}
    print(f"\n{part.name}: {len(part.queries)} questions, {archived.size(part.name)}")
    for name, ranking in part.rankings().items():
        started = time.perf_counter()
        rankings = [ranking(query["text"], archived.asked_at(query)) for query in part.queries]
        took = (time.perf_counter() - started) * 1000 / len(rankings)
        silent = sum(not ranking for ranking in rankings)
        scores = part.scores(rankings)
        print(f"  {name:20s} {_line(scores)}  {took:4.0f} ms  silent {silent}")
        found |= {(part.name, f"{name}, {measure}"): _mean(scores, measure) for measure in MEASURES}
    write(runs, part.name, {query["id"]: ranking for query, ranking in zip(part.queries, rankings, strict=True)})
    return found


def compare_typed(embedder: Embedder, folder: Path, runs: Path | None, explain: bool) -> dict[published.Key, float]:
    """precisionmembench: ranking, and rules."""
    every, score, found = list(precision.cases()), sets.scorer(), {}
    answered = [case for case in every if case.evidence]
    print(f"\n{precision.NAME}: {len(answered)} questions, as typed memories")
    shown = precision.answers(every, folder, embedder)
    for name, by_case in shown.items():
        scores = [score(by_case[case.name], case.evidence) for case in answered]
        print(f"  {name:20s} {_line(scores)}")
        found |= {(precision.NAME, f"{name}, {measure}"): _mean(scores, measure) for measure in MEASURES}
    write(runs, precision.NAME, shown[searches.RECALL])
    for name in (searches.BY_WORDS, searches.RECALL):
        print(f"\nrules of {precision.NAME}, {name}")
        counts = precision.report(precision.verdicts(every, shown[name]), explain)
        found |= {(precision.NAME, f"{name}, {rule}"): count for rule, count in counts.items()}
    return found


def write(runs: Path | None, name: str, rankings: Mapping[str, Sequence[str]]) -> None:
    """A run as score.py reads it."""
    if runs:
        lines = [json.dumps({"id": query, "ranked": list(ranking)}) + "\n" for query, ranking in rankings.items()]
        runs.mkdir(parents=True, exist_ok=True)
        (runs / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def ablate(parts: Sequence[Measured]) -> None:
    print("\nordering without a list, whole sets (any@5 / R@5)")
    tunings = {"nothing left out": WEIGHTS, "equal speakers": WEIGHTS._replace(others=1.0, user_column=1.0)}
    for name, changes in WITHOUT.items():
        tunings[name] = WEIGHTS._replace(lists={**WEIGHTS.lists, **changes})
    for name, tuning in tunings.items():
        cells = [f"{_mean(s, 'any@5'):5.1f} / {_mean(s, 'R@5'):4.1f}" for s in (part.tuned(tuning) for part in parts)]
        print(f"  {name:20s} " + "   ".join(cells))


def cross_validate(parts: Sequence[Measured]) -> dict[published.Key, float]:
    """Each fold's questions, answered by the tuning that is best on the other folds of all sets."""
    results = [[part.tuned(tuning) for part in parts] for tuning in GRID]
    goals = [[[goal(score) for score in scores] for scores in result] for result in results]
    held: list[list[dict[str, float] | None]] = [[None] * len(part.queries) for part in parts]
    print(f"\nheld-out folds, {len(GRID)} tunings")
    for number in range(FOLDS):
        best = max(range(len(GRID)), key=lambda i: _outside(goals[i], parts, number))
        print(f"  fold {number}: {_shown(GRID[best])}")
        for place, part in enumerate(parts):
            for i, own in enumerate(part.folds):
                if own == number:
                    held[place][i] = results[best][place][i]
    found = {}
    for place, part in enumerate(parts):
        categories = [query["category"] for query in part.queries]
        for category in (None, *sorted(set(categories))):
            chosen = [s for s, c in zip(held[place], categories, strict=True) if category in (None, c)]
            print(f"  {part.name:12s} {category or 'all':26s} n={len(chosen):3d} {_line(chosen, intervals=True)}")
            wanted = MEASURES if category is None else ("R@5",)
            found |= {(published.HELD_OUT, f"{part.name} {category or 'all'}, {m}"): _mean(chosen, m) for m in wanted}
    return found


def _settings(tuning: Weights) -> dict[str, float | None]:
    return {TURN: tuning.others, EPISODE: tuning.user_column, MEANING: None, REPLY: None}


def goal(score: Mapping[str, float]) -> float:
    return (score["any@5"] + score["R@5"] + score["MRR"]) / 3


def _outside(goals: Sequence[Sequence[float]], parts: Sequence[Measured], number: int) -> float:
    means = [
        statistics.fmean(goal for goal, own in zip(values, part.folds, strict=True) if own != number)
        for values, part in zip(goals, parts, strict=True)
    ]
    return statistics.fmean(means)


def _mean(scores: Scores, measure: str) -> float:
    return 100 * statistics.fmean(score[measure] for score in scores)


def _line(scores: Scores, intervals: bool = False) -> str:
    cells = []
    for measure in MEASURES:
        cell = f"{measure} {_mean(scores, measure):5.1f}"
        if intervals and measure in MEASURES[:2]:
            low, high = _interval([score[measure] for score in scores])
            cell += f" [{low:.1f}, {high:.1f}]"
        cells.append(cell)
    return "  ".join(cells)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    chance = numpy.random.default_rng(0)
    means = numpy.asarray(values)[chance.integers(0, len(values), (DRAWS, len(values)))].mean(1)
    return tuple(100 * numpy.percentile(means, (2.5, 97.5)))


def _shown(tuning: Weights) -> str:
    weights = " ".join(f"{name} {weight:.2f}" for name, weight in tuning.lists.items())
    return f"{weights} others {tuning.others} user's column {tuning.user_column}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    parser.add_argument("--cache", type=Path, help="keep stores and vectors here for the next run")
    parser.add_argument("--runs", type=Path, help="write runs for score.py here")
    parser.add_argument("--explain", action="store_true", help="print each case of precisionmembench that fails")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = arguments.cache or Path(folder)
        embedder = archived.embedder(cache)
        parts, found = [], {}
        for name in arguments.sets:
            if name == precision.NAME:
                found |= compare_typed(embedder, Path(folder), arguments.runs, arguments.explain)
            else:
                parts.append(Measured(name, archived.store(name, embedder, cache), embedder))
                found |= compare(parts[-1], arguments.runs)
        if parts:
            ablate(parts)
            held_out = cross_validate(parts)
            if set(SETS) <= set(arguments.sets):  # with fewer sets other tunings are chosen
                found |= held_out
    return published.held("retrieval", found)


if __name__ == "__main__":
    sys.exit(main())
