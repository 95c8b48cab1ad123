"""What the agent proposed and the user agreed to: neither says enough alone, together they are a decision.

Three ways to agree: a plain yes to a recommendation, a yes with a condition of the user's own to a question, and the
name of the one thing taken ("quill then", "LRU it is"). A question between alternatives is the business of `choice`.
"""

import re
from collections.abc import Iterator, Sequence

from hippo_core.distill.candidates import LONGEST, Candidate
from hippo_core.distill.sameness import content_words
from hippo_core.distill.sentences import Sentence
from hippo_core.distill.subject import is_anchored, standalone, without_lead
from hippo_core.distill.turn import Turn
from hippo_core.model.types import MemoryType

REACH = 2  # messages of the agent's before the answer that may hold the proposal
_WORTH = 0.8
_LONGEST_YES = 14  # words
_FEWEST = 5  # words of a proposal that says enough

_YES = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|yep|yup|sure|right|perfect|great|good|nice|cool|agreed|fine|deal|exactly|lgtm|hm+|oh|"
    r"sounds (?:good|right|great|fine|reasonable)|makes sense|good (?:idea|plan|call)|i agree|love it|\+1|👍)\b",
    re.I,
)
_GO = re.compile(
    r"\b(?:do (?:it|that)|go ahead|go for it|let's (?:do|go with|try) (?:it|that)|please do|sounds (?:good|right|"
    r"great|fine|"
    r"reasonable)|agreed|i agree|deal|lgtm|good (?:idea|plan|call)|makes sense|implement (?:it|that)|like that|that "
    r"way)\b|"
    r"^(?:yes|yep|yeah|ok(?:ay)?|sure)(?:[,.!]* (?:please|thanks|do|great|good|perfect))?[.!]*$",
    re.I,
)
_NOT = re.compile(r"\b(?:no|not|n't|but|instead|rather|wait|later|first|except|unless|maybe|however)\b|n't\b|\?", re.I)
_PROPOSES = re.compile(
    r"^(?:so |then |overall, |personally, |for (?:this|that|now), )?(?:i(?:'d| would)? (?:strongly )?(?:recommend|"
    r"suggest|"
    r"propose|go (?:for|with)|pick|choose|use|prefer)|my (?:recommendation|suggestion|proposal|vote|pick)(?: is|:|"
    r" would be)(?: to)?|(?:the|a) (?:\w+ )?(?:safe|safest|clean|cleanest|better|best|simple|simplest|right|easiest|"
    r"good) "
    r"(?:way|option|approach|fix|choice|solution)(?: here)?(?: is| would be|:)(?: to)?|(?:we|you) (?:should|could)|"
    r"let's)\s+(?P<what>.+)",
    re.I | re.S,
)
_BEST = re.compile(
    r"^(?!which|what|this|that|it\b).{3,80}? (?:seems like|looks like|is|would be) (?:the|a|your) (?:best|right|"
    r"better|good) "
    r"(?:fit|choice|option|way|bet)\b.*",
    re.I,
)
_COULD = re.compile(r"^(?:an?|the) (?!problem|issue|bug|error)\S.{2,50}? (?:could|would) (?!be\b|have\b)\w+ \S", re.I)
_HEADED = re.compile(r"\b(?:recommend\w*|proposal|suggest\w*|decision)\b", re.I)
_ADVISES = re.compile(
    r"^(?:add|use|set|move|split|replace|switch|keep|store|create|wrap|run|drop|put|make|convert|introduce|extract|"
    r"cache|"
    r"pin|build|write|start|let|turn|limit|return|read|batch|merge)\b",
    re.I,
)
_ASKED_HOW = re.compile(r"\bhow\b|\bwhat (?:do you|would you|should|can) |\bsuggest|\brecommend|\bpropos", re.I)
_NAMED_ONE = re.compile(
    r"^(?P<what>\S+(?: \S+){0,3}?)(?:,? then| it is|,? please)(?=[.,!;]|$)|^(?:let's )?(?:go|do|take|use) (?:with )?"
    r"(?P<other>\S+(?: \S+){0,2})(?:,? then)?(?=[.,!;]|$)",
    re.I,
)
_CONDITION = re.compile(r"^(?:yes|yeah|yep|sure|ok(?:ay)?)[,:;]\s+(?P<what>(?:\S+ ){2,}\S.*)", re.I)
_MAY_I = re.compile(r"^(?:shall i|should i|want me to|do you want me to|would you like me to|may i)\s+", re.I)
_ME = re.compile(r"\b(?:i|me|my|you|your|i'll|i'm)\b", re.I)


