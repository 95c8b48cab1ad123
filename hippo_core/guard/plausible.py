"""Judges whether a value can be a secret, or is a placeholder, a variable, a type, a path or an ordinary word.

Pure functions over short strings; knows nothing of where the value was found.
"""

import re

# Last words of a name that speaks about a secret instead of holding one: PASSWORD_LENGTH, TOKEN_URL, secretName.
_ABOUT = frozenset(
    "length len min max timeout ttl expiry expires expiration expired url uri file path dir id ids name names type "
    "types count limit header headers field hasher policy regex pattern label prompt placeholder error errors message "
    "msg reset required enabled strength usage budget rotation manager provider store ref refs selector class env var "
    "vars endpoint format version address at scope scopes validator validators mode prefix stdin size index kind "
    "status test tests mgr py js ts md txt".split()
)
_PLACEHOLDER = re.compile(
    r"(?i)(?:"
    r"[<\[{(%].*|!(?:vault|secret|ref|reference|env|sub|getatt)"
    r"|\$(?:\w+|[{(].*)"
    r"|.*(?:\$\{|\{\{|<[a-z_ -]+>|\*{3}|x{5}|\.{3}|…).*"
    r"|[x*.•_?#$-]+"
    r"|(?:your|my|the|some|insert|enter|change|replace|example|sample|dummy|placeholder|redacted|todo|tbd|fixme)"
    r"(?:[_\-. ].*)?"
    r"|changeme|null|none|nil|undefined|true|false|yes|no|on|off|string|str|text|bytes|int|integer|number|bool|boolean"
    r"|object|any|optional|required|empty|unset|missing|invalid|incorrect|wrong|secret|password|passwd|token|env"
    r"|input|ask|prompt|default|auto|hidden|hash|hashed|plain|char|varchar|unknown|never"
    r")\Z",
    re.DOTALL,
)
_ELSEWHERE = re.compile(
    r"(?i)(?:os\.|process\.|self\.|this\.|args\.|config\.|settings\.|env\.|req\.|request\.|secrets?\.|vault:|ref\+|"
    r"op://"
    r"|arn:|\.{0,2}/(?!(?=[^+=]*[+=])[a-z0-9+/]{20,}={0,2}\Z)|~/|[a-z]:\\|https?://)"
)
_PROSE = frozenset(
    "flag flags option options argument arguments parameter parameters is are was to and or for with in on when "
    "instead if as from file because which that this must should can will has have not also only field fields works "
    "expires expired auth based authentication authorization manager protected policy "
    "reset change here there again first then".split()
)
# The letters that follow each letter in the words and names of programs: the pairs of which each makes up at least
# 0.07 % of all, 92 % together. A random string misses half of them.
_PAIRS = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyz",
        "bcdgiklmnprstuvxy aeilorsuy acdehiklmorstu abcdefiloprstu abcdefgilmnopqrstvwxy aefilorstu aehilnorsu aeiot "
        "abcdefglmnoprstvxz aou eis acdeilopstuy abeilmopsu acdefgiklnopstuv abcdfgiklmnoprstuvw acdehiloprstuy u "
        "acdefgiklmnoprstuy acdefhiklmnoprstuy abcdefhilmnoprstuy abcefilmnprst aei aeior ept pst ez".split(),
        strict=True,
    )
)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_JUMBLED = 0.62  # names have 0.3 in the middle, random strings of both cases 0.95
_UNWORD = 0.3  # of the pairs in random letters half are rare
_FIVE_CONSONANTS = re.compile("[^aeiouy]{5}")
_SIGNS = re.compile(r"[!@#$%^&*+=~]")


def names_something_else(rest: str) -> bool:
    """Whether what follows the word in a name says that it holds no secret."""
    if not rest:
        return False
    last = rest.replace("-", "_").replace(".", "_").rpartition("_")[2]
    if not last.isupper():  # the last hump of a camel
        last = last[max((n for n, c in enumerate(last) if c.isupper()), default=0) :]
    return last.lower() in _ABOUT


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret kept elsewhere, or for none; also one that was redacted before."""
    return bool(_PLACEHOLDER.match(value) or _ELSEWHERE.match(value))


def is_prose(value: str) -> bool:
    return value.lower().rstrip(".,:;!?)") in _PROSE


def is_literal_secret(value: str, password: bool, *, phrase: bool = False) -> bool:
    """Whether a string literal, assigned to a secret's name, is the secret."""
    if is_placeholder(value) or len(value) < 4:
        return False
    if " " in value:  # a sentence, unless the name announces several words
        return phrase or (password and looks_random(value, True))
    if password:
        return True
    if any(c.isdigit() for c in value) or _SIGNS.search(value):
        return len(value) >= 8 and not value.isdigit()
    return len(value) >= 12 and value.isalpha() or len(value) >= 24


def looks_random(value: str, password: bool) -> bool:
    """Whether letters mix with digits or signs, as in no ordinary word."""
    digits = any(c.isdigit() for c in value)
    letters = any(c.isalpha() for c in value)
    if password:
        return (
            (digits and (letters or len(value) >= 6))
            or _SIGNS.search(value) is not None
            or is_jumbled(value, 8)
            or is_unword(value)
        )
    return digits and letters and len(value) >= 8 or is_jumbled(value)


def is_jumbled(value: str, shortest: int = 16) -> bool:
    """Whether a run of letters alone is no word and no CamelCase name, by the pairs of letters and the humps in it."""
    if len(value) < shortest or not (value.isascii() and value.isalpha()):
        return False
    folded = value.lower()
    rare = sum(second not in _PAIRS[first] for first, second in zip(folded, folded[1:], strict=False))
    return rare / (len(value) - 1) + len(_HUMP.findall(value)) / len(value) >= _JUMBLED


def is_unword(value: str) -> bool:
    """Whether letters of one case follow each other as in no word: one word in a hundred has so many rare pairs."""
    if len(value) < 8 or not (value.isascii() and value.isalpha() and (value.islower() or value.isupper())):
        return False
    folded = value.lower()
    rare = sum(second not in _PAIRS[first] for first, second in zip(folded, folded[1:], strict=False))
    return rare / (len(value) - 1) >= _UNWORD or _FIVE_CONSONANTS.search(folded) is not None


def is_dense(value: str, shortest: int = 16) -> bool:
    """Whether capitals, small letters and digits mix, or many digits with letters: never so in a name."""
    digits = sum(c.isdigit() for c in value)
    mixed = not value.islower() and not value.isupper() and not value.isdigit()
    dense = digits and (mixed or digits >= 4 and not value.isdigit()) and "_" not in value
    return len(value) >= shortest and bool(dense) or is_jumbled(value, max(8, shortest))
