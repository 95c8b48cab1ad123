"""What is no memory, whatever it says: questions, greetings, narration of the moment, proposals, self-praise.

The counterpart of the cues, and like them about single sentences only.
"""

import re

_ASKS = re.compile(
    r"\?[\"')]*$|^(?:can|could|would|will|should|shall|do|does|did|is|are|was|were|what|why|how|when|where|who|which|"
    r"what's|how's|any) (?:you|we|i|it|this|that|the|there|they|about|if|is|are|do|does|did|to|would|should|idea)\b",
    re.I,
)
_AGENT_STARTS = re.compile(
    r"^(?:let me|let's|i(?:'ll|'m|'d)? |next,|first,|second,|looking|checking|perfect|great|good|excellent|done|sure|"
    r"thanks|thank you|you're|you are|you've|you (?:can|could|may|might|want)|absolutely|wait|sounds|awesome|"
    r"(?:would|could|shall|should|do|does) \w+|here(?:'s| is| are)|see |as you|if |you'll|try |feel free|happy to|"
    r"ready|once |all set|going to|to (?:test|try|verify|check|use|run|fix|see)\b.*:|based on|given (?:your|the)|"
    r"since you|waiting|starting|continuing|working on|moving on|not (?:just|only)\b)",
    re.I,
)
_AGENT_HOLDS = re.compile(
    r"\b(?:let me|let's|i'll|i will|i need to|i'm (?:going|about|now)|i can|i should|i could|i'd|(?:we|i|you) just|"
    r"would you|do you|you (?:want|mentioned|asked|said|should see)|your (?:question|request|feedback|choice|call)|"
    r"as (?:it|they) (?:is|are|was|were)|is (?:processing|pending|building))\b",
    re.I,
)
# What the agent reports of its own deeds; told from "I moved X to Y because Z" by the missing reason.
_AGENT_DEEDS = re.compile(
    r"^(?:i(?:'ve| have)? )?(?:\w+ly )?(?:added|created|updated|changed|removed|renamed|implemented|refactored|wrote|"
    r"built|fixed|improved|enhanced|cleaned|committed|pushed|deleted|ran|read|edited|verified|tested|kept|left|"
    r"converted|extracted|adjusted|deployed|investigated|configured|installed|enabled|set up|completed|merged|"
    r"rebased|successfully|replaced|moved)\b|\b(?:has|have) been (?:\w+ly )?(?:added|created|updated|written|"
    r"implemented|completed|pushed|committed)\b|^(?:[\w-]+ ){1,4}(?:configured|updated|added|created|removed|fixed|"
    r"implemented|working|complete)\b(?! (?:to|by|in|with))",
    re.I,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|instead of|rather than|in favou?r of|due to|by \w+ing|caused)\b", re.I
)
_PRAISE = re.compile(
    r"\b(?:comprehensive|professional\S*|robust|beautiful|elegant|seamless\w*|production-ready|clean|complete\w*|"
    r"polished|excellent|successfully|easily|easy|perfect(?:ly)?|solid|powerful|ready (?:for|to)|fully functional|"
    r"modern|all (?:quality )?gates)\b",
    re.I,
)
_USER_ORDERS = re.compile(
    r"^(?:let's (?:see|get|try|start|do|talk|look|take|commit|push|make|work|think|move|continue|begin|add|set|"
    r"implement|write|create|build|discuss|figure|check|test|fix|sort|focus|design|run)|can you|(?:please )?(?:read|"
    r"look|check|commit|fix|add|write|run|continue|try|explain|implement|update|create|do|perform|start|set it|help|"
    r"show|tell|give|spawn|what if|imagine|search|find|generate|review|analy[sz]e|list|open|push|summari[sz]e)\b|go "
    r"ahead|i (?:want|"
    r"need|would like|'d like) (?:you )?to (?!use|switch|keep|go|move|store|support|have|avoid|stick)|i'm (?:trying|"
    r"working|going|getting|seeing)|i (?:see|don't know|have no|was|just|think you)|how\b|time to\b|that's (?:it|"
    r"fine|good|ok|all)|looks? good|sounds good|thanks|it (?:works|seems))",
    re.I,
)
_IN_JEST = re.compile(r"\b(?:wtf|lol|ha(?:ha)+|hehe|omg|ugh|argh|kidding|joking)\b|[:;]-?[D)(/]", re.I)
_HEARSAY = re.compile(
    r"\bthey say\b|\b(?:someone|somebody|people|folks|everyone|everybody|reddit|twitter|hn|"
    r"chatgpt)\b.{0,20}\bsa(?:y|ys|id)\b"
    r"|[,;] (?:can|could|would) you\b|\b(?:what do you think|wdyt|don't you think)\W*$",
    re.I,
)
# A failure on its own is out of date soon; together with its fix it is a remedy.
_STATE_OF_NOW = re.compile(
    r"\b(?:is|are|was|were|keeps?|still|gets?|got) (?:\w+ly |all |being |now )*(?:failing|broken|slow|taking|showing|"
    r"getting|not working|throwing|returning|crashing|huge|hanging|wrong|down|stuck|done|fine|good|ready|great|running|"
    r"timing out|breaking|rejecting|dropping|losing|lost|leaking|stalling|freezing|lagging|flickering|retrying|flaky|"
    r"unresponsive|unreachable|overloaded)\b|\bkeeps \w+ing\b|(?<=\w )keep (?:getting|seeing|having|losing|hitting|"
    r"crashing|failing|timing)\b|\bwe need\b|"
    r"\buse something\b|\b(?:why|how) (?:is|are|does|do|did|was) (?:this|that|it|the)\b|\bwe(?:'re| are) going to\b|"
    r"\b(?:potential|possible|one|another) (?:option|solution)\b|^HEAD is\b|^\(",
    re.I,
)
_SYMPTOM = re.compile(
    r"\b(?:fails?|crash(?:es)?|breaks?|hangs?|freezes?|stalls?|leaks?|times? out|lags?|doubled|slow|shifted|garbled|"
    r"truncated|"
    r"(?:does not|doesn't|don't|do not|won't|can't|cannot) (?:work|start|build|compile|load|open|connect|respond|"
    r"render|show|appear|finish|install)|stop(?:s|ped) (?:working|responding)|takes? (?:too long|forever|ages|"
    r"(?:over |about |more than )?\d+ ?(?:s|sec\w*|min\w*|hours?))|"
    r"(?:isn't|aren't) (?:working|loading|showing|responding|reachable|usable)|"
    r"(?:complain|report)(?:s|ed|ing)?|gets? \w+ed out|blocked)\b",
    re.I,
)
_FAILED = re.compile(r"\b(?:failed|crashed|exited|panicked) (?:with|on|at|again|in)\b", re.I)
_PROPOSAL = re.compile(
    r"\b(?:potential|possible|one|another|best|good) (?:option|solution|fix|approach|idea|choice)s?\b|\bwhat if\b|"
    r"\bhow about\b|\b(?:i|we)(?:'d| would) (?:suggest|recommend|propose)\b|\b(?:consider|recommend|suggest)(?:ed|"
    r"ing)?\b|\boption(?:al|s)?\b|\bfor example\b|\be\.g\.|\bimagine\b|\bwe (?:can|could|might|may)\b|\byou (?:can|"
    r"could|might)\b",
    re.I,
)
_OPEN_SECTION = re.compile(
    r"\b(?:options?|questions?|suggest\w*|recommend\w*|alternatives?|propos\w+|pros|cons|want|would|could|ideas?|"
    r"consider\w*|examples?|plans?|phases?|next steps?|optional|trade-?offs?|approach(?:es)?|todos?|checklist|"
    r"limitations?|improvements?)\b",
    re.I,
)
_COMMIT = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_LABEL = re.compile(r"^([^:`]{2,40}): ")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|might|possibly|not sure|i guess|i think|seems?|likely|(?:could|would|"
    r"should)(?:n't)?|(?-i:may)|"
    r"appears?|potentially|hopefully)\b",
    re.I,
)
_USER_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|might|possibly|not sure|don't know|i guess|i think|kind of|seems?|hopefully|"
    r"would be)\b",
    re.I,
)
_AS_BEFORE = re.compile(r"\balready\b(?! (?:been|in use by))", re.I)  # what the agent found as it should be
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|be|been|has|have|had|does|do|did|can|cannot|will|must|should|may|would|could|isn't|"
    r"aren't|wasn't|weren't|doesn't|don't|didn't|can't|won't|never|always|(?:use|run|need|require|support|expect|"
    r"store|live|read|write|fail|break|crash|hang|work|take|make|keep|put|set|add|switch|move|replace|drop|decide|"
    r"choose|prefer|like|hate|want|call|send|show|start|stop|go|handle|contain|mean|provide|talk|own|maintain|pass|"
    r"reduce|cut|improve|fix|cause|revert|ensure|avoid|name|return|default|point|differ|create|load|persist|validate|"
    r"happen|push|bump|deploy|install|import|export|cost|belong|expire|check|wrap|depend|reject|allow|block|listen|"
    r"serve|cover|restart|share|ignore|include|turn|come)(?:e?s)?|"
    r"[a-z]{2,}ed|broke|kept|chose|went|took|made|ran|wrote|built|left|got|sent|came|fell|rose|"
    r"shrank|shrunk|grew|held|lost|threw|met|[a-z]{3,}s (?:the|a|an|each|every|all|its|their|no|by|before|after|only|"
    r"instead|from|into))\b|'(?:s|re|ll|ve|d)\b",
    re.I,
)
_VAGUE_SUBJECT = re.compile(
    r"^the (?:\w+ )?(?:files?|scripts?|functions?|code|methods?|class|tests?|apps?|application|changes?|components?|"
    r"commands?|summary|session|agent|output|results?|implementation|solution|approach|plan|page|feature|system|user|"
    r"tool|data|list|section|document|work|task|goal|idea|story|poem|image|style)\b",
    re.I,
)


