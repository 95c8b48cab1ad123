"""Makes a sentence stand on its own: who "it" and "I" are, which project is meant. Gives up where that cannot be told.

Works on single sentences without markdown. Knows nothing of cues or of what is worth keeping.
"""

import re

_CODE = re.compile(r"`([^`]{2,60})`")
_NAMED = re.compile(
    r"`[^`]+`"  # code
    r"|(?<![\w.])(?:[\w-]+/)+[\w.-]+|\b\w[\w-]*\.[a-z]{1,4}\b(?!\w)"  # a path, a file
    r"|\b[\w-]+:\d{2,5}\b"  # a host and its port
    r"|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{2,}[A-Z0-9_]*\b|\b[a-z]+_[a-z_]+\b|--[a-z][\w-]+"  # an identifier, a flag
    r"|(?<=[a-z,;:] )[A-Z][a-z]{2,}\b"  # a proper noun inside the sentence
)
_LEADS = re.compile(
    r"^(?:(?:and|but|so|also|then|however|therefore|thus|additionally|finally|furthermore|moreover|plus|basically|"
    r"actually|currently|now|ok|okay|yes|yeah|yep|well|right|sorry|please|note that|note|important|in addition|"
    r"in summary|summary|confirmed|noted|agreed|understood|makes sense|got it|thanks|"
    r"it(?:'s| is)(?= `[^`]+`: )|btw|by the way|fyi|lol|haha|hm|found it|one more(?: thing)?|(?:ok |okay )?last thing|"
    r"great find|unfortunately|interestingly|indeed|oh|ah+|hmm|no|nope|good|nice|cool|perfect|great|"
    r"my guess(?: is)?|"
    r"remember(?: that)?|for future reference|(?:key|important|critical|interesting|main) (?:finding|insight|point|"
    r"discovery|note)s?|findings?|insights?|i (?:found|noticed|discovered|learned|realized|realised|confirmed|"
    r"verified) that|i know(?: that)?|it (?:seems|appears|looks like|turns out)(?: that)?|(?:that|this|it) (?:fixed|"
    r"solved|worked|works)(?: it)?(?=[,.!:])|(?:this|that|which) means(?: that)?|as you can see|(?:a few|some|one|"
    r"two|three|more)\b[^:]{0,50}\b(?:prefer\w*|things?|notes?|rules?)\b[^:]{0,40}(?=:))(?:[,:;.!]*\s+[-–—]\s+|"
    r"[,:;.!]+\s+|\s+))+(?=\S)",
    re.I,
)
_PRONOUN = re.compile(
    r"^(it|this|that)(?='s\b|\s+(?:\w+ly\s+)?(?:is|was|has|had|does|did|will|can|must|should|only|"
    r"isn't|wasn't|hasn't|doesn't|didn't|won't|can't|now|\w+s|\w+ed)\b)",
    re.I,
)
_DANGLING = re.compile(
    r"^(?:it|its|this|that|they|them|their|these|those|he|she|his|her|both|neither|either|"
    r"each(?! \w+ (?:is|has|gets|goes|must|can)\b)|another|"
    r"one|others?|"
    r"some|the (?:first|second|third|latter|former|same|other|two|above|following|next|previous|last)|which|such|"
    r"same|here|there|is|are|was|were|has|have|does|all of (?:these|those|them)|or|because|with (?:this|that|these)|"
    r"for (?:this|that|these))\b",
    re.I,
)
_THIS_PROJECT = re.compile(r"\bth(?:is|e current) (?:project|repo(?:sitory)?|codebase|code base)\b", re.I)
_POINTS_OUTSIDE = re.compile(
    r"\b(?:(?:above|below)(?! (?:an?\b|the\b|\d))|following|as follows|this (?:session|pr|change|commit|"
    r"conversation|task|plan|approach|step|file|"
    r"issue|code|version|test|point|way)|these|those|(?:line|lines) \d+|attached|screenshot|yesterday|today|tomorrow|"
    r"this (?:morning|week|time)|just now|earlier|later today|(?:last|next) week|option [a-d1-9]\b)\b",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:this|that) (?:is|was|will|would|has|can|should|means|works|happens)\b|\b(?:do|did|does) (?:this|that)\b|"
    r"\b(?:do|use|fix|try|with|like|of|about|for|on) (?:this|that)[.!]?$|\bthat in mind\b|"
    r"^(?:\S+ ){0,8}(?:do|use|fix|try|with|like|of|about|for|on) (?:it|them)[.!]?$",  # in a longer one it is in itself
    re.I,
)
_SUBJECT = re.compile(
    r"^((?:The|Our|A|An) (?:[\w/-]+ ){0,3}?[\w/-]+|[A-Z`][\w./`-]*(?: [A-Z][\w.-]*)?) (?:is|was|are|has|uses|runs|"
    r"lives|takes|returns|handles|stores|reads|writes|needs|requires|sits|does|supports)\b"
)
_LEANS_BACK = re.compile(
    r"\b(?:decided (?:on|for)|chose|settled on|agreed on|opted for|w[eo]nt? with|going with|stick(?:ing)? with|picked|"
    r"us(?:e|ed|ing)|ke(?:ep|pt)|stay(?:ing|ed)? (?:at|with)) (?P<what>\d[\d.,]*(?:\s?(?:%|[a-z]{1,2}\b))?|it|that|"
    r"this|those|them|the (?:first|second|latter|former|same|other|smaller|larger)(?: one)?)(?=\s*(?:[,.;:—–-]|$|"
    r"(?:because|since|so|as|for now|instead|after|until|here)\b))",
    re.I,
)
_FIRST_PERSON = re.compile(r"(?<![\w/.-])(?:I|i|[Mm]y|me|I'm|i'm|I've|i've|mine)(?![\w/.-])")
_DEED_ON_IT = re.compile(
    r"^(\w+ed|set|put|made|split|rewrote|cut) (it|this|that|them)(?=[.,;:]|$| (?:and|with|to|in|into|from|by|for|as|on|"
    r"at|under|because|so|via)\b)",
    re.I,
)
_WORD_FIRST = re.compile(r"[a-z][a-z'\u2019]*[ ,:]")
_OF_SOMETHING = re.compile(r"^(?:the )?(?:\w+ )?(?:issue|problem|bug|cause|culprit|error|failure|fix|reason)s?\b", re.I)
_QUOTES = "The user said: "
_LET_US = re.compile(r"^let's (?=not\b|use|go|keep|drop|stick|switch|call|name)", re.I)
_FIRST_PERSON_DEED = re.compile(
    r"^i(?:'ve| have)?(?: (?:also|just|already|now))? (?=(?:\w+ed|set|put|built|wrote|made|ran|kept|chose|left|split|"
    r"took|cut)\b)",
    re.I,
)
_USER_WISH = re.compile(
    r"^i(?P<would>'d| would)? (?P<verb>(?:\w+ly )?(?:prefer|like|love|hate|dislike|rather|want))\b", re.I
)
_THIRD = {
    "prefer": "prefers",
    "like": "likes",
    "love": "loves",
    "hate": "hates",
    "dislike": "dislikes",
    "want": "wants",
}


