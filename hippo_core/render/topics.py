"""The topic index: what a project's memories are about, in a few words, each with its age. No model, words alone.

A topic is a word or a pair of neighbouring words that several memories share, weighed by how many do.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from hippo_core.model.memory import Memory
from hippo_core.recall.stopwords import STOP_WORDS

_WORD = re.compile(r"[^\W\d_](?:[\w./-]*\w)?")
_SHORTEST, _LONGEST = 3, 30
_LEAST_MEMORIES = 2
_MOST_SHARED = 0.5  # of all memories; what more of them hold is the project itself, not a topic
_PAIR, _NAME = 1.8, 1.3  # a pair says more than a word, and a name (file, flag, identifier) more than a plain word

# Everyday words of the trade, which every project shares.
_TRADE = frozenset(
    """
    add added adding adds agent all answer approach assistant away back bit branch broken bug bugs build change changed
    changes changing check checked checking code command commands commit complete create created current default
    different directory doc docs done edit edited error errors example exists expected fail failed failing fails fix
    fixed fixes fixing folder found full function functions happen happens help idea implement implemented import
    include instead issue issues line lines list look looking main matter mean means method missing move moved name
    need needed needs new note number old open output part pass passed passes passing path point possible problem
    project question read ready reason remove removed repo repository result results return returns right run running
    runs script second seconds session set show shows simple start started state step stop string sub support task
    tell test tested testing tests text time times tool tools try turn type update updated updates user users value
    values version wait want wants way work worked working works wrong write written wrote first last next two three
    file files data always never
    """.split()
)


def topics(memories: Sequence[Memory], most: int = 8) -> list[tuple[str, float]]:
    """(topic, when it was last confirmed), the most shared first."""
    holders: dict[str, set[int]] = defaultdict(set)
    newest: dict[str, float] = {}
    for memory in memories:
        for term in _terms(memory.text):
            holders[term].add(memory.id)
            newest[term] = max(newest.get(term, 0.0), memory.confirmed_at)
    ceiling = max(_LEAST_MEMORIES, _MOST_SHARED * len(memories))
    shared = [term for term, who in holders.items() if _LEAST_MEMORIES <= len(who) <= ceiling]
    chosen: list[str] = []
    for term in sorted(shared, key=lambda term: (-_weight(term, len(holders[term])), term)):
        if not any(_same_topic(holders, term, other) for other in chosen):
            chosen.append(term)
        if len(chosen) == most:
            break
    return [(term, newest[term]) for term in chosen]


def _terms(text: str) -> set[str]:
    """The words of `text` that can be a topic, and the pairs of them that stand side by side."""
    terms, before, end = set(), None, -1
    for match in _WORD.finditer(text.lower()):
        word = match[0]
        if not (_SHORTEST <= len(word) <= _LONGEST) or word in STOP_WORDS or word in _TRADE:
            before = None
            continue
        terms.add(word)
        if before and text[end : match.start()] == " ":
            terms.add(f"{before} {word}")
        before, end = word, match.end()
    return terms


def _weight(term: str, holders: int) -> float:
    return holders * (_PAIR if " " in term else _NAME if any(c in "-_./" for c in term) else 1.0)


def _same_topic(holders: dict[str, set[int]], term: str, chosen: str) -> bool:
    """Whether `term` is a part of a chosen topic, or stands in much the same memories."""
    if set(term.split()) & set(chosen.split()):
        return True
    both = len(holders[term] & holders[chosen])
    return both > 0.75 * min(len(holders[term]), len(holders[chosen]))
