"""What a rendered text costs, estimated without a tokenizer, and how much is allowed. Knows no text itself.

The client shows at most 10,000 characters of one hook, and counts them as JavaScript does, in UTF-16 units.
"""

from collections.abc import Iterable

MOST_CHARACTERS = 9_500
STANDING_TOKENS = 2_000
MEMORY_TOKENS = 900
AGENT_TOKENS = 350
NUDGE_TOKENS = 70


def tokens(text: str) -> int:
    """An upper estimate of a model's tokens: one for three ASCII characters, one for two bytes of anything else.

    English prose is nearer four characters a token, source code three; a Chinese character (three bytes) is one or two.
    """
    encoded = text.encode("utf-8", "replace")
    beyond_ascii = sum(byte > 127 for byte in encoded) if not text.isascii() else 0
    return -(-(2 * (len(encoded) - beyond_ascii) + 3 * beyond_ascii) // 6)


def letters(text: str, most: int) -> int:
    """How many letters of `text` cost no more than `most` ASCII ones."""
    if text.isascii():
        return most
    left = 2 * most
    for count, letter in enumerate(text):
        left -= 2 if letter.isascii() else 3 * len(letter.encode("utf-8", "replace"))
        if left < 0:
            return count
    return len(text)


def characters(text: str) -> int:
    """The length of `text` as the client counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitting(lines: Iterable[str], most_tokens: int, most_characters: int) -> list[str]:
    """The lines that fit, in order; one that is too long is passed over and shorter ones after it may still fit."""
    taken = []
    for line in lines:
        cost, length = tokens(line + "\n"), characters(line) + 1
        if cost <= most_tokens and length <= most_characters:
            taken.append(line)
            most_tokens, most_characters = most_tokens - cost, most_characters - length
    return taken
