"""An error that the agent met or was told of, and what it did about it until it could say that things work again.

Nobody has to confirm: the word that a check passes or a thing runs, said after the deed, is the proof. Where several
deeds lie between, only one that names what the error names is taken for the remedy.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hippo_core.distill.candidates import LONGEST, Candidate
from hippo_core.distill.noise import is_narration
from hippo_core.distill.remedy import problem_told, with_project
from hippo_core.distill.sameness import content_words
from hippo_core.distill.subject import is_anchored, standalone, without_lead
from hippo_core.distill.turn import Turn
from hippo_core.model.types import MemoryType
from hippo_core.store.archive import Archived

REACH = 8  # messages from the error to the word that it is gone
_WORTH = 0.85
_FEWEST = 4  # words of a deed that says enough
_ASIDE = 5  # words up to which a user's turn ("go on", "so what do we do") leaves the matter where it is

_FAILURE = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|crash(?:es|ed)?|panick?(?:s|ed)|breaks|broke|threw|throws|raises|errors?|hangs|"
    r"hung|tim(?:es|ed) out|refused|rejected|denied|stalls|stalled|deadlocks?|segfaults?)\b"
    r"|E(?:rror(?<=\wError)|xception(?<=\wException))\b"  # the end of a name
)
_DEED = re.compile(
    r"^(?!(?:looked|checked|tested|verified|investigated|searched|reviewed|confirmed|tried|noticed|started|opened|"
    r"listed|compared|debugged|reproduced|committed|pushed|failed|based|passed|need|used|finished|completed|traced|"
    r"examined|analy[sz]ed|identified|wanted|replayed|killed|indeed)\b)"
    r"(?:\w+ed|set|put|made|split|rewrote|wrote|took|cut|gave|built|bound|swapped|(?:after|by|with) \w+ing)\b",
    re.I,
)
_ADVICE = re.compile(r"^(?:the )?(?:fix|solution|remedy)(?: is| was)(?: to)?\s+", re.I)
_FIXED = re.compile(r"^fixed\s+", re.I)
_RUNS = (
    r"(?:pass(?:es|ed)?|works?|worked|succeed(?:s|ed)?|builds?|compiles?|starts?|boots?|loads?|runs?|connects?|"
    r"installs?|deploys?|uploads?|renders?|drains?|"
    r"match(?:es)?|receives?|arrives?|issued|renew(?:s|ed)|shows?|answers?|responds?|green|fine)"
)
_SUCCESS = re.compile(
    r"\b(?:tests?|suite|pytest|builds?|ci|lint\w*|checks?|pipeline|jobs?)\b.{0,40}\b(?:pass(?:es|ed)?|succeed(?:s|ed)?|"
    r"green|clean)\b"
    rf"|\b(?:now|again)\b.{{0,40}}\b{_RUNS}\b|\b{_RUNS}\b.{{0,25}}\b(?:now|again|fine|cleanly|without (?:any )?"
    r"(?:errors?|warnings?|failures?|problems?))\b"
    r"|\b(?:no longer|no more) (?:\w+ )?(?:fail|crash|hang|error|leak|time|throw|warn|stall)\w*"
    r"|\b(?:is|are) (?:gone|fixed|solved|resolved|green)\b"
    r"|\b(?:build|app|server|job|worker|service|page|container|pod|import|script|command) (?:starts|boots|runs|loads|"
    r"builds|completes|deploys|finishes|works|passes|succeeds)\b"
    r"|\band (?:\S+ ){1,5}(?:rolled|loaded|started|finished|completed|deployed|built|passed|worked|succeeded|"
    r"connected)\b",
    re.I,
)
_MEASURED = re.compile(r"\d.{0,20} instead of \d|\bfrom \d\S*.{0,15} to \d|\d\S* (?:faster|smaller|less)\b", re.I)
_SLOW = re.compile(r"\b(?:slow|sluggish|lags?|forever|ages|takes?|taking|took)\b", re.I)
_HEAD = 120  # characters of a user's turn that answer what was said before
_DENIES = re.compile(
    r"^\W*(?:no|nope|wrong|still)\b|\bstill (?:\w+ ){0,2}(?:fail|crash|hang|see|get|broken|there|happen|slow|wrong)|"
    r"\b(?:didn't|did not|doesn't|does not|isn't|not) (?:\w+ )?(?:work|fix|help|solve|it)\w*|\bsame (?:error|problem|"
    r"issue|thing|crash)\b",
    re.I,
)
_UNPROVED = re.compile(
    r"\b(?:should|will|would|could|might|may|hopefully|if|once|when|let me|to (?:check|verify|see)|not|still|but|"
    r"except|almost|expect\w*|seems?|probably|only|without (?!any|errors?|warnings?|failures?|problems?))\b|n't\b|\?",
    re.I,
)


@dataclass
class _Matter:
    """An error that is not yet said to be gone, and what was done since. place: of its message in the session."""

    text: str
    message: Archived
    place: int
    deeds: list[tuple[str, Archived]] = field(default_factory=list)


def mended(talk: Sequence[Turn], scope: str, project: str) -> Iterator[Candidate]:
    """One candidate for each error that was met, dealt with, and gone by the agent's own account."""
    matters: dict[str | None, _Matter] = {}  # by agent: what a sub-agent mends is not its parent's error
    claimed: list[Candidate] = []  # until the user's next turn, which may say that it is not so
    for place, turn in enumerate(talk):
        agent = turn.message.agent_id
        matter = matters.pop(agent, None)
        if matter and place - matter.place > REACH:
            matter = None
        gone: list[_Matter] = []
        if turn.by_user:
            if not _DENIES.search(turn.message.text[:_HEAD]):
                yield from claimed
            claimed.clear()
            told = problem_told(turn)
            matter = _Matter(told, turn.message, place) if told else _left_by(turn, matter)
        elif turn.by_agent:
            matter = _follow(matter, turn, place, gone)
        if matter:
            matters[agent] = matter
        claimed += filter(None, (_remedy(settled, scope, project) for settled in gone))
    yield from claimed