def without_lead(text: str) -> str:
    """`text` without "And so," and the like in front of what it states."""
    return _FIRST_PERSON_DEED.sub("", _LEADS.sub("", text)).strip()


def standalone(text: str, before: str, project: str, *, by_user: bool) -> str | None:
    """`text` (its lead-in words already gone) so that it can be read without its surroundings, or None where it cannot.

    before: the sentence that preceded it. project: the label that "this project" stands for, "" when there is none.
    """
    if project:
        text = _THIS_PROJECT.sub(project, text)
    if _POINTS_OUTSIDE.search(text):
        return None
    text = _resolve_pronoun(_with_object(text, before), before, project)
    if text is None or _POINTS_BACK.search(text):
        return None
    if by_user:
        text = _LET_US.sub("", _in_third_person(text))
    if project and not is_quoted(text) and (not is_anchored(text) or _OF_SOMETHING.match(text)):
        return f"In {project}: {with_stop(text)}"
    return with_stop(text)


def leans_back(text: str) -> bool:
    """Whether what was decided is a bare number or a pronoun, so that only the sentence before says of what."""
    return _LEANS_BACK.search(text) is not None


def joined(text: str, before: str, project: str, *, by_user: bool) -> str | None:
    """A sentence that leans back, after the one that it leans on; None where that does not hold it."""
    leaning = _LEANS_BACK.search(text)
    before = without_lead(before)
    if not leaning or len(before.split()) < 3 or before.endswith(("?", ":")):
        return None
    what = leaning["what"]
    held = re.search(rf"(?<![\w.]){re.escape(what)}(?!\w)", before) if what[0].isdigit() else is_anchored(before)
    return _together(text, before, project, by_user=by_user) if held else None


