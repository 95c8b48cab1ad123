"""A question between alternatives and the user's answer to it, which alone would say nothing, as one decision."""

import re
from collections.abc import Iterator, Sequence

from hippo_core.distill.candidates import LONGEST, Candidate
from hippo_core.distill.noise import is_noise
from hippo_core.distill.sameness import content_words
from hippo_core.distill.subject import is_anchored, without_lead
from hippo_core.distill.turn import Turn
from hippo_core.model.types import MemoryType

REACH = 3  # turns between the question and its answer
_WORTH = 0.8
_LONGEST_ANSWER = 12  # words, the reason aside
_LONGEST_QUESTION = 200  # characters

_ALTERNATIVES = re.compile(r"\b(?:or|vs\.?|versus)\b", re.I)
_NO_CHOICE = re.compile(
    r"\b(?:or (?:not|so|no|more|less|later|something|anything|would|should|shall|do)|yes or)\b", re.I
)
_DANGLES = re.compile(r"\b(?:it|them|this|that)\b", re.I)
_OFFERS = re.compile(r"\?$|\b(?:ways?|options?|choices?|either|alternatives?|possib\w+)\b", re.I)
_ANSWER = re.compile(
    r"^(?:(?:let's|let us|i'd|i would|we'll|we should|i'll) )?(?:(?:go|stick|start) with|use|take|do|pick|"
    r"choose|prefer)\s+",
    re.I,
)
_OPEN = re.compile(r"\b(?:maybe|perhaps|not sure|don't know|both|neither|either|depends|first|or)\b|\?", re.I)
_NEXT_STEP = re.compile(
    r"^(?:commit|push|run|continue|proceed|go|move|stop|merge|open|start|test|review|skip|wait|rename|fix|check|show|"
    r"yes|no|ok)\b",
    re.I,
)
_TAIL = re.compile(r",? (?:then|please|i think|i guess|for sure)(?=[.!]?$)", re.I)


def choices(talk: Sequence[Turn], scope: str, project: str) -> Iterator[Candidate]:
    """One candidate for each answer of the user's that picks one of the things just asked about."""
    for place, turn in enumerate(talk):
        answer = _answer(turn) if turn.by_user else None
        if answer is None:
            continue
        for asked in reversed(talk[max(0, place - REACH) : place]):
            question = _question(asked, answer)
            if question:
                text = _told(question, answer, project)
                if len(text) <= LONGEST:
                    yield Candidate(text, MemoryType.DECISION, scope, _WORTH, (asked.message, turn.message))
                break


def _answer(turn: Turn) -> tuple[str, str] | None:
    """What the user's first sentence picks, and the reason that the second one gives, or ""."""
    if not turn.own:
        return None
    picked = _ANSWER.sub("", without_lead(turn.own[0].text), count=1)
    picked = _TAIL.sub("", picked.rstrip(".!")).strip()
    if not picked or len(picked.split()) > _LONGEST_ANSWER or _OPEN.search(picked) or _NEXT_STEP.match(picked):
        return None
    reason = without_lead(turn.own[1].text) if len(turn.own) > 1 else ""
    if reason.endswith(("?", ":")) or len(reason.split()) < 3 or is_noise(reason, "", by_user=True):
        reason = ""
    return picked, reason


def _question(asked: Turn, answer: tuple[str, str]) -> str | None:
    """The sentence that offers what was picked beside something else."""
    picked = re.split(r"[,;:—–]|\b(?:because|since|as)\b", answer[0], maxsplit=1)[0]
    words = content_words(picked)
    for sentence in reversed(asked.own):
        text = sentence.text
        if _DANGLES.search(text) and not is_anchored(text.lstrip("I")):
            continue
        if not words or len(text) > _LONGEST_QUESTION or not _ALTERNATIVES.search(text) or _NO_CHOICE.search(text):
            continue
        sides = [content_words(side) for side in _ALTERNATIVES.split(text)]
        if _OFFERS.search(text) and words <= frozenset().union(*sides) and _picks_one(words, sides):
            return text
    return None


def _picks_one(words: frozenset[str], sides: Sequence[frozenset[str]]) -> bool:
    """Whether what was picked tells the last alternatives apart: a word of it stands on one side only."""
    return any(sum(word in side for side in sides) == 1 for word in words)


def _told(question: str, answer: tuple[str, str], project: str) -> str:
    picked, reason = answer
    where = f"In {project}: " if project and not is_anchored(question) else ""
    verb = "Asked" if question.endswith("?") else "Offered"
    told = f'{where}{verb} "{question.rstrip(".")}", the user chose: {picked}.'
    return f"{told} {reason[0].upper() + reason[1:].rstrip('.')}." if reason else told
