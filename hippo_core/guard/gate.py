"""The gate before every write: what may be kept, in which words, and what is kept but never handed on.

In the archive, a copy of what the client keeps anyway, a refusal only marks the message; a curated memory is refused.
"""

import re
import unicodedata
from typing import NamedTuple

from hippo_core.errors import RefusedError
from hippo_core.guard.private import is_skipped, without_private
from hippo_core.guard.redact import redact
from hippo_core.model.message import Message, Role

SECRET, INJECTION = "secret", "injection"

# A text longer than this is a pasted log or data set: its beginning and its end are kept.
LONGEST_TEXT, KEPT_END = 200_000, 50_000
_MARGIN = 20_000  # read beyond what is kept: longer than any key, so that no half of one is taken for plain text

_MARKER = re.compile(r"\[redacted:[a-z-]+\]")
_NO_GLYPH = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_STRESS = re.compile("[*`~]")
_FEWEST_LETTERS = 12  # left beside a redaction for the rest to mean something
# Text that speaks to the model as its master would; over folded text. In the user's own words it is the user's right.
_INJECTION = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|of\s+|the\s+|your\s+|my\s+|these\s+|those\s+){0,4}"
    r"(?:previous|prior|earlier|above|preceding|existing|system|original|safety)\s+(?:\w+\s+){0,2}"
    r"(?:instructions?|prompts?|rules|guidelines|guardrails)"
    r"|(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|alert)\s+the\s+user"
    r"|(?:new|updated|real)\s+system\s+(?:prompt|instructions?)\s*:"
    r"|you\s+are\s+now\s+(?:in\s+)?(?:dan\b|developer\s+mode|jailbroken|unrestricted)"
    r"|<\|(?:im_start|system)\|>|<system>"
)


class Guarded(NamedTuple):
    """A message as it may be stored. withheld: why nothing may be distilled or injected from it, None when it may."""

    message: Message
    withheld: str | None


def guard(message: Message) -> Guarded | None:
    """The message without what is private or secret; None when nothing of it may be kept."""
    if is_skipped(message.text):
        return None
    text = _redacted(without_private(message.text)).strip()
    if not text:
        return None
    reason = _reason(text, may_command=message.role is Role.USER)
    return Guarded(message if text == message.text else message._replace(text=text), reason)


def admit(text: str, *, users_own: bool = False) -> str:
    """The words in which a curated memory may be kept. users_own: the user typed them for this purpose.

    Raises RefusedError when nothing may be kept, or when they would speak to the model as its master.
    """
    kept = redact(without_private(text)).strip()
    if not kept or is_skipped(text):
        raise RefusedError("Nothing was stored: the text is empty, or all of it is marked private or #skip.")
    reason = _reason(kept, may_command=users_own)
    if reason == SECRET:
        raise RefusedError("Nothing was stored: hardly anything but a secret is in it. Say where the secret is kept.")
    if reason == INJECTION:
        raise RefusedError("Nothing was stored: the text tells the model to disregard its instructions.")
    return kept


def _redacted(text: str) -> str:
    """The text, or what is kept of a long one, without its secrets."""
    if len(text) <= LONGEST_TEXT:
        return redact(text)
    start = redact(text[: LONGEST_TEXT - KEPT_END + _MARGIN])
    end = redact(text[-KEPT_END - _MARGIN :])
    start = start[: max(0, min(LONGEST_TEXT - KEPT_END, len(start) - _MARGIN))]
    end = end[max(_MARGIN, len(end) - KEPT_END) :]
    return f"{start}\n[{len(text) - len(start) - len(end)} characters left out]\n{end}"


def _reason(text: str, *, may_command: bool) -> str | None:
    if "[redacted:" in text:
        rest = _MARKER.sub("", text)
        if rest != text and sum(c.isalnum() for c in rest) < _FEWEST_LETTERS:
            return SECRET
    if not may_command:
        folded = _as_read(text)
        if _may_command(folded) and _INJECTION.search(_STRESS.sub("", folded)):
            return INJECTION
    return None


def _as_read(text: str) -> str:
    """In lower case, and as a reader has it: what shows no glyph parts no word, and wide letters are letters."""
    if not text.isascii():
        text = _NO_GLYPH.sub("", unicodedata.normalize("NFKC", text)).replace("\u2019", "'")
    return text.lower()


# Of each alternative of the injection pattern a word that it cannot do without, or two of which one is in many texts.
_SET_ASIDE = ("ignore", "disregard", "forget", "override", "bypass", "system")
_ORDERS = ("instruction", "prompt", "rules", "guideline", "guardrail")
_TOLD = ("tell", "inform", "mention", "reveal", "alert")
_ROLES = ("dan", "developer", "jailbroken", "unrestricted")
_TAGS = ("<|", "<system>")


def _may_command(folded: str) -> bool:
    """Whether the injection pattern can find anything; far cheaper than the pattern, wherever lines are broken."""
    if any(word in folded for word in _ORDERS) and any(word in folded for word in _SET_ASIDE):
        return True
    if "user" in folded and any(word in folded for word in _TOLD):
        return True
    if "now" in folded and any(role in folded for role in _ROLES):
        return True
    return "<" in folded and any(tag in folded for tag in _TAGS)
