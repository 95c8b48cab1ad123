"""What a text must hold for a pattern to find anything in it, read off the pattern itself.

Most searches for a wording are spared when it is known which words cannot be missing. Reads Python's own parse of the
pattern; a part that it does not understand needs nothing. Knows nothing of what the patterns are for.
"""

import re
from collections.abc import Iterable
from itertools import product
from typing import Any

try:
    from re import _constants as codes
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser

Need = frozenset[str]  # one of these, in lower case and without white space, is in some word of the text
_MOST = 80  # spellings of one part of a pattern that are told apart
_DIGITS = frozenset("0123456789")


def needs_of(pattern: str) -> list[Need]:
    """What every text that `pattern` finds holds, whatever its case; what is rarest comes first."""
    return sorted(dict.fromkeys(_needs(parser.parse(pattern, re.IGNORECASE))), key=_rarity, reverse=True)


def _rarity(need: Need) -> tuple[int, int]:
    return min(map(len, need)), -len(need)


def _needs(sequence: Iterable[tuple[Any, Any]]) -> list[Need]:
    found: list[Need] = []
    run = {""}  # all spellings of what was read since the last part that has too many
    for code, value in sequence:
        spellings = _spellings(code, value)
        if spellings is not None and len(run) * len(spellings) <= _MOST and not _is_space(spellings):
            run = {"".join(pair) for pair in product(run, spellings)}
            continue
        found += _need_of(run)
        run = {""} if spellings is None else spellings
        if spellings is None:
            found += _inside(code, value)
    return found + _need_of(run)


def _is_space(spellings: set[str]) -> bool:
    return all(spelling.isspace() for spelling in spellings)


def _need_of(spellings: set[str]) -> list[Need]:
    """The longest word of each spelling; nothing where one of them has none."""
    words = frozenset(max(spelling.split(), key=len, default="") for spelling in spellings)
    return [] if "" in words else [words]


def _inside(code: Any, value: Any) -> list[Need]:
    """What a part needs that cannot be spelled out."""
    if code is codes.SUBPATTERN:
        return _needs(value[3])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[0] >= 1:
        return _needs(value[2])
    if code is codes.IN and list(value) == [(codes.CATEGORY, codes.CATEGORY_DIGIT)]:
        return [_DIGITS]
    if code is codes.BRANCH:
        rarest = [max(_needs(branch), key=_rarity, default=frozenset()) for branch in value[1]]
        return [frozenset().union(*rarest)] if all(rarest) else []
    return []


def _spellings(code: Any, value: Any) -> set[str] | None:
    """All that a part of a pattern may match, None where that is too much to say."""
    if code is codes.LITERAL:
        return {chr(value).lower()}
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return {""}
    if code is codes.IN and all(inner is codes.LITERAL for inner, _ in value):
        return {chr(letter).lower() for _, letter in value}
    if code is codes.SUBPATTERN:
        return _all_spellings(value[3])
    if code is codes.BRANCH:
        branches = [_all_spellings(branch) for branch in value[1]]
        return None if None in branches else _few(set().union(*branches))
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[:2] == (0, 1):
        once = _all_spellings(value[2])
        return None if once is None else once | {""}
    return None


def _all_spellings(sequence: Iterable[tuple[Any, Any]]) -> set[str] | None:
    run = {""}
    for code, value in sequence:
        spellings = _spellings(code, value)
        run = None if spellings is None else _few({"".join(pair) for pair in product(run, spellings)})
        if run is None:
            return None
    return run


def _few(spellings: set[str]) -> set[str] | None:
    return spellings if len(spellings) <= _MOST else None
