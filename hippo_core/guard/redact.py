"""Takes secrets out of decoded text: each becomes `[redacted:kind]`, everything else stays as it is.

Runs before any write, embedding, model call or log. Idempotent and linear in the text. Never give it raw JSON: an
escaped line feed puts a letter in front of a key, and a replaced quote breaks the line.
"""

from hippo_core.guard.carried import redact_places, redact_private_keys
from hippo_core.guard.named import redact_named
from hippo_core.guard.shapes import redact_shapes

# What one pass puts in place of a secret may make a neighbour plain; more than a second pass is never needed but for
# texts made to need it.
_MOST_PASSES = 5
_NAMES = ("pass", "pwd", "secret", "token", "key", "credential")


def redact(text: str) -> str:
    """`text` with every secret in it replaced by `[redacted:kind]`."""
    for _ in range(_MOST_PASSES):
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _once(text: str) -> str:
    if "PRIVATE KEY" in text:
        text = redact_private_keys(text)
    text = redact_shapes(text)
    folded = _fold(text)
    if ":" in folded or "bearer" in folded or "basic" in folded:
        text = redact_places(text, folded)
        folded = _fold(text)
    return redact_named(text, folded) if any(name in folded for name in _NAMES) else text


def _fold(text: str) -> str:
    """In lower case, and of the same length: the dotted capital I is the one letter that grows."""
    return text.replace("\u0130", "I").lower()
