"""Search in the raw archive: what was said, word for word and by meaning. Reads only.

The best sessions are found first, from the lists in recall/sessions.py, and each is shown by its best turn. Whatever is
missing (vectors, an older archive's episodes) leaves its list out and a note. Curated memories are not its concern.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from hippo_core import clock
from hippo_core.embed.base import Embedder, foresees
from hippo_core.errors import VectorsUnavailableError
from hippo_core.model.message import Role
from hippo_core.recall.as_spelled import AsSpelled, as_spelled, spellings
from hippo_core.recall.frames import archive_words
from hippo_core.recall.fuse import reciprocal_ranks
from hippo_core.recall.query import Query, read_query
from hippo_core.recall.relevance import Evidence, coverage, relevance, worth_showing
from hippo_core.recall.sessions import (
    DEPTH,
    EPISODE,
    MEANING,
    REPLY,
    TURN,
    Hit,
    rank,
    rank_messages,
)
from hippo_core.recall.timed import leaning, remark, resolved
from hippo_core.recall.weights import WEIGHTS, Weights
from hippo_core.store import Store
from hippo_core.store.archive import Archived
from hippo_core.store.frequencies import LISTED

AROUND = 1  # turns before and after a hit, where nobody says how many
JUDGED = 20  # sessions whose relevance is worked out, to know whether the archive answers at all
_MOST_TIMELY_WORDS = 8


class ArchiveHit(NamedTuple):
    """message: the hit. score: 0..1. title, started_at: of its session. before, after: the turns beside it, in order.

    words: that were looked for; a long message is shown where it holds them.
    """

    message: Archived
    score: float
    scope_label: str
    title: str | None
    started_at: float | None
    before: Sequence[Archived]
    after: Sequence[Archived]
    words: tuple[str, ...]


class ArchiveFound(NamedTuple):
    """hits: best first. notes: what could not be asked, or that there is nothing to ask."""

    hits: Sequence[ArchiveHit]
    notes: Sequence[str] = ()


def search_archive(
    store: Store,
    query: str,
    *,
    scopes: Sequence[str] | None,
    embedder: Embedder | None = None,
    meaning: bool = True,
    k: int = 5,
    around: int = AROUND,
    withheld: bool = False,
    now: float | None = None,
) -> ArchiveFound:
    """The best turns of the sessions that answer `query`, at most k, each with `around` turns before and after it.

    No turn comes twice. One hit a session, unless fewer than k sessions answer. embedder: None searches by words alone.
    meaning: whether the settings have it searched by that. withheld: also what the guard keeps from the model. now:
    seconds, for the times that the question names. UsageError for an empty query.
    """
    asked = read_archive_query(query, clock.now() if now is None else now)
    if asked.empty:
        return ArchiveFound([])
    with store.reading():
        if not store.archive.projects():
            return ArchiveFound([], ["nothing is archived yet; hippo ingest reads transcripts"])
        search = Search(store, asked, scopes, withheld)
        if asked.time_alone:
            chosen = search.all_of_the_time(k)
        else:
            if meaning:
                search.begin(embedder)
            search.by_words()
            if meaning:
                search.by_meaning(embedder)
            else:
                search.notes.append("meaning is switched off (archive_meaning: false): keywords only")
            chosen = search.choose(k)
        return ArchiveFound(_hits(store, chosen, around, search.terms), search.notes)


def read_archive_query(query: str, now: float | None) -> Query:
    """As `read_query`, but a time stays in the question: whoever spoke of "the run in March" may have said March.

    In a long prompt a time is seldom that of what is looked for, but of what is to be done.
    """
    asked = read_query(query, now)
    if asked.when is None or asked.time_alone:
        return asked
    return read_query(query)._replace(when=asked.when if len(asked.words) <= _MOST_TIMELY_WORDS else None)


def around_message(store: Store, number: int, count: int) -> ArchiveHit:
    """One message with its neighbours; NotFoundError when there is none."""
    with store.reading():
        store.archive.get(number)
        (hit,) = _hits(store, [(number, 1.0)], count)
        return hit


class Search:
    """One question on its way through the archive. lists: what each search gave; notes: what could not be asked.

    terms: the words that are looked for. when: the time that it asks about. as_spelled: what holds its quotations and
    names. evidence: what speaks for each message that might be shown.
    """

    def __init__(
        self,
        store: Store,
        asked: Query,
        scopes: Sequence[str] | None,
        withheld: bool = False,
        weights: Weights = WEIGHTS,
    ):
        self._store, self._asked, self._scopes, self._withheld = store, asked, scopes, withheld
        self._weights = weights
        self._spellings, self._only_spelled = spellings(asked)
        self.terms = tuple(dict.fromkeys([*archive_words(asked), *map(str.lower, self._spellings)]))
        self.when, self._dated = resolved(store, asked.when, scopes) if asked.when else (None, None)
        timely = self.when.phrase.lower().split() if self.when and not self.when.event else []
        self._asking = tuple(term for term in self.terms if term not in timely)  # few say the month they speak in
        self.lists: dict[str, list[Hit]] = {}
        self.as_spelled = AsSpelled({}, False)
        self.evidence: dict[int, Evidence] = {}
        self._model: str | None = None  # that was asked for meanings
        self.notes: list[str] = []

    def begin(self, embedder: Embedder | None) -> None:
        """Let a model that is at hand begin on the question, while its words are looked up."""
        if foresees(embedder) and not self._only_spelled and self._store.message_vectors.has(embedder.fingerprint):
            embedder.expect(self._asked.text)

    def by_words(self) -> None:
        weights, dated = self._weights, self.when is not None and self.when.dated
        listed = LISTED // 2 if dated or self._spellings else LISTED  # the rest is for what was said then, or so
        plan = self._store.frequencies.plan(self.terms, self._scopes, weights.ranked_rows, listed)
        turns = self._store.message_words.keyword_hits(
            plan.words, scopes=self._scopes, limit=DEPTH[TURN], since=plan.since, share=plan.share
        )
        episodes = self._store.episodes.keyword_hits(
            plan.words,
            scopes=self._scopes,
            limit=DEPTH[EPISODE],
            user_weight=weights.user_column,
            since=plan.since,
            share=plan.share,
        )
        if dated:
            # A busy year must not hide a quiet week.
            then, episodes_then = self._store.said_when.keyword_hits(
                self._asking or self.terms,
                self.when.span,
                scopes=self._scopes,
                limits=(DEPTH[TURN] // 2, DEPTH[EPISODE] // 2),
                user_weight=weights.user_column,
            )
            turns, episodes = then + turns, episodes_then + episodes  # of spellings the first are compared
        self.lists[TURN] = self._placed(turns)
        self.lists[EPISODE] = [Hit(session, None, score) for session, score in episodes]
        best = [hit.message for hit in self.lists[TURN]]
        self.as_spelled = as_spelled(self._store, self._spellings, best, self._scopes, self._withheld)
        if self._store.episodes.behind():
            self.notes.append("older sessions are still being indexed")

    def by_meaning(self, embedder: Embedder | None) -> None:
        vectors = self._store.message_vectors
        if self._only_spelled:
            pass  # a spelling has no meaning to look for, and loading the model takes longer than all the rest
        elif embedder is None:
            self.notes.append("no embedding model: keywords only")
        elif not vectors.has(embedder.fingerprint):
            self.notes.append("nothing that was said is embedded by this model yet: keywords only")
        else:
            try:
                question = embedder.embed([self._asked.text])[0].tobytes()
            except VectorsUnavailableError as error:
                self.notes.append(f"keywords only: {error}")
                return
            for kind in (MEANING, REPLY):
                near = vectors.nearest(embedder.fingerprint, kind, question, scopes=self._scopes, limit=DEPTH[kind])
                self.lists[kind] = self._placed(near)
            self._model = embedder.fingerprint

    def choose(self, k: int) -> list[tuple[int, float]]:
        """(message, score) of what is shown, at most k, best first."""
        scores = self.scores(k)
        worth = worth_showing(scores, self._weights) if max(scores.values(), default=0.0) >= self._least else set()
        shown = [(number, score) for number, score in scores.items() if number in worth][:k]
        self._say_when([number for number, _ in shown])
        return shown

    def scores(self, k: int) -> dict[int, float]:
        """What might be shown, best first: a turn a session, then further turns while there are fewer than k."""
        ranked, messages = self._leaning(rank(self.lists, self._weights), rank_messages(self.lists, self._weights))
        # Whoever quotes wants the quotation, however well the rest fits.
        first, held = self._weights.spelled_out, self.as_spelled.sessions
        ranked |= {session: first + ranked.get(session, 0.0) for session in set(held.values())}
        messages |= {number: first + messages.get(number, 0.0) for number in held}
        newest = {session: number for number, session in sorted(held.items())}
        order = sorted(ranked, key=lambda one: (-ranked[one], -newest.get(one, 0), one))[: max(k, JUDGED)]
        turns = self._best_turns(order, messages)
        if not turns:
            return {}
        further = self._further_turns(turns, messages) if len(turns) < k else []
        standing = {number: ranked[session] for session, number in turns.items()}
        standing |= reciprocal_ranks(
            {"further": [(n, messages[n]) for n in further]}, {"further": 1.0}, self._weights.rank_constant
        )
        self.evidence = self._weigh(standing)
        relevant = {number: relevance(seen, self._weights) for number, seen in self.evidence.items()}
        if self.as_spelled.complete:  # however common its words are, and whatever else was asked
            relevant |= {number: max(relevant[number], self._least) for number in held.keys() & relevant.keys()}
        best, top = max(relevant[number] for number in turns.values()), max(ranked[session] for session in turns)
        # The share first: the best one's is 1, and no rounding takes it below what it has to reach.
        scores = {number: best * (ranked[session] / top) for session, number in turns.items()}
        least = min(scores.values())  # further turns come after
        return scores | {number: min(relevant[number], least) for number in further}

    def all_of_the_time(self, k: int) -> list[tuple[int, float]]:
        """How each session that talked at the time began to, the latest first."""
        openings = self._store.said_when.openings(self.when.span, scopes=self._scopes, limit=k)
        self._say_when(openings)
        return [(number, self._weights.time_alone) for number in openings]

    def session_times(self, sessions: Iterable[str]) -> dict[str, tuple[float, ...]]:
        """When each of these began, and when those of its messages were said that a list holds."""
        began = self._store.said_when.began(list(sessions))
        times = {session: [began[session]] if session in began else [] for session in sessions}
        session_of = self._session_of()
        for number, at in self._store.said_when.times(list(session_of)).items():
            if session_of[number] in times:
                times[session_of[number]].append(at)
        return {session: tuple(moments) for session, moments in times.items()}

    # -- inside ------------------------------------------------------------------------------------------------------

    @property
    def _least(self) -> float:
        """The relevance that the best has to reach."""
        weights = self._weights
        return weights.archive_best_at_least if MEANING in self.lists else weights.best_at_least

    def _placed(self, hits: Sequence[tuple[int, float]]) -> list[Hit]:
        """Message hits with their sessions; without what is withheld."""
        places = self._store.archive.places([number for number, _ in hits], withheld=self._withheld)
        return [
            Hit(places[number][0], number, score, places[number][1] is Role.USER)
            for number, score in hits
            if number in places
        ]

    def _leaning(
        self, ranked: dict[str, float], messages: dict[int, float]
    ) -> tuple[dict[str, float], dict[int, float]]:
        """Sessions and messages under the time that was asked for."""
        if self.when is None:
            return ranked, messages
        said = self._store.said_when.times(list(messages))
        times = {number: (said[number],) if number in said else () for number in messages}
        by_session = leaning(self.when, ranked, self.session_times(ranked), self._weights)
        return by_session, leaning(self.when, messages, times, self._weights)

    def _say_when(self, shown: Sequence[int]) -> None:
        """Tell in a note what was made of the time that was asked for."""
        if self.when is not None:
            times = {number: (at,) for number, at in self._store.said_when.times(shown).items()}
            self.notes += filter(None, [remark(self.when, times, self._dated, self._asked.time_alone)])

    def _best_turns(self, order: Sequence[str], messages: Mapping[int, float]) -> dict[str, int]:
        """Session -> the message that speaks for it, in the given order."""
        session_of = self._session_of()
        best: dict[str, int] = {}
        for number in sorted(messages, key=lambda number: (-messages[number], number)):
            best.setdefault(session_of[number], number)
        missing = [session for session in order if session not in best]  # known by its episodes alone
        best |= self._store.message_words.best_of_sessions(
            self.terms, missing, scopes=self._scopes, withheld=self._withheld, known=self._store.frequencies.of
        )
        return {session: best[session] for session in order if session in best}

    def _further_turns(self, turns: Mapping[str, int], messages: Mapping[int, float]) -> list[int]:
        """Other messages of the sessions that are shown, best first."""
        session_of, shown = self._session_of(), set(turns.values())
        further = [number for number in messages if session_of[number] in turns and number not in shown]
        return sorted(further, key=lambda number: (-messages[number], number))[:JUDGED]

    def _session_of(self) -> dict[int, str]:
        listed = {hit.message: hit.session for hits in self.lists.values() for hit in hits if hit.message is not None}
        return listed | self.as_spelled.sessions

    def _weigh(self, standing: Mapping[int, float]) -> dict[int, Evidence]:
        """What speaks for each of these messages. standing: its score, or its session's, among all."""
        numbers = list(standing)
        matches = self._store.message_words.word_matches(self._asking, among=numbers, known=self._store.frequencies.of)
        covered = coverage(matches, self._store.episodes.newest(), numbers, self._weights.small_store)
        cosines = {hit.message: hit.score for kind in (REPLY, MEANING) for hit in self.lists.get(kind, ())}
        # What is not embedded yet is judged by its words; else it could not reach what the best has to.
        embedded = self._store.message_vectors.embedded(self._model, numbers) if self._model else ()
        return {
            number: Evidence(
                covered[number], min(1.0, standing[number]), cosines.get(number, 0.0 if number in embedded else None)
            )
            for number in numbers
        }