def consequence(text: str, before: str, project: str, *, by_user: bool) -> str | None:
    """What follows ("So every retry inserts .."), after the sentence that it follows from; None where that fails."""
    before = without_lead(before)
    if len(before.split()) < 4 or before.endswith(("?", ":")) or not is_anchored(before):
        return None
    return _together(text, before, project, by_user=by_user, link="So ")


def _together(text: str, before: str, project: str, *, by_user: bool, link: str = "") -> str | None:
    first = standalone(before, "", project, by_user=by_user)
    if first is None or _DANGLING.match(text) or _POINTS_OUTSIDE.search(text):
        return None
    told = with_stop(_LET_US.sub("", _in_third_person(text)) if by_user else text)
    return f"{first} {link}{told[0].lower() + told[1:] if link and _WORD_FIRST.match(told.lower()) else told}"


def is_anchored(text: str) -> bool:
    """Whether the sentence names something: code, a file, an identifier, a proper noun."""
    return _NAMED.search(text) is not None


def is_quoted(text: str) -> bool:
    """Whether `standalone` could only quote the user."""
    return text.startswith(_QUOTES)


def names(text: str) -> set[str]:
    """What the sentence names, in lower case and without backticks."""
    return {found.strip("`").lower() for found in _NAMED.findall(text)}


def _resolve_pronoun(text: str, before: str, project: str) -> str | None:
    pronoun = _PRONOUN.match(text)
    if not pronoun:
        return None if _DANGLING.match(text) else text
    meant = _antecedent(before, project)
    if meant is None:
        return None
    rest = text[pronoun.end() :]
    return meant + (" is" + rest[2:] if rest.startswith("'s ") else rest)


def _with_object(text: str, before: str) -> str:
    """ "Replaced it with X" after a sentence that names one thing; a deed on an unknown thing is left to dangle."""
    deed = _DEED_ON_IT.match(text)
    if not deed:
        return text
    code = set(_CODE.findall(before))
    return f"{deed[1]} `{code.pop()}`{text[deed.end() :]}" if len(code) == 1 else deed[2] + text[deed.end() :]


def _antecedent(before: str, project: str) -> str | None:
    """What "it" stands for after the sentence `before`: its subject, else the one thing it names."""
    subject = _SUBJECT.match(before)
    if subject and not _DANGLING.match(before):
        return subject[1]
    code = set(_CODE.findall(before))
    if len(code) == 1:
        return f"`{code.pop()}`"
    return project if project and project in before else None


def _in_third_person(text: str) -> str:
    """A user's sentence with the user as its subject; quoted where "I" stays in it."""
    wish = _USER_WISH.match(text)
    told = text
    if wish:
        adverb, _, verb = wish["verb"].lower().rpartition(" ")
        verb = f"would {verb}" if wish["would"] else _THIRD.get(verb, verb)
        told = "The user " + (adverb + " " if adverb else "") + verb + text[wish.end() :]
    if _FIRST_PERSON.search(told):
        return quoted(text)
    return told


def quoted(text: str) -> str:
    """What the user said, as theirs."""
    return f'{_QUOTES}"{text}"'


def with_stop(text: str) -> str:
    """`text` as a sentence begins and ends."""
    text = text.rstrip(" ,;:-–—\\")
    if _WORD_FIRST.match(text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "。", "”", '"')) else text + "."
