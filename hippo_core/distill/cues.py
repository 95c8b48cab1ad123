"""The wordings that give a kind of memory away: one table, read by the offline distiller and by the guess of a type.

Knows sentences, not sessions: who may say what, and what is worth keeping, is the distiller's concern.
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property

from hippo_core.distill.wordings import Wordings
from hippo_core.model.types import MemoryType as T


@dataclass(frozen=True)
class Cue:
    """One kind of wording.

    strength: how often the wording really carries its type, in 0..1; it becomes the memory's confidence. wordings:
    patterns, whatever the case. spoken: they count only in the user's own mouth: they make a rule or a preference, or
    an order that from anybody else would be a mere suggestion.
    """

    type: T
    strength: float
    wordings: tuple[str, ...]
    spoken: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Any of the wordings."""
        return re.compile("|".join(self.wordings), re.IGNORECASE)


def find_cue(text: str, *, spoken: bool) -> Cue | None:
    """The first cue in a sentence. spoken: by the user, in words of their own."""
    place = _wordings().first(text, _EVERY if spoken else _UNSPOKEN)
    return None if place is None else _WAYS[place][0]


@cache
def _wordings() -> Wordings:
    """Made when the first sentence is looked at, which most passes never do."""
    return Wordings([wording for _, wording in _WAYS])


def guess_type(text: str) -> T:
    """The type that the wording of a human's own memory suggests; `fact` where nothing does."""
    cue = find_cue(text, spoken=True)
    if cue is None or cue.type is T.FACT:
        return T.PROCEDURE if _COMMAND.search(text) else T.FACT
    return cue.type


def _cue(kind: T, strength: float, *wordings: str) -> Cue:
    return Cue(kind, strength, wordings)


def _spoken(kind: T, strength: float, *wordings: str) -> Cue:
    return Cue(kind, strength, wordings, spoken=True)


_LEAD = (
    r"^(?:(?:for|in) (?:this|the|our|all) [\w ]{2,20}[,:]\s+)?"
    r"(?:(?:and|but|also|please|no|nope|ok|okay|so|remember|note|important)[,:!]?\s+(?:to\s+|that\s+)?)*"
)
_NUMBER = r"\d[\d,.]*"
_UNIT = r"(?:%|ms\b|s\b|secs?\b|seconds?\b|minutes?\b|mins?\b|hours?\b|[kmg]i?b\b|x\b|times\b|tokens?\b|rows?\b|req)"
_QUANTITY = rf"{_NUMBER}\s?{_UNIT}"
_VARIABLE = r"(?-i:\b[A-Z][A-Z0-9]*_[A-Z0-9_]{2,}\b)"
_NAME = r"(?-i:\b[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
_TRIED = (
    r"(?:use|using|commit|push|delete|add|write|run|touch|edit|put|create|merge|rebase|mock|log|hardcode|hard-code|"
    r"(?:cache|store|send|call|import|install|deploy|expose|ship|return|share|skip|disable|upgrade|publish|retry|"
    r"upload|force-push|restart|drop|bypass|amend|trust|rename)"
    r"(?=(?:\s+\S+){3}))"
)

_MADE = (
    r"^(?=(?:\S+\s+){5})(?:i(?:'ve| have)? )?(?:also |now |then )?(?:added|created|introduced|wrote|built|implemented|"
    r"moved|split|extracted|rewrote|converted|wrapped|mapped|(?!organized)[a-z]{4,}ized)(?! (?:an? |the |some "
    r")?(?:\w+ )?(?:imports?|comments?|tests?|log\w*|entr\w+|lines?|notes?|"
    r"sections?|links?|types?|docs|documentation|readme)\b)"
)
_INTO = r"(?:in|into|to|under|as) `[^`]*(?:[/.]|\(\))[^`]*`"