# From the user an order; from the agent advice, unless it names a command.
_ADVICE = re.compile(
    r"^(?:[^:`]{2,40}: )?(?:use|be|try|communicate|make|add|keep|set|avoid|ensure|check|go|read|choose|opt|pick|look|"
    r"ask|start|store|remember|don't|do not|always|never|put|get|create|prefer|follow|test|write|plan|limit|focus|"
    r"include)\b",
    re.I,
)


def is_noise(text: str, heading: str, *, by_user: bool) -> bool:
    """Whether a sentence (its lead-in words already gone) states nothing that lasts."""
    if text.endswith(":") or _COMMIT.search(text) or _ASKS.search(text) or not _FINITE.search(text):
        return True
    label = None if text.startswith(("TODO", "FIXME")) else _LABEL.match(text)
    if _OPEN_SECTION.search(heading) or (label and _OPEN_SECTION.search(label[1])):
        return True
    if by_user:
        if _IN_JEST.search(text) or _HEARSAY.search(text):
            return True
        return _USER_ORDERS.match(text) is not None or _stands_first(_STATE_OF_NOW, text)
    if _ADVICE.match(text) and "`" not in text:
        return True
    return is_narration(text) or _PROPOSAL.search(text) is not None


def is_narration(text: str) -> bool:
    """Whether the agent tells what it is about to do, or talks to the user."""
    return _AGENT_STARTS.match(text) is not None or _AGENT_HOLDS.search(text) is not None