def only_spelled(query: str) -> bool:
    """Whether a question is of spellings alone, and so needs no model."""
    return spellings(read_query(query))[1]


def _hits(
    store: Store, chosen: Sequence[tuple[int, float]], around: int, words: tuple[str, ...] = ()
) -> list[ArchiveHit]:
    """chosen: (message, score), best first."""
    numbers = [number for number, _ in chosen]
    messages, labels = store.archive.fetch(numbers), store.archive.projects()
    beside = _beside(store, numbers, around) if around else {}
    hits = []
    for number, score in chosen:
        message = messages[number]
        label = labels[message.scope].label if message.scope in labels else message.scope
        before, after = beside.get(number, ((), ()))
        head = store.archive.session_head(message.session_id)
        hits.append(ArchiveHit(message, score, label, *head, before, after, words))
    return hits


def _beside(store: Store, numbers: Sequence[int], around: int) -> dict[int, tuple[list[Archived], list[Archived]]]:
    """The turns beside each of these, up to the next of these; what two of them have beside them is the first one's."""
    turns, shown, beside = store.archive.beside(numbers, around), set(), {}
    for number in numbers:
        before, after = (
            [turn for turn in takewhile(lambda turn: turn.id not in turns, side) if turn.id not in shown]
            for side in (reversed(turns[number][0]), turns[number][1])
        )
        shown.update(turn.id for turn in (*before, *after))
        beside[number] = before[::-1], after
    return beside
