"""The offline distiller: extraction by cues. No model, no network, nobody pays.

Collects what a session's messages offer, drops what a later sentence replaces, and returns the few best that differ.
Knows nothing of the store.
"""

import re
from collections import Counter
from collections.abc import Sequence

from hippo_core.distill.accepted import accepted
from hippo_core.distill.base import SessionText
from hippo_core.distill.candidates import WEIGHTY, Candidate, candidates
from hippo_core.distill.choice import choices
from hippo_core.distill.mended import mended
from hippo_core.distill.outcome import outcomes
from hippo_core.distill.remedy import remedies
from hippo_core.distill.sameness import body, contained, content_words, replaces
from hippo_core.distill.turn import Turn, turns
from hippo_core.model.memory import Draft
from hippo_core.model.types import LADDER, Author, MemoryType
from hippo_core.store.archive import Archived

MOST = 8
MOST_OF_A_TYPE = 3
ALIKE = 0.65  # share of common words from which two sentences of one session are not both kept
_WEIGHTY_BONUS = 0.1
_TEST_RUN = re.compile(r"\btests?\b|\bcoverage\b", re.I)  # only the last one of a session says how things stand
_BARE_TESTS = re.compile(
    r"^(?:In [^:]+: )?(?:All |The )?[\d,]+(?: \w+)? tests (?:now )?pass(?:ed|es)?(?: now| again)?\W*$", re.I
)
ENOUGH_ELSE = 3  # memories beside which a count of passing tests is not worth one
_REASON = re.compile(r"\b(?:because|since|so that)\b", re.I)
_TAKES = frozenset({"go", "let's", "stick", "take", "pick"})  # what an answer adds to the thing that it picks
_UNCAPPED = {MemoryType.RULE, MemoryType.PREFERENCE, MemoryType.DECISION}


class OfflineDistiller:
    """Picks the sentences of a session that say something worth knowing later, and types them by their wording."""

    name = "offline"
    paid_by = "nobody"

    def distill(self, session: SessionText) -> list[Draft]:
        """At most eight machine-authored drafts that stand on their own, in the order they were said."""
        talk = turns(session.messages)
        found = [c for turn in talk for c in candidates(turn, session.scope, session.project)]
        whole = _joined(talk, session.scope, session.project)
        found = [*_without_halves(found, whole), *whole]
        found.sort(key=lambda candidate: candidate.messages[-1].id)
        chosen = set(_choose(_without_bare_tests(_still_true(found))))
        return [_draft(candidate) for candidate in found if candidate in chosen]


def _joined(talk: Sequence[Turn], scope: str, project: str) -> list[Candidate]:
    """What several sentences say together; of one problem the remedy that the user confirmed, else the agent's own."""
    confirmed = list(remedies(talk, scope, project))
    told = [remedy.messages[0] for remedy in confirmed]
    own = [remedy for remedy in mended(talk, scope, project) if remedy.messages[0] not in told]
    answers: dict[Archived, Candidate] = {}
    for one in [*choices(talk, scope, project), *accepted(talk, scope, project)]:
        if one.messages[-1] not in answers or _REASON.search(one.text):
            answers[one.messages[-1]] = one
    return [*confirmed, *own, *answers.values(), *outcomes(talk, scope, project)]


def _still_true(found: Sequence[Candidate]) -> list[Candidate]:
    """Without those that a later one of the same session replaces."""
    kept: list[Candidate] = []
    for candidate in found:
        kept = [earlier for earlier in kept if not _outdates(candidate, earlier)]
        kept.append(candidate)
    return kept


def _without_halves(found: Sequence[Candidate], whole: Sequence[Candidate]) -> list[Candidate]:
    """`found` without what a memory joined from the same message says as well: the problem of a remedy, an answer."""
    return [candidate for candidate in found if not any(_is_half(candidate, one) for one in whole)]


def _is_half(candidate: Candidate, whole: Candidate) -> bool:
    words = content_words(body(candidate.text)) - _TAKES
    return candidate.messages[0] in whole.messages and words <= content_words(whole.text)


def _outdates(later: Candidate, earlier: Candidate) -> bool:
    if later.type is earlier.type is MemoryType.RESULT and all(_TEST_RUN.search(c.text) for c in (later, earlier)):
        return True
    return replaces(later.text, earlier.text)


def _without_bare_tests(found: list[Candidate]) -> list[Candidate]:
    """Without "All 23 tests pass" where nothing else was worth keeping, or much else was."""
    others = [candidate for candidate in found if not _BARE_TESTS.search(candidate.text)]
    return found if 1 <= len(others) <= ENOUGH_ELSE else others


def _choose(found: Sequence[Candidate]) -> list[Candidate]:
    """The worthiest, none like another, not too many of one kind; among equals the later."""
    chosen: list[Candidate] = []
    kinds: Counter[MemoryType] = Counter()
    ranked = sorted(enumerate(found), key=lambda pair: (-pair[1].worth, -pair[0]))
    for _, candidate in ranked:
        if kinds[candidate.type] >= MOST_OF_A_TYPE and candidate.type not in _UNCAPPED:
            continue
        if any(contained(candidate.text, other.text) >= ALIKE for other in chosen):
            continue
        chosen.append(candidate)
        kinds[candidate.type] += 1
        if len(chosen) == MOST:
            break
    return chosen


def _draft(candidate: Candidate) -> Draft:
    policy = LADDER[candidate.type]
    weighty = _WEIGHTY_BONUS if WEIGHTY.search(candidate.text) else 0.0
    return Draft(
        text=candidate.text,
        type=candidate.type,
        scope=candidate.scope,
        author=Author.MACHINE,
        importance=min(1.0, policy.importance + weighty),
        confidence=round(candidate.worth, 2),
        tier=policy.tier,
        sources=tuple(message.uid for message in candidate.messages),
        observed_at=candidate.messages[-1].at,
    )
