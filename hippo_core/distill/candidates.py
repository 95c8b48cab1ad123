"""From a message to the sentences of it that may become memories, each made to stand alone, typed, scoped and weighed.

Knows one message at a time; what a session as a whole makes of them is the distiller's concern.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hippo_core.distill.cues import Cue, find_cue
from hippo_core.distill.listings import Listing, listings
from hippo_core.distill.noise import doubt, is_complaint, is_noise, is_vague
from hippo_core.distill.sentences import Sentence
from hippo_core.distill.shell import command_list
from hippo_core.distill.subject import (
    consequence,
    is_anchored,
    is_quoted,
    joined,
    leans_back,
    names,
    standalone,
    without_lead,
)
from hippo_core.distill.tongues import Tongue, find_foreign_cue, foreign_standalone, tongue_of, tongues_in
from hippo_core.distill.turn import Turn
from hippo_core.model.message import Role
from hippo_core.model.scope import GLOBAL
from hippo_core.model.types import MemoryType
from hippo_core.store.archive import Archived

ENOUGH = 0.5  # worth below which a sentence is not kept
SHORTEST, LONGEST, FEWEST_WORDS = 10, 320, 3
_INSTRUCTS = (MemoryType.RULE, MemoryType.PREFERENCE)
_DESCRIBES = (MemoryType.FACT, MemoryType.RESULT, MemoryType.ARCHITECTURE)
_OF_THE_SPEAKER = (*_INSTRUCTS, MemoryType.DECISION)  # what "I" may say; the rest of it is small talk


class Candidate(NamedTuple):
    """A sentence that may become a memory. worth: 0..1, what the choice goes by. messages: where it comes from."""

    text: str
    type: MemoryType
    scope: str
    worth: float
    messages: tuple[Archived, ...]


def candidates(turn: Turn, scope: str, project: str) -> Iterator[Candidate]:
    """The candidates of one turn. scope, project: key and label of the session's project."""
    message = turn.message
    everywhere = turn.by_user and _SPEAKS_OF_HABITS.search(message.text[:2_000]) is not None
    foreign = tongues_in(message.text)
    for sentence in turn.own:
        tongue = tongue_of(sentence.text, foreign) if foreign else None
        if tongue:
            found = _from_foreign(sentence, tongue, message, scope, project)
        else:
            found = _from_sentence(sentence, message, scope, project, everywhere)
        if found is not None:
            yield found
    if not turn.by_user:
        for listing in [*listings(turn.blocks), command_list(message.text)]:
            if listing:
                yield _from_listing(listing, message, scope, project)


def _from_sentence(
    sentence: Sentence, message: Archived, scope: str, project: str, everywhere: bool
) -> Candidate | None:
    by_user = message.role is Role.USER
    if not SHORTEST <= len(sentence.text) <= LONGEST or sentence.text.endswith((":", "?")):
        return None
    cue = find_cue(sentence.text, spoken=by_user)
    if cue is None:
        return None
    bare = without_lead(sentence.text)
    if len(bare.split()) < FEWEST_WORDS or is_noise(bare, sentence.paragraph.heading, by_user=by_user):
        return None
    if (cue.type in _DESCRIBES or not by_user) and is_complaint(bare, by_user=by_user):
        return None
    if is_vague(bare) and not is_anchored(bare) and cue.type is not MemoryType.RESULT:
        return None
    if cue.type in _INSTRUCTS and _is_general(bare, cue, everywhere):
        scope, project = GLOBAL, ""
    follows = cue.type is MemoryType.INSIGHT and sentence.text.startswith("So ")
    alone = joined if leans_back(bare) else consequence if follows else standalone
    text = alone(bare, sentence.before, project, by_user=by_user)
    if text is None or len(text) > LONGEST or (is_quoted(text) and cue.type not in _OF_THE_SPEAKER):
        return None
    worth = _worth(text if follows else bare, cue, message)
    return Candidate(text, cue.type, scope, worth, (message,)) if worth >= ENOUGH else None


def _from_foreign(sentence: Sentence, tongue: Tongue, message: Archived, scope: str, project: str) -> Candidate | None:
    by_user = message.role is Role.USER
    cue = find_foreign_cue(sentence.text, tongue, spoken=by_user) if len(sentence.text) <= LONGEST else None
    if cue is None:
        return None
    if cue.type is MemoryType.PREFERENCE and _is_general(sentence.text, cue, everywhere=False):
        scope, project = GLOBAL, ""
    text = foreign_standalone(sentence.text, tongue, project, by_user=by_user)
    if text is None or len(text) > LONGEST or (is_quoted(text) and cue.type not in _OF_THE_SPEAKER):
        return None
    worth = _worth(sentence.text, cue, message)
    return Candidate(text, cue.type, scope, worth, (message,)) if worth >= ENOUGH else None


def _from_listing(listing: Listing, message: Archived, scope: str, project: str) -> Candidate:
    text = listing.text if not project or project in listing.text else f"In {project}: {listing.text}"
    return Candidate(text, listing.type, scope, listing.worth - _distance(message), (message,))


WEIGHTY = re.compile(
    r"\b(?:never|always|must|critical|credentials?|secrets?|passwords?|security|production|data loss)\b", re.I
)


def _worth(text: str, cue: Cue, message: Archived) -> float:
    deeds = cue.type is not MemoryType.ARCHITECTURE  # there, what was built is the memory
    worth = cue.strength - doubt(text, by_user=message.role is Role.USER, deeds=deeds) - _distance(message)
    named = names(text)
    if not named and cue.type not in _INSTRUCTS:
        worth -= 0.1
    worth += min(0.15, 0.05 * len(named))
    if WEIGHTY.search(text):
        worth += 0.1
    return max(0.0, min(1.0, worth))


def _distance(message: Archived) -> float:
    """How much farther from the user's own word a message is."""
    if message.role is Role.USER:
        return 0.0
    return 0.05 if message.agent_id is None else 0.1


_SPEAKS_OF_HABITS = re.compile(
    r"\bhow i (?:like|prefer|want) to work\b|\b(?:my|more|few|some) preferences\b|\b(?:all|every|any|"
    r"future)(?: of)?(?: my)? (?:projects?|repos\w*)\b|\bin general\b",
    re.I,
)
_ABOUT_THE_AGENT = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|respond|explain|explanations?|concise|brief|emojis?|english|apologi[sz]e|"
    r"commit messages?|i work on|everywhere)\b",
    re.I,
)


def _is_general(text: str, cue: Cue, everywhere: bool) -> bool:
    """Whether a user's rule or preference is about them or the agent, not about the project at hand.

    everywhere: the message it stands in speaks of how they like to work.
    """
    if re.search(r"\b(?:this|the|our) (?:project|repo\w*|codebase|app|service|api)\b", text, re.I):
        return False
    if everywhere or _ABOUT_THE_AGENT.search(text):
        return True
    return cue.type is MemoryType.PREFERENCE and re.search(r"[`/\\]", text) is None
