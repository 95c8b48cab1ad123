"""The wordings that give a kind of memory away: one table, read by the offline distiller and by the guess of a type.

Knows sentences, not sessions: who may say what, and what is worth keeping, is the distiller's concern.
"""

import re
from dataclasses import dataclass

from hippo_core.model.types import MemoryType as T


@dataclass(frozen=True)
class Cue:
    """strength: how often the wording really carries its type, in 0..1; it becomes the memory's confidence.

    spoken: a wording that counts only in the user's own mouth, because it makes a rule or a preference.
    """

    type: T
    strength: float
    pattern: re.Pattern[str]
    spoken: bool = False


def _cue(kind: T, strength: float, pattern: str, spoken: bool = False) -> Cue:
    return Cue(kind, strength, re.compile(pattern, re.IGNORECASE), spoken)


_NUMBER = r"\d[\d,.]*"
_QUANTITY = (
    rf"{_NUMBER}\s?(?:%|ms\b|s\b|sec\w*|seconds?|minutes?|min\b|[kmg]i?b\b|x\b|times\b|tokens?\b|lines?\b|rows?\b)"
)

# In order: the first wording that is found names the type.
CUES: tuple[Cue, ...] = (
    _cue(T.RULE, 0.9, r"^(?:\W*(?:and|but|also|please|no|ok|okay)[,:]?\s+)*(?:never|always)\s+\w", True),
    _cue(T.RULE, 0.9, r"\b(?:from now on|going forward|in (?:the )?future,|every time you|whenever you)\b", True),
    _cue(T.RULE, 0.8, r"\b(?:you|we|it|they|everything|all \w+|\w+s)\s+(?:must|should|may) (?:never|always)\b", True),
    _cue(
        T.RULE, 0.8, r"\b(?:never|do not ever|don't ever) (?:use|commit|push|delete|add|write|run|touch|edit)\b", True
    ),
    _cue(
        T.RULE,
        0.7,
        r"^(?:please\s+|also,?\s+|and\s+)?(?:do not|don't|dont|avoid|stop|make sure (?:to|that|you)|be sure to)\b",
        True,
    ),
    _cue(T.PREFERENCE, 0.9, r"\b(?:i|we) (?:(?:much|strongly|really|would|'d|generally) )*prefer\b", True),
    _cue(
        T.PREFERENCE,
        0.8,
        r"\bi(?: really|'d| would)? (?:like|love|hate|dislike|don't like)\b(?! to (?:see|know))",
        True,
    ),
    _cue(T.PREFERENCE, 0.7, r"\bmy (?:preference|favou?rite|preferred)\b", True),
    _cue(T.DECISION, 0.9, r"\b(?:we|i|they|team) (?:have |had |'ve )?(?:decided|chose|opted|settled on|agreed)\b"),
    _cue(T.DECISION, 0.9, r"\b(?:decision|decided)\s*(?:is|was|:|to\b|on\b|against\b)"),
    _cue(T.DECISION, 0.85, r"\b(?:went|going|go|stick|sticking|stay) with\b.{3,}"),
    _cue(T.DECISION, 0.85, r"\b(?:switched|migrated|moved|switching|migrating) (?:\S+ ){0,4}?from\b.{2,60}\bto\b"),
    _cue(
        T.DECISION, 0.8, r"\b(?:replaced|dropped|removed|abandoned|rejected)\b.{2,80}\b(?:with|because|in favou?r of)\b"
    ),
    _cue(T.DECISION, 0.8, r"\b(?:instead of|rather than|in favou?r of)\b.{2,}\bbecause\b"),
    _cue(
        T.DECISION,
        0.75,
        r"\b(?:we'll|we will|let's|we use|we are using|we're using|uses?)\b.{3,100}\b(?:because|since|instead of|"
        r"rather than)\b",
    ),
    _cue(
        T.INSIGHT,
        0.85,
        r"\b(?:root cause|the (?:real |actual )?(?:issue|problem|bug|cause|culprit|error|failure) (?:was|is|came))\b",
    ),
    _cue(T.INSIGHT, 0.8, r"\b(?:turns? out|turned out|it happens because|lesson|the trick (?:is|was)|gotcha|caveat)\b"),
    _cue(T.INSIGHT, 0.8, r"\b(?:fixed|solved|resolved) (?:it )?(?:by|with)\b"),
    _cue(
        T.INSIGHT,
        0.75,
        r"\b(?:fails?|failed|failing|breaks?|broke|crash(?:es|ed)?|hangs?)\b.{2,100}\b(?:because|when|unless|since)\b",
    ),
    _cue(T.PROCEDURE, 0.85, r"\brun(?:ning)?\s+`[^`]+`.{0,80}\b(?:before|after|first|to|when|then|whenever)\b"),
    _cue(T.PROCEDURE, 0.8, r"\b(?:to|before|after|when) .{3,60},?\s+(?:first\s+)?(?:run|use|call|execute)\s+`[^`]+`"),
    _cue(
        T.PROCEDURE,
        0.7,
        r"^(?:to )?(?:deploy|release|publish|build|test|reset|restore|restart)\b.{3,60}\b(?:run|use|with)\b",
    ),
    _cue(T.PROCEDURE, 0.7, r"^(?:run|use|execute) `?[\w./-]+"),
    _cue(T.RESULT, 0.9, rf"\b(?:all|{_NUMBER})\s+(?:\w+\s+){{0,3}}tests?\b.{{0,30}}\b(?:pass|fail)"),
    _cue(
        T.RESULT,
        0.9,
        rf"\b(?:reduced|cut|dropped|went|fell|rose|improved|increased|grew|down|up|faster|slower|from)\b"
        rf".{{0,60}}\b{_QUANTITY}.{{0,20}}\bto\b\s+(?:about |around |only )?{_QUANTITY}",
    ),
    _cue(
        T.RESULT, 0.75, rf"\b(?:takes?|took|measured|benchmark\w*|latency|throughput|coverage)\b.{{0,60}}\b{_QUANTITY}"
    ),
    _cue(T.PERSON, 0.8, r"\b(?:is|are) (?:responsible for|in charge of|the (?:owner|maintainer|lead|contact))\b"),
    _cue(T.PERSON, 0.8, r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)? (?:owns|maintains|reviews|leads|handles)\b"),
    _cue(T.PERSON, 0.7, r"\bask [A-Z][a-z]+\b"),
    _cue(T.CONFIG, 0.85, r"\bport (?:is |number )?\d{2,5}\b|\blocalhost:\d{2,5}\b"),
    _cue(
        T.CONFIG, 0.8, r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]{2,}\b.{0,60}\b(?:set|env\w*|variable|defaults?|must|holds|points)\b"
    ),
    _cue(T.CONFIG, 0.8, r"\b(?:set|env\w*|variable|export)\b.{0,40}\b[A-Z][A-Z0-9]*_[A-Z0-9_]{2,}\b"),
    _cue(
        T.CONFIG,
        0.75,
        r"\b(?:configured|default(?:s)? to|config(?:uration)? (?:is|lives|file)|lives (?:in|at)|stored (?:in|at))\b",
    ),
    _cue(
        T.CONFIG,
        0.75,
        r"\b(?:requires?|needs?|runs? on|pinned to|targets?)\s+`?[A-Za-z][\w.+-]*`?\s+(?:version )?v?\d+(?:\.\d+)*\b",
    ),
    _cue(
        T.ARCHITECTURE,
        0.8,
        r"\b(?:architecture|is (?:built|organi[sz]ed|structured|split)|consists of|is composed of|layers?)\b",
    ),
    _cue(
        T.ARCHITECTURE,
        0.7,
        r"\b(?:talks to|is backed by|sits (?:between|behind)|is the (?:entry ?point|single source))\b",
    ),
    _cue(
        T.MEETING, 0.7, r"\b(?:meeting|standup|stand-up|retro(?:spective)?|sync|call) (?:with|on|of|yesterday|today)\b"
    ),
    _cue(T.TODO, 0.8, r"\b(?:todo|to-do|fixme|next step|remaining|still (?:need|have|has|missing)|follow-?up)\b"),
    _cue(T.TODO, 0.7, r"\b(?:needs? to be|has to be|have to|we need to|left to do|not yet|later we)\b"),
    _cue(T.REFERENCE, 0.7, r"https?://\S+|\b(?:documented|docs?|spec(?:ification)?) (?:is |are )?(?:in|at)\b"),
)


def guess_type(text: str) -> T:
    """The type that the wording of a human's own memory suggests; `fact` where nothing does."""
    for cue in CUES:
        if cue.pattern.search(text):
            return cue.type
    return T.FACT
