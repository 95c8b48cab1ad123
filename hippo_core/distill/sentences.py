"""From a message to its sentences: markdown taken off, and what is no prose (code, tables, logs, quotations) left out.

Also tells a speaker's own words from what was pasted into the message. Knows nothing of what a sentence is worth.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_MESSAGE = 40_000  # characters; what follows in one message is pasted material
LONGEST_OWN = 3_000  # a longer message is somebody's document after its first paragraph
LONGEST_LINE = 2_000
WRAPPED = 50  # characters from which a line may go on in the next one


@dataclass(frozen=True)
class Sentence:
    """text: without markdown, backticks kept. before: the sentence before it in the same paragraph, or "".

    heading: the heading it stands under, or "". own: the speaker's own words, not something pasted or quoted.
    """

    text: str
    before: str
    heading: str
    own: bool


_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.*?)#*\s*|\*\*([^*]+?):?\*\*:?\s*)$")
_BULLET = re.compile(r"^\s*(?:[-*+•‣●○▪→✓✔✗✅❌⚠]\ufe0f?|\(?\d{1,3}[.)]|\[[ xX]\]|[a-z]\.)\s+(?:\[[ xX]\]\s+)?")
_TABLE = re.compile(r"^\s*\||\s\|\s.*\s\|\s|^\s*[-=+_*|: ]{3,}$|[─-╿]")
_MACHINE = re.compile(
    r"^\s*(?:[$❯%#]\s|>\s|\d{4}-\d\d-\d\d[T ]|\d{1,2}:\d\d:\d\d|\[[\w :.-]+\]|at \S+ ?\(|File \"|Traceback|npm ERR|"
    r"Error:|error\[|warning:|diff --git|@@ |[+-]{3} |[A-Z_]+=\S|\S+:\d+:\d+|[{}()\[\];,<]|(?:import|export|const|let|"
    r"var|def|class|function|return|if|for|while|public|private|async|await|SELECT|INSERT)\b.*[;{(:=]\s*$)"
)
_ASSIGNS = re.compile(r"(?:^|[\s.>])[A-Z_]{3,}=[^\s`]")  # an environment in front of a command
_CHOICE = re.compile(r"^\s*(?:\(?[A-H]\)|\**option \w+\b)", re.I)  # one of several on offer
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])|(?<!\w)(_{1,2})(?=\S)(.+?)(?<=\S)\3(?!\w)")
_SYMBOL = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+")
_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>")
_SPACES = re.compile(r"\s+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|resp|no|fig|dr|mr|mrs|ms|st|incl|max|min)|\b[A-Z])\.$", re.I
)
_END = re.compile(r"[.!?…]+[\"')\]`]*(?=\s)|[。！？]")
# A line that hands over to something pasted: "this is from the CI run:", "pr feedback:".
_HANDS_OVER = re.compile(
    r"\b(?:from|here|output|says?|said|logs?|file|docs?|readme|page|site|article|feedback|reviewer?|comments?|errors?|"
    r"message|paste[ds]?|got|gives?|prints?|shows?|see|result|response|following|below|text|email|ticket|issue)\b[^.]*:\s*$"
    r"|^\s*(?:[$❯]|>>>) ",
    re.I,
)
_OWN_LIST = re.compile(r"\b(?:i|we|my|our)\b.*\b(?:want|need|decided|think|prefer|use|rules?|agreed)\b", re.I)


def sentences(text: str) -> Iterator[Sentence]:
    """The prose sentences of a message, in order."""
    text = text[:LONGEST_MESSAGE]
    pasted_after = text.find("\n\n") if len(text) > LONGEST_OWN else -1
    for paragraph, heading, own, at in _paragraphs(text):
        before = ""
        for sentence in _split(paragraph):
            yield Sentence(sentence, before, heading, own and not 0 <= pasted_after < at)
            before = sentence


def plain(line: str) -> str:
    """`line` without inline markdown, tags and pictographs; code in backticks stays."""
    parts = line.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = _TAG.sub(" ", _LINK.sub(r"\1", parts[i]))
    joined = "`".join(parts)
    for _ in range(2):  # emphasis may be nested once
        joined = _EMPHASIS.sub(lambda found: found.group(2) or found.group(4), joined)
    parts = joined.split("`")
    parts[::2] = [_SYMBOL.sub(" ", part) for part in parts[::2]]
    return _SPACES.sub(" ", "`".join(parts)).strip()


def _paragraphs(text: str) -> Iterator[tuple[str, str, bool, int]]:
    """(text, heading above it, own words, offset of its end) of each paragraph, list item and line of its own."""
    fenced, own, heading, at = False, True, "", 0
    casual = text.lstrip()[:1].islower()  # who types like this ends a line where a thought ends
    lines: list[str] = []
    for line in text.split("\n"):
        item, heads = _BULLET.match(line), _HEADING.match(line)
        fence = _FENCE.match(line) is not None
        prose = not (fenced or fence or heads or _is_no_prose(line[item.end() :] if item else line))
        fenced ^= fence
        if lines and (casual or item or not prose or not _goes_on(lines[-1], line)):
            yield plain(" ".join(lines)), heading, own, at
            lines = []
        if prose:
            lines.append(line[item.end() :] if item else line)
        elif heads:
            heading = plain(heads.group(1) or heads.group(2) or "")
        if _HANDS_OVER.search(line) and not _OWN_LIST.search(line):
            own = False
        at += len(line) + 1
    if lines:
        yield plain(" ".join(lines)), heading, own, at


def _goes_on(line: str, following: str) -> bool:
    """Whether `following` continues a line that was wrapped, rather than being a line of its own."""
    start = following.lstrip()[:1]
    return len(line) >= WRAPPED and line.rstrip()[-1:] not in ".:!?" and (start.islower() or start in "`(")


def _is_no_prose(line: str) -> bool:
    return (
        not line.strip()
        or len(line) > LONGEST_LINE
        or line.startswith(("    ", "\t"))
        and not _BULLET.match(line)
        or _TABLE.search(line) is not None
        or _CHOICE.match(line) is not None
        or _ASSIGNS.search(line) is not None
        or _MACHINE.match(line) is not None
    )


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.end()]
        if _ABBREVIATION.search(piece) or piece.count("`") % 2:
            continue
        yield piece.strip()
        start = end.end()
    rest = paragraph[start:].strip()
    if rest:
        yield rest
