"""Weighted reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009). Pure: ranked lists in, scores out."""

from collections.abc import Mapping, Sequence

from hippo_core.recall.weights import WEIGHTS


def reciprocal_ranks(
    lists: Mapping[str, Sequence[tuple[int, float]]],
    weights: Mapping[str, float] = WEIGHTS.channels,
    constant: int = WEIGHTS.rank_constant,
) -> dict[int, float]:
    """Item -> sum over the lists it is in of weight / (constant + rank), as a share of the best possible; best first.

    The first of every list that was asked scores 1.
    """
    best = sum(weights[name] / (constant + 1) for name in lists)
    scores: dict[int, float] = {}
    for name, ranked in lists.items():
        for rank, (item, _) in enumerate(ranked, 1):
            scores[item] = scores.get(item, 0.0) + weights[name] / (constant + rank) / best
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
