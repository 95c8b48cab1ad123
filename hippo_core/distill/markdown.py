"""Takes inline markdown off a line and tells prose lines from all others. Knows nothing of sentences."""

import re

LONGEST_LINE = 2_000

_BULLET = re.compile(r"\s*(?:[-*+•‣●○▪→✓✔✗✅❌⚠]\ufe0f?|\(?\d{1,3}[.)]|\[[ xX]\]|[a-z]\.)\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(.*?)#*\s*|\*\*([^*]+?):?\*\*:?\s*)$")
_TABLE = re.compile(r"\s*\||.*\s\|\s.*\s\|\s")
_RULED = r"(?:[-=+_*|: ]{3,}$|[─-╿])"
_CHOICE = r"(?i:\(?[A-H]\)|\**option \w+\b)"  # one of several on offer
_ENVIRONMENT = re.compile(r"(?:^|[\s.>])[A-Z_]{3,}=[^\s`]")  # set in front of a command
_MACHINE = (
    r"(?:[$❯%#]\s|>\s|\d{4}-\d\d-\d\d[T ]|\d{1,2}:\d\d:\d\d|\[[\w :.-]+\]|at \S+ ?\(|File \"|Traceback|npm ERR|"
    r"Error:|error\[|warning:|diff --git|@@ |[+-]{3} |\S+:\d+:\d+|[{}()\[\];,<]|(?:import|export|const|let|var|def|"
    r"class|function|return|if|for|while|public|private|async|await|SELECT|INSERT)\b.*[;{(:=]\s*$)"
)
_NO_PROSE = re.compile(rf"\s*(?:{_MACHINE}|{_CHOICE}|{_RULED})")
_CODE = re.compile(r"`[^`\n]+`")
_HELD = re.compile("\ue000(\\d+)\ue001")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>")
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])|(?<![\w/])(_{1,2})(?=\S)(.+?)(?<=\S)\3(?![\w/])"
)
_OPENING = re.compile(r"\*(?<![\w*]\*)|_(?<![\w/]_)")  # where emphasis may begin
_SYMBOL = re.compile("[\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+")


def bullet_width(line: str) -> int:
    """How many characters of `line` are a list's bullet or number; 0 when it is no list item."""
    bullet = _BULLET.match(line)
    return bullet.end() if bullet else 0


def heading(line: str) -> str | None:
    """The words of a heading (a bold line counts), None when the line is none."""
    if line.lstrip()[:1] not in ("#", "*"):
        return None
    found = _HEADING.match(line)
    return plain(found[1] or found[2] or "") if found else None


def is_prose(line: str) -> bool:
    """Whether somebody wrote this line to be read: no code, table, log, quotation or offered choice."""
    if len(line) > LONGEST_LINE or line.startswith(("    ", "\t")) or not line.strip():
        return False
    if _NO_PROSE.match(line) or ("|" in line and _TABLE.match(line)):
        return False
    return "=" not in line or not _ENVIRONMENT.search(_CODE.sub("", line))


def plain(text: str) -> str:
    """`text` on one line without markdown, tags and pictographs; code in backticks stays as it is."""
    emphasized = ("*" in text or "_" in text) and _OPENING.search(text) is not None
    if emphasized or "](" in text or "<" in text or not text.isascii():
        text = _unmarked(text, emphasized)
    return " ".join(text.split())


def _unmarked(text: str, emphasized: bool) -> str:
    held: list[str] = []
    if "`" in text:
        text = _CODE.sub(lambda code: _hold(held, code[0]), text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if emphasized:
        text, found = _EMPHASIS.subn(_inside, text)
        if found:  # it may be nested once
            text = _EMPHASIS.sub(_inside, text)
    if not text.isascii():
        text = _SYMBOL.sub(" ", text)
    return _HELD.sub(lambda mark: held[int(mark[1])], text) if held else text


def _inside(emphasis: re.Match[str]) -> str:
    return emphasis[2] or emphasis[4]


def _hold(held: list[str], code: str) -> str:
    held.append(code)
    return f"\ue000{len(held) - 1}\ue001"
