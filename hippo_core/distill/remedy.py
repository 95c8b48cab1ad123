"""A problem, what fixed it, and the word that it did: three messages that are one memory.

The user describes a failure, the agent answers with a cause or a fix, the user confirms. Only a confirmed fix counts.
"""

import re
from collections.abc import Iterator, Sequence

from hippo_core.distill.candidates import LONGEST, Candidate
from hippo_core.distill.subject import is_anchored, standalone, without_lead
from hippo_core.distill.turn import Turn
from hippo_core.model.types import MemoryType
from hippo_core.store.archive import Archived

REACH = 8  # messages between the problem and the word that it is solved
_WORTH = 0.95

_CONFIRMS = re.compile(
    r"\b(?:that|this|it)(?: has|'s)? (?:fixed|solved|did|worked|works)\b|\b(?:works|working|fixed|solved) now\b|"
    r"\bno more (?:errors?|\w+outs|crash\w+|fail\w+|warnings?)\b|\bdown to \d|^(?:now )?(?:it works|fixed|solved)\b",
    re.I,
)
_DENIES = re.compile(r"\b(?:not|n't|still|but|no longer|almost|except)\b|\?", re.I)
_PROBLEM = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|breaks?|broke|broken|crash(?:es|ed|ing)?|hang(?:s|ing)?|slow|wrong|errors?|timeouts?|"
    r"tim(?:ing|es?) out|(?:doesn't|does not|won't) \w+|"
    r"(?:don't|do not|can't|cannot) (?:work|start|build|compile|load|arrive|open|connect|log|finish|reach|find|install|"
    r"show)|gets? \w+ed out|shifted|garbled|truncated|blocked|not working|leak(?:s|ing)?|taking \d|duplicate[ds]?|"
    r"missing|stuck|flaky|drop(?:s|ping)?|throws?|returns? [45]\d\d|huge|"
    r"stalls?|stalling|freez(?:es|ing)|los(?:t|es|ing)|keeps \w+ing|panics?|deadlocks?)\b",
    re.I,
)
_FIX = re.compile(
    r"^(?:the )?(?:fix|solution|answer|remedy)(?: is)?(?: to)?\s*[:—–-]?\s*|^(?=(?:use|set|increase|raise|lower|add|"
    r"pin|remove|move|disable|enable|replace|switch|wrap|call|run|upgrade|downgrade|install|change|read|pass|await|"
    r"close)\b)",
    re.I,
)
_VAGUE = re.compile(r"\b(?:it|them|this|these|that|those|to (?:confirm|check|verify|see|find out|be sure))\b", re.I)
_CAUSE = re.compile(
    r"\b(?:the |root |real )+(?:issue|problem|cause|culprit|bug|reason) (?:was|is)\b|\bbecause\b|\bcaused by\b", re.I
)


_ASIDE = re.compile(r"[\s,;:–-]*\b(?:any ideas?|wtf|pls|please|help|why|ideas)[?.! ]*$", re.I)


def remedies(talk: Sequence[Turn], scope: str, project: str) -> Iterator[Candidate]:
    """One candidate for each problem that the user says is solved."""
    since = 0
    for place, turn in enumerate(talk):
        if not turn.by_user or not _is_confirmation(turn.message.text):
            continue
        window = talk[max(since, place - REACH) : place]
        since = place
        problem = _problem(window)
        remedy = _remedy(window, project)
        if problem and remedy:
            text = f"{with_project(problem[0], project)} {remedy[0]}"
            if len(text) <= LONGEST:
                sources = (problem[1], remedy[1], turn.message)
                yield Candidate(text, MemoryType.INSIGHT, scope, _WORTH, sources)


def problem_told(turn: Turn) -> str | None:
    """What went wrong, by the first sentence of a user's turn that tells it."""
    for sentence in turn.own:
        text = without_lead(sentence.text)
        if _PROBLEM.search(text) and not text.endswith("?") and 4 <= len(text.split()) <= 30:
            return _stop(text)
    return None


def _is_confirmation(text: str) -> bool:
    head = text.strip()[:80]
    first = re.split(r"[.!\n]", head, maxsplit=1)[0]
    return bool(_CONFIRMS.search(first)) and not _DENIES.search(first)


def _problem(window: Sequence[Turn]) -> tuple[str, Archived] | None:
    """The user's first sentence about what went wrong."""
    told = ((problem_told(turn), turn.message) for turn in window if turn.by_user)
    return next(((text, message) for text, message in told if text), None)


def _remedy(window: Sequence[Turn], project: str) -> tuple[str, Archived] | None:
    """The agent's last sentence that says what to do about it, else what caused it."""
    cause = None
    for turn in reversed(window):
        for sentence in turn.own if turn.by_agent else ():
            text = without_lead(sentence.text).rstrip(":")
            words = _FIX.sub("", text, count=1)
            if _FIX.match(text) and len(words.split()) >= 3 and not (text.endswith("?") or _VAGUE.search(text)):
                return f"Fixed: {words[0].lower() + words[1:]}".rstrip(".") + ".", turn.message
            if cause is None and _CAUSE.search(text) and is_anchored(text):
                alone = standalone(text, sentence.before, project, by_user=False)
                cause = (alone, turn.message) if alone else None
    return cause


def with_project(text: str, project: str) -> str:
    """`text`, with the project in front where nothing in it tells what it is about."""
    return text if not project or is_anchored(text) else f"In {project}: {text}"


def _stop(text: str) -> str:
    """`text` as a sentence begins and ends."""
    text = _ASIDE.sub("", text[0].upper() + text[1:])
    return text if text.endswith((".", "!")) else text.rstrip(" :;,") + "."