def accepted(talk: Sequence[Turn], scope: str, project: str) -> Iterator[Candidate]:
    """One candidate for each answer of the user's that agrees to what the agent just put forward."""
    for place, turn in enumerate(talk):
        if not turn.by_user or not turn.own or not place or not talk[place - 1].by_agent:
            continue
        asked = [earlier for earlier in talk[max(0, place - REACH) : place] if earlier.by_agent]
        told = _agreed(turn, asked, talk[:place], project)
        if told and len(told[0]) <= LONGEST:
            yield Candidate(told[0], MemoryType.DECISION, scope, _WORTH, (told[1].message, turn.message))


def _agreed(turn: Turn, asked: Sequence[Turn], before: Sequence[Turn], project: str) -> tuple[str, Turn] | None:
    first = turn.own[0].text
    condition = _CONDITION.match(first)
    if condition and is_anchored(first[1:]) | any(c.isdigit() for c in first) and not _ME.search(condition["what"]):
        return _with_condition(first, asked, project)
    if _is_yes(turn):
        return _proposal(asked, before, project)
    named = _NAMED_ONE.match(without_lead(first))
    return _picked(named["what"] or named["other"], turn, asked, project) if named else None


def _is_yes(turn: Turn) -> bool:
    text = " ".join(sentence.text for sentence in turn.own[:2])
    if len(text.split()) > _LONGEST_YES or _NOT.search(text):
        return False
    return _GO.search(text) is not None and (_YES.match(text) is not None or len(text.split()) <= 6)


def _proposal(asked: Sequence[Turn], before: Sequence[Turn], project: str) -> tuple[str, Turn] | None:
    """The agent's last proposal: by its wording, under its heading, or as advice that the user had asked for."""
    for turn in reversed(asked):
        for sentence in turn.own:
            what = _put_forward(sentence)
            if what and (text := _decided(what, sentence.before, project)):
                return text, turn
    last = asked[-1]
    questions = [turn for turn in before if turn.by_user]
    if questions and _ASKED_HOW.search(questions[-1].message.text[:200]):
        for sentence in last.own:
            if _ADVISES.match(sentence.text) and is_anchored(sentence.text):
                text = _decided(sentence.text, sentence.before, project)
                return (text, last) if text else None
    return None


def _put_forward(sentence: Sentence) -> str:
    """What a sentence proposes, or ""."""
    if found := _PROPOSES.match(sentence.text):
        return found["what"]
    if _COULD.match(sentence.text):
        return sentence.text
    if found := _BEST.match(sentence.text):
        return found[0].rstrip(":")
    headed = _HEADED.search(sentence.paragraph.heading) and not sentence.paragraph.item
    return sentence.text if headed and is_anchored(sentence.text) else ""


def _decided(what: str, before: str, project: str) -> str | None:
    if len(what.split()) < _FEWEST or what.endswith(("?", ":")) or _ME.search(what):
        return None
    alone = standalone(what[0].upper() + what[1:] if what[0].isalpha() else what, before, "", by_user=False)
    return _headed(alone, "Agreed with the user: ", project) if alone else None


def _with_condition(answer: str, asked: Sequence[Turn], project: str) -> tuple[str, Turn] | None:
    """A question of the agent's with the user's yes and what goes with it."""
    last = asked[-1]
    question = next((s.text for s in reversed(last.own) if s.text.endswith("?")), None)
    if question is None or len(question.split()) < 3:
        return None
    question = _MAY_I.sub("", question)
    question = question[0].upper() + question[1:]
    return _headed(f'Asked "{question}", the user answered: {answer.rstrip(".!")}.', "", project), last


def _picked(what: str, turn: Turn, asked: Sequence[Turn], project: str) -> tuple[str, Turn] | None:
    """The agent's sentence about the one thing that the user named."""
    words = content_words(what)
    if not words:
        return None
    for earlier in reversed(asked):
        found = [s for s in earlier.own if words <= content_words(s.text) and not s.text.endswith(("?", ":"))]
        if not found:
            continue
        best = next((s for s in found if _PROPOSES.match(s.text)), found[0])
        proposal = _PROPOSES.match(best.text)
        reason = without_lead(proposal["what"] if proposal else best.text)
        if (
            len(reason.split()) < _FEWEST
            or _ME.search(reason)
            or standalone(reason, best.before, "", by_user=False) is None
        ):
            continue
        answer = turn.own[0].text.rstrip(".!")
        return _headed(f"The user chose: {without_lead(answer)}. {reason[0].upper()}{reason[1:]}", "", project), earlier
    return None


def _headed(text: str, head: str, project: str) -> str:
    where = f"In {project}: " if project and not is_anchored(text) else ""
    return where + head + text
