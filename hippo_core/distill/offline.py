"""The offline distiller: extraction by cues. No model, no network, nobody pays.

Reads a session's sentences, keeps those whose wording carries a memory and that can stand alone, drops what a later
one replaces, and returns the few best that differ. Knows nothing of the store.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hippo_core.distill.base import SessionText
from hippo_core.distill.cues import CUES, Cue
from hippo_core.distill.sameness import contained, replaces
from hippo_core.distill.sentences import Sentence, sentences
from hippo_core.distill.noise import doubt, is_noise, is_vague
from hippo_core.distill.subject import is_anchored, names, standalone, without_lead
from hippo_core.model.memory import Draft
from hippo_core.model.message import Role
from hippo_core.model.scope import GLOBAL
from hippo_core.model.types import LADDER, Author, MemoryType
from hippo_core.store.archive import Archived

MOST = 8
ENOUGH = 0.5  # worth below which a sentence is not kept
ALIKE = 0.6  # share of common words from which two sentences of one session are not both kept
SHORTEST, LONGEST = 10, 320  # characters
MOST_OF_A_TYPE = 3
_UNCAPPED = {MemoryType.RULE, MemoryType.PREFERENCE, MemoryType.DECISION}


@dataclass(frozen=True)
class Candidate:
    """A sentence that may become a memory. worth: 0..1, what the choice goes by. order: its place in the session."""

    text: str
    cue: Cue
    message: Archived
    worth: float
    order: int


class OfflineDistiller:
    """Picks the sentences of a session that say something worth knowing later, and types them by their wording."""

    name = "offline"
    paid_by = "nobody"

    def distill(self, session: SessionText) -> list[Draft]:
        """At most eight machine-authored drafts that stand on their own; none from a trivial session."""
        candidates = list(_candidates(session))
        chosen = _choose(_still_true(candidates))
        return [_draft(candidate, session) for candidate in sorted(chosen, key=lambda c: c.order)]


def _candidates(session: SessionText) -> Iterator[Candidate]:
    order = 0
    for message in session.messages:
        if message.withheld or message.role is Role.PARENT:
            continue
        for sentence in sentences(message.text):
            order += 1
            found = _candidate(sentence, message, session.project, order)
            if found is not None:
                yield found


def _candidate(sentence: Sentence, message: Archived, project: str, order: int) -> Candidate | None:
    by_user = message.role is Role.USER
    if by_user and not sentence.own:
        return None  # pasted: data, and nobody's word for it
    bare = without_lead(sentence.text)
    if not SHORTEST <= len(bare) <= LONGEST or is_noise(bare, sentence.heading, by_user=by_user):
        return None
    cue = _cue_of(sentence.text, by_user)
    if cue is None or (is_vague(bare) and not is_anchored(bare)):
        return None
    text = standalone(bare, sentence.before, project, by_user=by_user)
    if text is None:
        return None
    worth = _worth(text, cue, message)
    return Candidate(text, cue, message, worth, order) if worth >= ENOUGH else None


_WEIGHTY = re.compile(
    r"\b(?:never|always|must|critical|credentials?|secrets?|passwords?|security|production|data loss)\b", re.I
)


def _cue_of(text: str, spoken: bool) -> Cue | None:
    """The first cue in a sentence. spoken: by the user, in words of their own."""
    return next((cue for cue in CUES if (spoken or not cue.spoken) and cue.pattern.search(text)), None)


def _worth(text: str, cue: Cue, message: Archived) -> float:
    by_user = message.role is Role.USER
    worth = cue.strength - doubt(text, by_user=by_user)
    if not by_user:
        worth -= 0.05 if message.agent_id is None else 0.12
    if not is_anchored(text):
        worth -= 0.15
    worth += min(0.15, 0.05 * len(names(text)))
    if _WEIGHTY.search(text):
        worth += 0.1
    if len(text.split()) < 7:
        worth -= 0.1
    return max(0.0, min(1.0, worth))


def _still_true(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Without those that a later one of the same session replaces or repeats."""
    kept: list[Candidate] = []
    for candidate in candidates:
        kept = [c for c in kept if not replaces(candidate.text, c.text)]
        kept.append(candidate)
    return kept


def _choose(candidates: Sequence[Candidate]) -> list[Candidate]:
    chosen: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (-c.worth, -c.order)):
        kind = candidate.cue.type
        full = kind not in _UNCAPPED and sum(c.cue.type is kind for c in chosen) >= MOST_OF_A_TYPE
        if not full and all(contained(candidate.text, c.text) < ALIKE for c in chosen):
            chosen.append(candidate)
        if len(chosen) == MOST:
            break
    return chosen


_GENERAL = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon[ds]\w*|explain|explanations?|concise|brief|tone|emojis?|english|language|"
    r"everywhere|in general|every (?:project|repo)|all (?:my )?(?:projects|repos)|apologi[sz]e|commit messages?)\b",
    re.I,
)


def _scope(candidate: Candidate, session: SessionText) -> str:
    """A user's general preference is global, all else belongs to the project."""
    if candidate.cue.type not in (MemoryType.RULE, MemoryType.PREFERENCE):
        return session.scope
    if _GENERAL.search(candidate.text) and not (session.project and session.project in candidate.text):
        return GLOBAL
    personal = candidate.text.startswith("The user ") and candidate.cue.type is MemoryType.PREFERENCE
    return GLOBAL if personal and not re.search(r"[`/\\]", candidate.text) else session.scope


def _draft(candidate: Candidate, session: SessionText) -> Draft:
    policy = LADDER[candidate.cue.type]
    importance = min(1.0, policy.importance + (0.1 if _WEIGHTY.search(candidate.text) else 0.0))
    return Draft(
        text=candidate.text,
        type=candidate.cue.type,
        scope=_scope(candidate, session),
        author=Author.MACHINE,
        importance=importance,
        confidence=round(candidate.worth, 2),
        tier=policy.tier,
        sources=(candidate.message.uid,),
        observed_at=candidate.message.at,
    )
