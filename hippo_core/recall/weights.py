"""Every number that recall weighs or cuts off by, in one table: what each does, and what chose it. Pure data.

Stages take the table as an argument, so that a benchmark can ask what another one would give: `WEIGHTS._replace(..)`.
Knows no stage; how many candidates one looks at is the stage's own. A reranker has no weight: it gives an order alone.

Chosen by: (calibrate), (retrieval), (silence), (proactive), (curated), (precision): the script of that name in
benchmarks/, with its figures in docs/recall.md and docs/benchmarks.md. (given): decided, because no set tells.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Logistic(NamedTuple):
    """Coefficients: the chance that a memory answers is the logistic function of their sum, each times its measure."""

    bias: float
    coverage: float
    fused: float
    cosine: float = 0.0


class Weights(NamedTuple):
    # Fusion of the channels that found memories (fuse.py): weight / (rank_constant + rank)
    channels: Mapping[str, float] = MappingProxyType(
        {
            "exact": 0.3,  # literal spelling; a product's name is one as well, and is in very many memories (curated)
            "words": 1.0,  # BM25 (curated)
            "meaning": 1.0,  # cosine (curated)
            "time": 0.3,  # lies in the time that is asked for (given)
        }
    )
    rank_constant: int = 10  # the paper has 60, made for lists a thousand deep (curated)

    # Relevance: whether a memory answers (relevance.py)
    with_vectors: Logistic = Logistic(bias=-6.27, coverage=2.32, fused=1.5, cosine=6.98)  # (calibrate; fused given)
    keywords_only: Logistic = Logistic(bias=-4.72, coverage=4.04, fused=1.5)  # where there is no vector (the same)
    small_store: int = 1_000  # fewer items tell too little of how common a word is: of three, one makes a third (given)

    # Silence: nothing is shown unless the best reaches the first; then all that reach both others are
    best_at_least: float = 0.06  # (calibrate)
    archive_best_at_least: float = 0.08  # the same in the archive, where meaning was asked (silence)
    floor: float = 0.03  # (calibrate)
    share_of_best: float = 0.1  # (calibrate)
    named_at_least: float = 0.01  # from here on what the question calls by name is shown beside the best (precision)
    named_alone_at_least: float = 0.045  # and from here on alone (precision)

    # Beside the point (aim.py): from which share of the best named one's relevance another is shown beside it
    beside_with_own_words: float = 0.27  # it holds a word of the question that none of the named holds (precision)
    beside_without: float = 0.4  # it holds none (precision)
    beside_same_words: float = 0.8  # of the relevance of a named one that holds all it holds (precision)
    beside_complete: float = 0.3  # beside one that holds all of the question's words, as it does not (precision)
    nearly_best: float = 0.9  # the share of the best from which on that one counts as nearly the best (precision)
    sure: float = 0.5  # from this relevance on meaning alone speaks for it, whatever words it holds (given)

    # Times (timed.py): what a candidate keeps of its relevance
    outside: float = 0.6  # on the other side of an event, whose date is an inference (given)
    oldest: float = 0.7  # the oldest of those that compete, where the latest is asked for (given)
    rival: float = 0.5  # the share of the best relevance from which on one competes for being the latest (given)
    stands_back: float = 0.85  # what was said in the archive at another time, or is the oldest there (retrieval)
    time_alone: float = 0.5  # its relevance where nothing but a time is asked for (given)

    # The final number (score.py): relevance over recency over importance; they add up to 1
    by_relevance: float = 0.80  # (given)
    by_recency: float = 0.11  # (given)
    by_importance: float = 0.09  # (given)
    slowing: float = 1.0  # by how much longer full importance makes a half-life than half importance does (given)
    to_do: float = 1.10  # what a question about open work multiplies a task's relevance by (given)

    # Variety (diversify.py)
    alike_in_meaning: float = 0.84  # the cosine from which on two texts may say the same (curated: loses nothing)
    alike_in_words: float = 0.6  # the same without vectors: the share of their words in both (given)
    double_loses: float = 1 / 3  # what a perfect double of something chosen loses of its score (curated)

    # The archive (sessions.py): a session is as good as the weighted sum of its shares of the best in each list
    lists: Mapping[str, float] = MappingProxyType(
        {
            "turn": 0.45,  # a message by its words (retrieval)
            "episode": 0.40,  # up to twelve messages together, by their words (retrieval)
            "meaning": 0.50,  # what the user said, whole and by the sentence (retrieval)
            "reply": 0.20,  # what others said, in pieces (retrieval)
        }
    )
    others: float = 0.6  # what a turn's score counts that is not the user's (retrieval)
    user_column: float = 5.0  # what a user's word counts in an episode (retrieval)
    cosine_floor: float = 0.15  # what two texts reach that have nothing to do with each other (retrieval)
    spelled_out: float = 1.5  # on top of a session's sum, which is 1 at most, where it holds what was quoted (given)
    ranked_rows: int = 8_000  # how many messages may match and still be ranked by FTS5; fewer lose answers (retrieval)

    # Unasked (proactive/notes.py): the relevance from which on a memory is shown that nobody asked for
    confident: float = 0.6  # nine of ten are right (proactive)
    confident_by_words: float = 0.5  # without vectors: more than four of five (proactive)


WEIGHTS = Weights()
