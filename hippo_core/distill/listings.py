"""Short lists that are one fact together: a stack with its versions, a cart's keys, what is still open.

Reads paragraphs of one message; the list keeps its heading or its lead line as its subject.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hippo_core.distill.noise import is_boast, is_deed, is_noise
from hippo_core.distill.sentences import Paragraph
from hippo_core.distill.subject import is_anchored
from hippo_core.model.types import MemoryType

FEWEST, MOST = 2, 8  # items
LONGEST = 360  # characters of the whole
LONGEST_ITEM = 120
_WORTH = 0.62


@dataclass(frozen=True)
class Listing:
    text: str
    type: MemoryType
    worth: float


_KINDS = (
    (
        MemoryType.TODO,
        re.compile(r"\b(?:pending|remaining|outstanding|left to do|still (?:open|missing|to do)|not yet)\b", re.I),
    ),
    (
        MemoryType.CONFIG,
        re.compile(r"\b(?:config\w*|settings?|env\w*|variables?|versions?|stack|ports?|defaults?)\b", re.I),
    ),
    (MemoryType.PROCEDURE, re.compile(r"\b(?:commands?|scripts?|steps? to|how to)\b", re.I)),
    (
        MemoryType.ARCHITECTURE,
        re.compile(
            r"\b(?:structure|architecture|design|flow|layers?|endpoints?|schema|models?|lifecycle|pipeline|modules?)\b",
            re.I,
        ),
    ),
    (MemoryType.DECISION, re.compile(r"\b(?:decisions?|decided|conventions?)\b", re.I)),
    (MemoryType.INSIGHT, re.compile(r"\b(?:root causes?|causes?|findings?|lessons?|gotchas?|caveats?|why)\b", re.I)),
)
_TITLE_EDGES = re.compile(r"^(?:\d+[.)]\s*)+|[\s:]+$")
# Reports of the moment, offers and praise; a list under such a line is no lasting fact.
_MOMENT = re.compile(
    r"\b(?:here|i|you|your|me|let|next|plan|todo|now|created|added|changed?s?|fixe[sd]|fix|modified|updates?d?|"
    r"implemented|done|completed?|summary|results?|features?|benefits?|strengths?|improvements?|files|tests?|"
    r"verified|testing|what|questions?|options?|examples?|sources?|following|above|below|would|could|should|phases?|"
    r"tasks?|status|progress|current(?:ly)? (?:working|session)|errors?|problems?|issues?|reasons?|because|if|when|"
    r"sense|this|these|that|both|it|read|ran)\b",
    re.I,
)


def listings(blocks: Iterable[Paragraph]) -> Iterator[Listing]:
    """The lists among a message's paragraphs that are worth keeping as a whole."""
    title, heading, items = "", "", []
    for block in [*blocks, Paragraph("", "", False, True)]:
        if block.item and (not items or block.heading == heading):
            if not items and block.heading != heading:
                title = block.heading
            heading = block.heading
            items.append(block.text)
            continue
        found = _listing(title, items)
        if found:
            yield found
        items = [block.text] if block.item else []
        title = block.heading if block.item or not block.text.endswith(":") else block.text
        heading = block.heading


def _listing(title: str, items: list[str]) -> Listing | None:
    if not FEWEST <= len(items) <= MOST:
        return None
    title = _TITLE_EDGES.sub("", title)
    if not 1 <= len(title.split()) <= 8 or len(title) > 70:
        return None
    if any(len(item) > LONGEST_ITEM or item.endswith(("?", ":")) for item in items):
        return None
    kind = next((kind for kind, wording in _KINDS if wording.search(title)), None)
    if kind is None or _MOMENT.search(title) or is_noise(f"{title} is", "", by_user=False):
        return None
    if is_boast(" ".join(items)) or sum(map(is_deed, items)) * 2 > len(items):
        return None
    if (
        kind is not MemoryType.TODO
        and sum(is_anchored(item) or any(c.isdigit() for c in item) for item in items) < len(items) * 0.7
    ):
        return None
    text = f"{_sentence_case(title)}: " + "; ".join(item.rstrip(" .;") for item in items) + "."
    return Listing(text, kind, _WORTH) if len(text) <= LONGEST else None


def _sentence_case(title: str) -> str:
    """ "Current Tech Stack" as a sentence begins; names and code keep their capitals."""
    first, *rest = title.split()
    return " ".join([first[0].upper() + first[1:], *(word.lower() if word.istitle() else word for word in rest)])
