"""Takes secrets out of decoded text: each becomes `[redacted:kind]`, everything else stays as it is.

Runs before any write, embedding, model call or log. Idempotent and linear in the text. Never give it raw JSON: an
escaped line feed puts a letter in front of a key, and a replaced quote breaks the line.
"""

import re

from hippo_core.guard.carried import redact_places, redact_private_keys
from hippo_core.guard.commands import redact_commands
from hippo_core.guard.inline import redact_inline
from hippo_core.guard.named import redact_named
from hippo_core.guard.shapes import redact_shapes
from hippo_core.guard.told import redact_told

# What one pass puts in place of a secret may make a neighbour plain; more than a second pass is never needed but for
# texts made to need it.
_MOST_PASSES = 5
_NAMES = ("pass", "pw", "psk", "secret", "token", "key", "credential")
# What shows no glyph between two printable characters breaks a token in two, for a pattern but for no reader.
_SIGNS = "[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]"
_SIGN, _INVISIBLE = re.compile(_SIGNS), re.compile(f"(?<=[!-~]){_SIGNS}+(?=[!-~])")


def redact(text: str) -> str:
    """`text` with every secret in it replaced by `[redacted:kind]`."""
    joined = text if text.isascii() or not _SIGN.search(text) else _INVISIBLE.sub("", text)
    if joined == text:
        return _until_settled(text)
    # Such a sign may also be all that parts a token from the word before it.
    apart, together = _until_settled(text), _until_settled(joined)
    if together.count("[redacted:") < apart.count("[redacted:"):
        joined = _INVISIBLE.sub("", apart)
        together = _until_settled(joined)
        return apart if together == joined else together
    return text if together == joined else together


def _until_settled(text: str) -> str:
    for _ in range(_MOST_PASSES):
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _once(text: str) -> str:
    if "PRIVATE KEY" in text or "PuTTY-User-Key" in text:
        text = redact_private_keys(text)
    text = redact_shapes(text)
    folded = _fold(text)
    for step in (redact_places, redact_commands, redact_inline, redact_told):
        placed = step(text, folded)
        if placed is not text:
            text = placed
            folded = _fold(text)
    return redact_named(text, folded) if any(name in folded for name in _NAMES) else text


def _fold(text: str) -> str:
    """In lower case, and of the same length: the dotted capital I is the one letter that grows."""
    return text.replace("\u0130", "I").lower()
