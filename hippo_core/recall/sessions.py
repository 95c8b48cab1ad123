"""Which sessions answer a question, from four lists of hits. Pure; their weights are in weights.py.

| list | what is ranked | its score |
|---|---|---|
| turn | a message, by its words | BM25; what others than the user said counts `others` of it |
| episode | up to twelve messages together, by their words | BM25; a user's word counts `user_column` |
| meaning | what a user said, and each sentence of it | cosine |
| reply | what others said, how it begins and the rest in pieces | cosine |

In each list a session is as good as its best hit, as a share of the best of all; a session's score is the weighted sum.
Shares, not ranks, because how far the first is ahead of the second tells how much a list is to be trusted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from hippo_core.recall.weights import WEIGHTS, Weights

T = TypeVar("T", str, int)

TURN, EPISODE, MEANING, REPLY = "turn", "episode", "meaning", "reply"
DEPTH: Mapping[str, int] = {TURN: 400, EPISODE: 200, MEANING: 400, REPLY: 400}
_COSINES = frozenset({MEANING, REPLY})


class Hit(NamedTuple):
    """One entry of a list. message: None where it is an episode, which is many. by_user: whether the user said it."""

    session: str
    message: int | None
    score: float
    by_user: bool = True


def rank(lists: Mapping[str, Sequence[Hit]], weights: Weights = WEIGHTS) -> dict[str, float]:
    """Session -> score in 0..1, best first: 1 is the best of every list that was asked."""
    shares = {name: session_shares(name, hits, weights) for name, hits in lists.items()}
    return total(shares, weights.lists)


def rank_messages(lists: Mapping[str, Sequence[Hit]], weights: Weights = WEIGHTS) -> dict[int, float]:
    """The same for single messages, as far as the lists name any."""
    shares = {
        name: _shares(name, ((hit.message, hit) for hit in hits if hit.message is not None), weights)
        for name, hits in lists.items()
    }
    return total(shares, weights.lists)


def session_shares(name: str, hits: Iterable[Hit], weights: Weights = WEIGHTS) -> dict[str, float]:
    """What the list `name` says of each session in it: its best hit as a share of the best of all."""
    return _shares(name, ((hit.session, hit) for hit in hits), weights)


def total(shares: Mapping[str, Mapping[T, float]], weights: Mapping[str, float]) -> dict[T, float]:
    """The lists' shares as one ranking, best first."""
    whole = sum(weights[name] for name in shares) or 1.0
    summed: dict[T, float] = {}
    for name, items in shares.items():
        weight = weights[name] / whole
        for item, share in items.items():
            summed[item] = summed.get(item, 0.0) + weight * share
    return dict(sorted(summed.items(), key=lambda pair: (-pair[1], pair[0])))


def _shares(name: str, hits: Iterable[tuple[T, Hit]], weights: Weights) -> dict[T, float]:
    floor = weights.cosine_floor if name in _COSINES else 0.0
    factor = weights.others if name == TURN else 1.0
    best: dict[T, float] = {}
    for item, hit in hits:
        score = hit.score if hit.by_user else hit.score * factor
        best[item] = max(score, best.get(item, score))
    top = max(best.values(), default=0.0) - floor
    return {item: max(0.0, score - floor) / top for item, score in best.items()} if top > 0 else {}
