"""What a word that nobody ever wrote was probably meant to be: a slip of the fingers away from one that is known. Pure.

Only slips that leave the first letter, and of them a letter too many, one too few, or two that changed places; another
letter in its place counts from eight letters on, because short words one letter apart are mostly two (mango, mongo). Of
four letters only a double letter that was missed is one (eror, error).
"""

from collections.abc import Iterable

SHORTEST, SHORTEST_TYPED = 5, 4
_SUBSTITUTION_FROM = 8


def likely_meant(word: str, known: Iterable[tuple[str, int]]) -> str | None:
    """Of `known` (word, how many hold it), the most frequent that `word` was meant to be; None when it is none."""
    wanted = word.casefold()
    if not may_be_slip(wanted):
        return None
    best = max(
        ((count, term) for term, count in known if len(term) >= SHORTEST and term.isalpha() and _slip(wanted, term)),
        default=None,
    )
    return best[1] if best else None


def may_be_slip(word: str) -> bool:
    """Whether it is the kind of word that is looked at: long enough, of letters only."""
    return len(word) >= SHORTEST_TYPED and word.isascii() and word.isalpha()


def _slip(a: str, b: str) -> bool:
    if a == b or a[0] != b[0] or abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    rest_a, rest_b = a[start:], b[start:]
    if len(a) != len(b):
        longer, shorter = (rest_a, rest_b) if len(a) > len(b) else (rest_b, rest_a)
        return longer[1:] == shorter and (len(a) >= SHORTEST or longer[0] == b[start - 1])
    if rest_a[:2] == rest_b[1::-1] and rest_a[2:] == rest_b[2:]:
        return True
    return len(a) >= _SUBSTITUTION_FROM and rest_a[1:] == rest_b[1:]