def _left_by(turn: Turn, matter: _Matter | None) -> _Matter | None:
    """What is open after a user's turn that tells of no error: another task ends it, an aside does not."""
    text = turn.message.text
    return matter if len(text.split()) <= _ASIDE and not is_anchored(text) else None


def _follow(matter: _Matter | None, turn: Turn, place: int, gone: list[_Matter]) -> _Matter | None:
    """What is open after a turn of the agent's; what it says is gone joins `gone`."""
    for sentence in turn.own:
        if len(sentence.text) > LONGEST or (matter is None and not _FAILURE.search(sentence.text)):
            continue  # as most do
        bare = without_lead(sentence.text)
        if matter is None or (matter.deeds and _is_failure(bare)):
            matter = _met(bare, sentence.before, turn.message, place)
            continue
        _note_deed(matter, bare, sentence.before, turn.message)
        if matter.deeds and _is_proof(bare, matter):
            gone.append(matter)
            matter = None
    return matter


def _is_failure(text: str) -> bool:
    fails = _FAILURE.search(text) is not None and _DEED.match(text) is None
    return fails and is_anchored(text) and not text.endswith(("?", ":"))


def _is_proof(text: str, matter: _Matter) -> bool:
    """Whether the sentence says that things work, without a doubt; that what was slow is not, only a measure tells."""
    measured = _MEASURED.search(text) is not None
    works = measured or (_SUCCESS.search(text) is not None and not _SLOW.search(matter.text))
    return works and not _UNPROVED.search(text)


def _met(text: str, before: str, message: Archived, place: int) -> _Matter | None:
    """The error that the agent states in this sentence, if it stands alone."""
    if not _is_failure(text) or is_narration(text) or _SUCCESS.search(text):
        return None
    alone = standalone(text, before, "", by_user=False)
    return _Matter(alone, message, place) if alone else None


def _note_deed(matter: _Matter, text: str, before: str, message: Archived) -> None:
    """Adds what this sentence says was done, if it names something and stands beside the error."""
    advice = _ADVICE.match(text)
    if not (advice or _DEED.match(text)) or len(text.split()) < _FEWEST:
        return
    if not is_anchored(text) and not re.search(r"\d", text):
        return
    alone = standalone(text[advice.end() :] if advice else text, before, "", by_user=False)
    if alone:
        matter.deeds.append((alone, message))


def _remedy(matter: _Matter, scope: str, project: str) -> Candidate | None:
    deed = _deed_of(matter)
    if deed is None:
        return None
    fix, message = deed
    fix, told = _FIXED.subn("", fix)
    text = f"{with_project(matter.text, project)} Fixed: {fix if told else fix[0].lower() + fix[1:]}"
    if len(text) > LONGEST:
        return None
    sources = (matter.message,) if matter.message is message else (matter.message, message)
    return Candidate(text, MemoryType.INSIGHT, scope, _WORTH, sources)


def _deed_of(matter: _Matter) -> tuple[str, Archived] | None:
    """The one deed, or of several the first that speaks of what the error speaks of; none where that is unclear."""
    if len(matter.deeds) == 1:
        return matter.deeds[0]
    error = content_words(matter.text)
    return next((deed for deed in matter.deeds if not error.isdisjoint(content_words(deed[0]))), None)