# In order: the first wording that is found names the type.
CUES: tuple[Cue, ...] = (
    _spoken(
        T.RULE,
        0.9,
        _LEAD + r"(?:never(?! mind)|always)\s+\w",
        r"\b(?:from now on|going forward)\b",
        r"\b(?:must|should|may|can) (?:never|always)\b",
        rf"\b(?:never|do not ever|don't ever) {_TRIED}\b",
        r"\b(?:every time|whenever) (?:you|we)\b.{3,}",
        r"\bthe rule is\b",
        r"\balways \w+.{3,60}[,;] ?(?:and )?never\b",
    ),
    _spoken(
        T.PREFERENCE,
        0.85,
        r"\b(?:i|we)(?:'d| would)?(?: \w+ly)?(?: much)? prefer\b",
        r"\bi(?:'d| would) rather\b",
        r"\bmy (?:preference|favou?rite|preferred)\b",
        r"\bi (?:always|never|usually|generally|only) (?!forget|get\b|see\b|thought|knew|heard|wanted)\w+",
        r"\bi (?:really )?(?:don't |do not )?(?:like|hate|dislike|love) (?!to (?:see|know)|the idea|it\b|this|that|"
        r"how)",
        _LEAD + r"keep (?:\w+ )?(?:responses|answers|replies|explanations|comments|commits|functions|prs?)\b",
    ),
    _spoken(
        T.RULE,
        0.75,
        _LEAD + rf"(?:do not|don't|dont|avoid|stop) {_TRIED}\b(?!.*\b(?:yet|for now|right now|this time|today)\b)",
        _LEAD + r"make sure (?:to always|you always|that all|all|every)\b",
        r"^(?:no|nope|wrong|actually|stop)\b[,.!]?\s+(?:please\s+|just\s+)?(?:use|run|call|write|put|keep)\b",
        _LEAD + r"use\b.{2,60}(?:\b(?:instead(?: of)?|rather than)\b|[,;—–-]\s*(?:and )?(?:not|never)\b)",
        r"\bonly\s*[,;—–-]\s*(?:no|not|never)\b",
        r"^only (?:\S+ ){1,4}?(?:may|can|is allowed|are allowed) ",
        r"\bevery (?:\w+ )?(?:pr|pull request|commit|merge|branch|release|migration|change|test|file|endpoint|module|"
        r"component|query|function) (?:needs?|must|has to|gets?|is to) ",
        r"^named?\b.{3,50}\bfor all\b",
    ),
    _cue(
        T.DECISION,
        0.9,
        r"\b(?:we|i|they|the team|team) (?:have |had |'ve )?(?:decided|chose|opted|settled|agreed)\b",
        r"\b(?:decision|decided)\s*(?:is|was|:|to\b|on\b|against\b)",
        r"\b(?:switch|migrat|mov)(?:ed|ing|e)?\b (?:\S+ ){0,5}?from\b.{2,60}\bto\b",
        r"\b(?:replaced|dropped|abandoned|rejected|deprecated)\b.{2,80}\b(?:with|by|because|in favou?r of)\b",
        r"\b(?:mov|switch|migrat)ing (?:away from|off|over to)\b",
    ),
    _spoken(
        T.DECISION,
        0.8,
        r"(?<!since )(?<!after )(?<!when )(?<!before )\bwe(?:'ve| have)?(?: (?:now|since|just|recently|"
        r"also))? (?:dropped|replaced|retired|abandoned|deprecated|"
        r"rejected|switched|migrated|moved|adopted|introduced|standardi[sz]ed on|got rid of|stopped using)\b",
        r"\bwe (?:no longer|don't|do not|never) (?:use|support|ship|run|allow)\b",
        r", we(?:'ll| will)? (?:stay (?:on|with)|stick (?:to|with)) \w",
        r"^(?:no[,.]? )*(?:\w+, )?we(?:'ll| will)? (?:stay (?:on|with)|stick (?:to|with)|keep (?!\w+ing\b)\w|keep "
        r"\w+ing "
        r"\S+ \S)",
        _LEAD + r"(?:keep|drop) (?!going|in mind|me\b|it\b|up\b|that\b|this\b|working|trying|them\b)\S.*[,;+*].*\w",
    ),
    _cue(
        T.DECISION,
        0.8,
        r"\b(?:instead of|rather than|in favou?r of|over)\b.{2,80}\b(?:because|since|so that)\b",
        r"\b(?:we'll|we will|we use|we're using|we are using|uses?|used|using|chosen|picked|kept|keep)\b.{3,100}"
        r"\b(?:because|so that|instead of|rather than|in favou?r of)\b",
        r"\b(?:went|going|go|sticking|stick) with\b",
    ),
    _spoken(
        T.DECISION,
        0.75,
        r"\b(?:we|i) (?:explicitly |really |definitely |only |just |also )*(?:don't |do not )?want "
        r"(?!to (?:see|know|talk)|you)",
        r"\blet's (?:use|go|keep|drop|stick|switch|make it|call it|name it|not)\b",
        r"\b(?:needs?|has|have) to (?:be|keep|work|run|support|stay)\b",
        r"\b(?!(?:you|it|this|that|there)\b)\w+ (?:should|must) (?:be(?! (?:down|broken|wrong|something|some|missing|"
        r"because|related|due)\b)|not|only|have|use|go|live|return|work|run|stay|fail|never|come|pass|"
        r"match|include|contain|exist|start|end|point|wait|cover|keep|survive|support|send|read|write)\b",
        _LEAD + r"(?:use|name|call|keep|put|store) .*(?:[`/_]|\.\w|(?-i:\b[A-Z]))",
        _LEAD + r"use (?:the )?[\w.-]+ (?:for|as|to|in)\b",
        _LEAD + r"set (?:the |our )?(?:[\w-]+ ){1,4}to \S*\d",
        _LEAD + r"(?:make sure|ensure) (?!you\b|to\b|it\b|this|everything|the tests?)",
    ),
    _cue(
        T.INSIGHT,
        0.9,
        r"\broot cause\b",
        r"\bthe (?:(?:real|actual|root|underlying|main|whole|only) )?(?:issue|problem|bug|cause|culprit|error|"
        r"failure|fix|reason) (?:was|is|came)\b",
        r"^(?:the )?(?:issue|problem|cause|culprit|bug)s?: ",
        r"\bthe (?:trick|catch|gotcha|lesson) (?:is|was)\b",
    ),
    _cue(
        T.INSIGHT,
        0.8,
        r"\bturn(?:s|ed) out\b",
        r"\b(?:fixed|solved|resolved)\b.{0,60}\bby\b",
        r"\b(?:fail|break|crash|hang|error|leak|race)(?:s|ed|ing)?\b.{1,120}\b(?:because|unless|since|due to)\b",
        r"\b(?:because|since)\b.{3,100}\b(?:fail|break|crash|hang|leak)(?:s|ed)?\b",
        r"\b(?:caused by|due to the fact)\b",
        r"\bfor future reference\b",
        r"\brule of thumb\b",
        r"\b(?:worth|keep in mind|remember) (?:noting|that)\b",
    ),
    _cue(
        T.ARCHITECTURE,
        0.6,
        rf"{_MADE} (?:\S+ ){{0,8}}?`[^`]{{3,}}`,? (?:\S+ ){{0,14}}?{_INTO}",
        rf"{_MADE} (?:\S+ ){{0,8}}?{_INTO}: \S.{{15,}}",
        rf"{_MADE} (?:\S+ ){{1,8}}?{_INTO}[,;:]? (?:which|that|so|where|with|keys?|each|because)\b",
    ),
    _cue(
        T.INSIGHT,
        0.7,
        r"\bso (?!that\b|i\b|we can|far\b|you\b|it's|let)(?:\S+ ){1,8}?(?:never|fail|los[et]|panic|hang|crash|wait|"
        r"drop|break|broke|block|leak|time[sd]? out|stall|stale|miss|overwr|can't|cannot|duplicat|die[sd]?\b|"
        r"invalidat|again\b|"
        r"deadlock|appl(?:y|ies)|is ignored|are ignored|strips?|collid)",
        r"\bbut\b.{3,60}\b(?:fails?|breaks?|crashes|hangs|times? out|ignores?|drops?|rejects?|lacks?)\b",
    ),
    _cue(
        T.PROCEDURE,
        0.85,
        r"\b(?:generated|built|made|produced|served) (?:by|with|from|via) (?:running )?`(?=[^`]* )[^`]{4,}`",
        r"\brun(?:ning)?\s+`[^`]+`.{0,80}\b(?:before|after|first|to|when|then|whenever|once)\b",
        r"\b(?:to|before|after|when|once) .{3,70},\s+(?:first\s+)?(?:run|use|call|execute)\s+`[^`]+`",
        r"`[^`]{4,}`\s+(?:works|worked|did it|fixes|fixed|solves|succeeded|must be run)\b",
        r"\b(?:train|test|build|deploy|start|release|publish|migrate|seed|flash)\w* (?:it )?(?:with|by|via) `[^`]{6,}`",
        r"^(?:use|run|call|execute) `[^`]{4,}`.{0,40} to \w+",
        r"^to \w+(?: \S+){0,4}, (?:push|open|create|bump|edit|merge|set|tag|delete|add|change|copy) .*`",
    ),
    _cue(
        T.CONFIG,
        0.75,
        r"\bis now `[^`]{6,}`",
        r"^(?:i )?(?:set|raised|lowered|increased|reduced|pinned|limited|capped) (?:the )?`[^`]+` (?:(?:\S+ ){0,3}?to "
        r"\S*\d|in `[^`]*[/.])",
    ),
    _cue(
        T.RESULT,
        0.9,
        rf"\b{_NUMBER}\s+(?:\S+\s+){{0,3}}tests?\b.{{0,30}}\b(?:pass|fail)",
        rf"\btests? (?:now |all )?pass(?:es|ed|ing)?\b.{{0,15}}{_NUMBER}",
        rf"\b(?:reduc|cut|drop|fell|fall|improv|increas|grew|went|rose|down|up|speed|shr[au]nk|from)\w*\b"
        rf".{{0,80}}{_QUANTITY}?.{{0,20}}\bto\b\s+(?:about |around |only |just |under )?{_QUANTITY}",
        rf"{_QUANTITY} (?:faster|slower|smaller|larger|fewer|less|more)\b",
        rf"\b(?:reduced|cut|dropped|fell|improved|increased|grew|went|rose|shr[au]nk|is down|is up|gone)\b"
        rf".{{0,60}}\bfrom {_NUMBER}.{{0,15}}\bto {_NUMBER}",
        rf"{_QUANTITY}.{{0,20}} (?:instead of|rather than|versus|vs\.?|compared (?:to|with)|against|before it was|"
        rf"(?:down|up) from) (?:about |around )?{_NUMBER}",
        rf"\b(?:runs|ran|finishe[sd]|completes?d?|loads|loaded|builds|built) in (?:about |under |only )?{_QUANTITY}",
    ),
    _cue(
        T.RESULT,
        0.7,
        rf"\b(?:takes|took|measured|benchmark\w*|latency|throughput|coverage|flat at|steady at|stable "
        rf"at)\b.{{0,60}}\b{_QUANTITY}",
        r"\b(?:reach|achiev|scor|giv|gave|yield)\w*\b.{0,30}\b(?:0?\.\d+|\d[\d.]*\s?%)",
    ),
    _cue(
        T.PERSON,
        0.8,
        rf"{_NAME}.{{0,60}}(?-i: (?:signs off|approves) )",
        r"\b(?:is|are) (?:responsible for|in charge of|on call|the (?:owner|maintainer|lead|contact) (?:of|for))\b",
        rf"{_NAME}(?-i: (?:owns|maintains|leads)\b)",
        rf"\bask {_NAME} (?:about|for|before|when|if)\b",
    ),
    _cue(
        T.CONFIG,
        0.8,
        r"\b(?:on|port|localhost)[ :](?:is |number )?\d{4,5}\b",
        rf"{_VARIABLE}.{{0,80}}\b(?:set|env\w*|variable|defaults?|must|holds|points|required|contains?|is|isn't)\b",
        rf"\b(?:set|env\w*|variable|export|via|through|reads?)\b.{{0,40}}{_VARIABLE}",
    ),
    _cue(
        T.CONFIG,
        0.75,
        r"\bdefaults? to\b",
        r"\b(?:lives?|stored|located|kept|written|saved|cached) (?:in|at|under|to)\b.{0,20}[`/~.]",
        r"\b(?:requires?|needs?|runs? on|pinned to|targets?|upgraded to|supports?)\s+`?[a-z][\w.+-]*`?\s+"
        r"(?:version )?v?\d+[.\d]*\b",
        r"\b(?:runs? on|upgraded to|pinned to) (?:version )?v?\d+\.\d",
        r"\b(?:defined|declared|documented|implemented|configured|registered|handled) (?:now )?in `[^`]*[/.]",
        r"\bconfigured (?:in|via|through|with|to|by)\b",
    ),
    _cue(
        T.ARCHITECTURE,
        0.75,
        r"\barchitecture (?:is|uses|consists)\b",
        r"\b(?:is (?:built on|organi[sz]ed|structured|split into|composed of)|consists of)\b",
        r"\b(?:talks to|is backed by|sits (?:between|behind)|is the (?:entry ?point|single source)|communicates?) \w+",
        r"\b(?:reads|writes|stores|persists|streams|publishes|subscribes|delegates|inherits|wraps|extends)\b.{3,60}"
        r"\b(?:from|to|in|into|via|through)\b",
    ),
    _cue(
        T.MEETING,
        0.7,
        r"\b(?:in the|the|yesterday's|today's) (?:meeting|standup|stand-up|retro(?:spective)?|kick-?off)\b",
    ),
    _cue(
        T.TODO,
        0.75,
        r"(?-i:\b(?:TODO|FIXME)\b(?: for \S+| ?\([^)]*\))?(?::| to))",
        r"\bput (?:it|that|this) on the (?:list|backlog|roadmap)\b",
        r"^next time (?:we|i|you) (?:should|must|need)\b",
        r"\bnext steps?(?: is| are|:)",
        r"\b(?:we |i )?still (?:need|have|has|needs) to\b",
        r"\bstill (?:missing|open|broken|fails?|pending)\b",
        r"\b(?:is|are) (?:not yet|still not|left to) \w+",
        r"\bfollow-?up(?: pr| issue|:| is)",
    ),
    _cue(
        T.REFERENCE,
        0.6,
        r"https?://\S+",
        r"\b(?:documented|described|specified) (?:in|at)\b",
    ),
    _cue(
        T.FACT,
        0.55,
        r"`[^`]+`(?:'s)? (?:\w+ ){0,3}?(?:is|isn't|are|aren't|was|does|doesn't|don't|do|can|can't|cannot|only|"
        r"requires?|supports?|returns?|expects?|needs?|ignores?|uses?|has|have|handles?|contains?|means|provides?)\b",
        r"\b(?:only works?|doesn't work|does not work|isn't supported|is not supported|not available|no longer)\b",
        r"\w (?:requires|supports|expects)\b",
        r"\b(?:has|have|contains?|holds?) (?:only |about |just )?\d[\d,.]* (?!lines|tests|files|errors|warnings|"
        r"commits|changes)[a-z]{3}",
        r"\bstays? (?:until|on|at|in)\b",
        r"^(?:[\w ]{2,20}: |`[^`]+`: )?(?:the |an? |our )?(?:\w+ )?`[^`]+`(?:'s \w+)?(?: (?:in|of|from) `?[\w./-]+`?)?"
        r"(?: \w+ly| never| always| only)? (?!(?:tests|files|errors|changes|results|lines|fields|passes|works|succeeds|"
        r"finishes|completes|matches|looks|seems)\b)[a-z]{2,}[^s\W]s (?:\S+ ?){2,}",
    ),
    _cue(
        T.INSIGHT,
        0.6,
        r"`[^`]+`.*\bbecause\b.{8,}",
    ),
    _cue(
        T.INSIGHT,
        0.7,
        r"\b(?:heap dump|profil\w+|trace\w*|flame ?graph|dump|query plan|logs?) shows .*`",
        r"\d.{0,30}\b(?:spent|wasted|lost) (?:in|on) `",
    ),
    _spoken(
        T.PROJECT,
        0.75,
        r"^(?:the |our |my )?(?:overall |main |real )?(?:goal|aim|target)(?: \w+){0,4}?(?: is\b|:)",
    ),
    # A plain statement counts when the user makes it: who works on the project knows it.
    _spoken(
        T.FACT,
        0.6,
        r"^(?!i\b|i'|you|we're (?:hitting|getting|seeing)|we just|it)(?:\S+ ){1,6}(?:is|are|has|have|uses?|runs?|"
        r"lives?|takes?|keeps?|stores?|hosts?|deploys?|handles|creates|returns|calls|needs?|comes?|go(?:es)?|means|"
        r"sits|"
        r"works?|publish(?:es)?|ships?|releases?|tests?|builds?|signs?|logs?|bills?|measures?|gets?|may|owns|reads|"
        r"writes|belongs?|costs?|expires?|sends|receives|depends?|starts|ends|spells?|expects?|"
        r"follows?|tags?|merges?|reviews?|pins?|mirrors?|"
        r"syncs?|supports?)\b(?: \S+){2,}",
    ),
)


_WAYS = tuple((cue, wording) for cue in CUES for wording in cue.wordings)
_EVERY = (1 << len(_WAYS)) - 1
_UNSPOKEN = sum(1 << place for place, (cue, _) in enumerate(_WAYS) if not cue.spoken)
_COMMAND = re.compile(
    r"^(?:to \w+.*?,\s*)?(?:run|execute|start|call) `?[\w./-]+|^(?:to |before |after )?(?:deploy|releas|publish|build)",
    re.I,
)