def is_complaint(text: str, *, by_user: bool) -> bool:
    """Whether a mere description only says that something goes wrong: half of a remedy, and nothing on its own."""
    return _stands_first(_SYMPTOM if by_user else _FAILED, text)


def _stands_first(symptom: re.Pattern[str], text: str) -> bool:
    """Whether the symptom is what the sentence says, and not its reason ("replaced X because it keeps failing")."""
    found = symptom.search(text)
    return found is not None and _REASON.search(text[: found.start()]) is None


def is_vague(text: str) -> bool:
    """Whether the subject is "the file", "the script" and the like, which says nothing later."""
    return _VAGUE_SUBJECT.match(text) is not None


def is_deed(text: str) -> bool:
    """Whether the text reports what the agent just did, and not why."""
    return _AGENT_DEEDS.search(text) is not None and _REASON.search(text) is None


def is_boast(text: str) -> bool:
    """Whether the text praises what was made rather than says what it is."""
    return _PRAISE.search(text) is not None


def doubt(text: str, *, by_user: bool, deeds: bool) -> float:
    """How much the wording takes away from a sentence's worth. deeds: whether a mere deed is worth less."""
    amount = 0.2 if (_USER_HEDGE if by_user else _HEDGE).search(text) else 0.0
    if not by_user:
        if deeds and is_deed(text):
            amount += 0.3
        if _PRAISE.search(text):
            amount += 0.2
        if _AS_BEFORE.search(text):
            amount += 0.35
    return amount
