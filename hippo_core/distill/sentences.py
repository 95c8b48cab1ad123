"""From a message to its paragraphs and sentences, with what is no prose (code, tables, logs, quotations) left out.

Also tells a speaker's own words from what was pasted into the message. Knows nothing of what a sentence is worth.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hippo_core.distill import markdown

LONGEST_MESSAGE = 40_000  # characters; what follows in one message is pasted material
LONGEST_OWN = 3_000  # a longer message is somebody's document after its first line
WRAPPED = 50  # characters from which a line may go on in the next one


class Paragraph(NamedTuple):
    """text: without markdown, backticks kept. heading: the one it stands under, or "". item: it is a list's.

    own: the speaker's own words, not something pasted.
    """

    text: str
    heading: str
    item: bool
    own: bool


class Sentence(NamedTuple):
    """before: the sentence before it in the same paragraph, or ""."""

    text: str
    before: str
    paragraph: Paragraph


def paragraphs(text: str, *, typed: bool = True) -> Iterator[Paragraph]:
    """The paragraphs, list items and lines of their own in a message, in order.

    typed: by a person, who may have pasted a part of it.
    """
    lines = text[:LONGEST_MESSAGE].split("\n")
    own_lines = _own_lines(text, lines) if typed else len(lines)
    casual = text.lstrip()[:1].islower()  # who types like this ends a line where a thought ends
    heading, parts, item, own = "", [], False, True
    for number, line in enumerate(_without_fences(lines) if "```" in text or "~~~" in text else lines):
        if not line:
            if parts:
                yield Paragraph(markdown.plain(" ".join(parts)), heading, item, own)
                parts = []
            continue
        lettered = line[0].isalpha() and line[1:2] != "."  # as most are: no list item, no heading
        width = 0 if lettered else markdown.bullet_width(line)
        title = None if lettered else markdown.heading(line)
        prose = title is None and markdown.is_prose(line[width:])
        if parts and (casual or width or not prose or not _goes_on(parts[-1], line)):
            yield Paragraph(markdown.plain(" ".join(parts)), heading, item, own)
            parts = []
        if title is not None:
            heading = title
        elif prose:
            if not parts:
                item, own = width > 0, number < own_lines
            parts.append(line[width:])
    if parts:
        yield Paragraph(markdown.plain(" ".join(parts)), heading, item, own)


def sentences(paragraph: Paragraph) -> Iterator[Sentence]:
    """The sentences of a paragraph, in order."""
    before = ""
    for text in _split(paragraph.text):
        yield Sentence(text, before, paragraph)
        before = text


# A line that hands over to something pasted: "this is from the CI run: ..", "pr feedback:".
_HANDS_OVER = re.compile(
    r"\b(?:from(?! now on| me\b)|here|output|says?|said|logs?|docs?|readme|page|site|article|feedback|review\w*|"
    r"comments?|errors?|message|paste[ds]?|got|gives?|prints?|shows?|see|result|response|following|below|email|ticket)"
    r"\b[^.:]*:(?=\s|$)",
    re.I,
)
_QUOTES = re.compile(r"\w.*:\s*`[^`]+`\W*$")  # what was pasted stands in the line itself
_OWN_LIST = re.compile(
    r"\b(?:i|we|my|our)\b.*\b(?:want|need|decided|think|prefer\w*|use|rules?|agreed|conventions?|setup)\b", re.I
)


def _own_lines(text: str, lines: list[str]) -> int:
    """How many lines at the beginning are the speaker's own; what follows was pasted."""
    most = 1 if len(text) > LONGEST_OWN else len(lines)
    for number, line in enumerate(lines[:most]):
        shell = line.lstrip().startswith(("$ ", "❯ ", ">>> "))
        pasted = ":" in line and _HANDS_OVER.search(line) and not (_OWN_LIST.search(line) or _QUOTES.search(line))
        if shell or pasted:
            most = number
            break
    return most


def _without_fences(lines: list[str]) -> Iterator[str]:
    """The lines, those of fenced code blanked."""
    fenced = False
    for line in lines:
        fence = line.lstrip().startswith(("```", "~~~"))
        yield "" if fence or fenced else line
        fenced ^= fence


def _goes_on(line: str, following: str) -> bool:
    """Whether `following` continues a line that was wrapped, rather than being a line of its own."""
    if len(line) < WRAPPED:
        return False
    start, last = following.lstrip()[:1], line.split()[-1]
    return (start.islower() or start in "`(") and last[-1] not in ".:!?" and not last.startswith("http")


_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|resp|no|fig|dr|mr|mrs|incl|max|min)|(?-i:\b[A-Z]))\.$", re.I
)
_MARK = re.compile("[.!?…。！？]")
_END = re.compile(r"[.!?…]+[\"')\]`]*(?=\s)|[。！？]")


def _in_code(paragraph: str, start: int, end: re.Match[str]) -> bool:
    """Whether the mark belongs to code ("`panic!` and") and what follows goes on with the sentence."""
    inside = paragraph.count("`", start, end.start()) % 2 == 1
    return inside and not paragraph[end.end() :].lstrip()[:1].isupper()


def _split(paragraph: str) -> Iterator[str]:
    if not _MARK.search(paragraph, 0, len(paragraph) - 1):  # as in every other one
        yield from filter(None, [paragraph.strip()])
        return
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.end()]
        if _in_code(paragraph, start, end) or piece.count("`") % 2 or _ABBREVIATION.search(piece[-8:]):
            continue
        yield piece.strip()
        start = end.end()
    rest = paragraph[start:].strip()
    if rest:
        yield rest
