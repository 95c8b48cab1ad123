"""Which sessions answer a question, from four lists of hits. Pure; the weights are this one table.

| list | what is ranked | its score |
|---|---|---|
| turn | a message, by its words | BM25; what others than the user said counts OTHERS of it |
| episode | up to twelve messages together, by their words | BM25; a user's word counts USER_COLUMN |
| meaning | what a user said, and each sentence of it | cosine |
| reply | how what others said begins | cosine |

In each list a session is as good as its best hit, as a share of the best of all; a session's score is the weighted sum.
Shares, not ranks, because how far the first is ahead of the second tells how much a list is to be trusted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

TURN, EPISODE, MEANING, REPLY = "turn", "episode", "meaning", "reply"
WEIGHTS: Mapping[str, float] = {TURN: 0.45, EPISODE: 0.40, MEANING: 0.50, REPLY: 0.20}
DEPTH: Mapping[str, int] = {TURN: 400, EPISODE: 200, MEANING: 400, REPLY: 400}
OTHERS = 0.6
USER_COLUMN = 5.0
COSINE_FLOOR = 0.15  # what two texts that have nothing to do with each other reach
_COSINES = frozenset({MEANING, REPLY})


@dataclass(frozen=True)
class Hit:
    """One entry of a list. message: None where the entry is an episode, which is many."""

    session: str
    message: int | None
    score: float


def rank(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Session -> score in 0..1, best first: 1 is the best of every list that was asked."""
    return _weighted(lists, weights, lambda hit: hit.session)


def rank_messages(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float] = WEIGHTS) -> dict[int, float]:
    """The same for single messages, as far as the lists name any."""
    named = {name: [hit for hit in hits if hit.message is not None] for name, hits in lists.items()}
    return _weighted(named, weights, lambda hit: hit.message)


def _weighted(lists, weights, key):
    whole = sum(weights[name] for name in lists) or 1.0
    total = {}
    for name, hits in lists.items():
        for item, share in _shares(((key(hit), hit.score) for hit in hits), name in _COSINES).items():
            total[item] = total.get(item, 0.0) + weights[name] * share / whole
    return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


def _shares(scores: Iterable[tuple], cosine: bool) -> dict:
    """Each item's best score as a share of the best of all."""
    floor = COSINE_FLOOR if cosine else 0.0
    best: dict = {}
    for item, score in scores:
        best[item] = max(score, best.get(item, score))
    top = max(best.values(), default=0.0) - floor
    return {item: max(0.0, score - floor) / top for item, score in best.items()} if top > 0 else {}
