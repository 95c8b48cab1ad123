"""Secrets that only their name gives away: `DB_PASSWORD=x`, `"api_key": "x"`, `--token x`, "the password is x".

A name is looked for first, since names are rare; what stands behind it is then matched from there. Matching is linear:
every look at a value is bounded, and only a value that is taken out is followed to its end.
"""

import re
from typing import NamedTuple

from hippo_core.guard.plausible import (
    is_dense,
    is_jumbled,
    is_literal_secret,
    is_placeholder,
    is_prose,
    is_unword,
    looks_random,
    names_something_else,
)

MARKER = "[redacted:named]"

_STEM = re.compile("pass|pwd?|psk|secret|token|credential|key")
_NAME = re.compile(
    r"(?P<word>(?i:pass(?:word|wd|phrase|code|wort|e(?=[ ]?[:=]))?|pwd?|psk|secret|token|credentials?|key))(?![a-z])"
    r"(?P<rest>(?:[_\-.][\w\-.]{0,40}|(?<=[a-z])[A-Z]\w{0,40}|\d{1,3}(?!\d))?)"
)
# A key is a secret's name only behind one of these.
_KEYS = tuple(
    "api access private secret encryption signing account auth master shared service subscription webhook "
    "client app deploy license admin hmac wpa wpa2 wpa3 wifi".split()
)
# The value may be a block of its own below its name, as in YAML.
_ASSIGNED = re.compile(
    r"(?:\\{0,7}[\"'`])?\]?(?:\*\*)?(?:[ \t][(\[][^()\[\]\r\n]{0,30}[)\]])?"
    r"(?:[ \t](?:for|of|on|at|zum|zur|für)[ \t][\w ./@-]{1,40}?)?(?P<gap>[ \t]{0,4})"
    r"(?P<sign>=>|->|:=|==?|:|→|：)(?:\*\*)?(?P<after>[ \t]{0,4}(?P<below>(?:[|>][+-]?)?[ \t]{0,4}\r?\n[ \t]{0,16})?)"
    r"(?:[bfru]{0,2}(?:(?P<escaped>\\{1,7}[\"'])(?P<inner>[^\\\"'\r\n]{1,200})"
    r"|(?P<quote>[\"'`])(?P<quoted>(?:\\.|[^\\\r\n\"'`]){1,200}))"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]|&]{1,120}))"
)
# A name and its value side by side, as in `name: X` and `value: Y`, attributes of XML, or cells of a table.
_PAIRED = re.compile(
    r"\\?[\"'`]?(?:,|;|[ \t]{0,3}\|)?\s{0,20}(?:\\?[\"']?(?i:value)\\?[\"']?\s{0,3}[:=]\s{0,3}"
    r"|(?<=\|)[ \t]{0,20}|(?<=\| ))"
    r"(?P<quote>\\?[\"'`])?(?P<bare>[^\s\"'`,;<>(){}\[\]|&\\]{1,200})"
)
_PASSED = re.compile(r"\\?[\"'],[ \t]{1,3}[bfru]?\\?[\"'](?P<bare>[^\s\"'\\]{16,200})\\?[\"']")
_SPACED = re.compile(
    r"[ \t]{1,4}(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\r\n]{1,200})"
    r"|(?P<bare>[^\s\"'`<>()\[\]{}|;&-][^\s\"'`;|&]{0,119}))"
)
_SPOKEN = re.compile(
    r"[\"'`]?(?:[ \t](?:for|of|on|in|at)[ \t][^\r\n.:;,]{1,40}?)?[ \t]{1,3}"
    r"(?i:is|was|to)[ \t]{0,2}:?[ \t]{1,3}[\"'`]?(?P<bare>[^\s\"'`<>,;()\[\]]{4,120})"
)
_TAGGED = re.compile(r"(?P<attribute>[\"'][^<>\r\n]{0,60})?>(?P<bare>[^\s<>{}]{3,200})</")
_LOGIN_NAME = (
    r"[\"']?(?:\w+[_.-])?(?:user(?:_?name)?|login|host(?:name)?|email|server|database|db(?:_?name)?|port)[\"']?"
)
_LOGIN_BEFORE = re.compile(
    rf"(?i)(?:^|[\s,;{{(]){_LOGIN_NAME}[ ]?[:=][ ]?[\"']?[\w.@/-]+[\"']?[ ]?[,;\s]\s*[\w\"' -]{{0,20}}\Z"
)
_LOGIN_AFTER = re.compile(rf"(?i)[ \t]*\r?\n[ \t-]*{_LOGIN_NAME}[ ]?[:=][ ]?\S")
_DASHES = re.compile(r"(?<![\w-])--?[A-Za-z0-9-]{0,30}\Z")
_WHOLE = re.compile(r"[\w!#$%^*+=~-]{20,}")  # neither a path, a call nor a name with dots
# What still belongs to a value: to the next white space, or to the quote that ends it.
_BARE_END = re.compile(r"[^\s\"'`,;<>(){}\[\]|&]*")
_ENV_END = re.compile(r"[^\s\"'`;]*")
_QUOTED_END = {quote: re.compile(rf"(?:\\.|[^\\\r\n{quote}])*") for quote in "\"'`"}


_LITERAL = re.compile(
    r"(?i:pass(?:w|phrase|code|_|\b)|pwd|secret|token|credential)|Pass|key\b|[a-z_]Key|[Kk]ey_|KEY\b(?<![A-Z]{9})"
)


# What a variable's name has only where it belongs to a word: a digit between letters, two digits at its end.
_CHOSEN = re.compile(r"[^\W\d_]\d+[^\W\d_]|\d\d\Z")
_NUMBERED = re.compile(r"(?i)oauth2|base(?:32|58|64)|sha\d+|md5|aes\d+|x509|argon2|(?<![a-z])(?:s3|ec2|k8s|v\d)")


class Name(NamedTuple):
    """A secret's name as found. env: written as an environment variable is. flag: an option of a command."""

    word: str
    password: bool
    env: bool
    flag: bool
    alone: bool


def redact_named(text: str, folded: str) -> str:
    """`text` with every named secret replaced. folded: the text in lower case, of the same length."""
    kept: list[str] = []
    position = 0
    for stem in _STEM.finditer(folded):
        if stem.start() < position:
            continue
        span = _value_span(text, folded, stem.start())
        if span:
            kept += text[position : span[0]], MARKER
            position = span[1]
    return "".join(kept) + text[position:] if kept else text


def _value_span(text: str, folded: str, start: int) -> tuple[int, int] | None:
    """Where the secret stands whose name begins at `start`, None when there is none."""
    found = _NAME.match(text, start)
    if found is None or names_something_else(found["rest"]):
        return None
    name = _describe(text, folded, start, found)
    if name is None:
        return None
    end = found.end()
    if assigned := _ASSIGNED.match(text, end):
        return _assigned(text, assigned, name)
    if paired := _PAIRED.match(text, end):
        return _paired(text, paired, name)
    if passed := _PASSED.match(text, end):
        return passed.span("bare") if is_dense(passed["bare"]) else None
    if tagged := _TAGGED.match(text, end):
        opened = text[start - 1 : start] == "<" and is_literal_secret(tagged["bare"], name.password)
        hides = is_dense(tagged["bare"], 8) if tagged["attribute"] else opened
        return tagged.span("bare") if hides else None
    spoken = _SPOKEN.match(text, end)
    if spoken:
        value = spoken["bare"].rstrip(".:!?")
        begin = spoken.start("bare")
        return (begin, begin + len(value)) if len(value) >= 4 and looks_random(value, name.password) else None
    spaced = _SPACED.match(text, end)
    return _spaced(text, spaced, name) if spaced else None


def _describe(text: str, folded: str, start: int, found: re.Match[str]) -> Name | None:
    word = found["word"].lower()
    before = folded[max(0, start - 14) : start]
    if word in ("pw", "psk") and before[-1:].isalnum():
        return None
    if word == "key" and not before.rstrip("_-. ").endswith(_KEYS) or word == "passe" and "mot de" not in before:
        return None
    password = word.startswith("p")
    prefixed = before[-1:] in ("_", "-", ".") or found["word"][0].isupper() and before[-1:].isalpha()
    flag = "-" in before and _DASHES.search(text, max(0, start - 40), start) is not None
    return Name(word, password, found["word"].isupper(), flag, word == "pass" and not prefixed and not found["rest"])


def _assigned(text: str, match: re.Match[str], name: Name) -> tuple[int, int] | None:
    quote = match["quote"] or match["escaped"]
    if quote:
        group = "quoted" if match["quote"] else "inner"
        if not is_literal_secret(match[group], name.password, phrase=name.word == "passphrase"):
            return None
        begin, end = match.span(group)
        return begin, _QUOTED_END[quote].match(text, end).end() if match["quote"] else end
    value = match["bare"]
    begin, end = match.span("bare")
    if match["below"] and value.endswith(":"):
        return None
    tight = not match["gap"] and not match["after"]
    calls = text[end : end + 1] in ("(", "[") and value.replace(".", "_").isidentifier()
    if calls or is_placeholder(value):
        return None
    if name.alone and not _follows_login(match) and (not tight or value.isdigit()):
        return None
    if tight and match["sign"] == "=" and (name.env or name.flag):
        hides = len(value) >= (3 if name.password else 6) and (name.password or not value.isdigit())
        return (begin, _ENV_END.match(text, end).end()) if hides else None
    beside = name.password and _stands_beside_login(match, name)
    if not beside and not _is_bare_secret(value, name, tight and match["sign"] == "="):
        return None
    return begin, _BARE_END.match(text, end).end()


def _stands_beside_login(match: re.Match[str], name: Name) -> bool:
    """Whether the line, or the value before, names who logs in or where: then any word is the password."""
    text, value = match.string, match["bare"]
    rest = text[match.end() : match.end() + 2].lstrip(" \t\r")
    if name.alone or len(value) < 6 or not (value.isalpha() and value.islower()):
        return False
    if rest[:1] not in ("", "\n", ",", "}", ";"):
        return False
    begin = max(0, match.start() - 120)
    if _LOGIN_BEFORE.search(text[begin : match.start()]):
        return True
    indent = text[text.rfind("\n", begin, match.start()) + 1 : match.start()].strip(" \t\"'-_")
    return (indent == "" or indent.isidentifier()) and _LOGIN_AFTER.match(text, match.end()) is not None


def _follows_login(match: re.Match[str]) -> bool:
    """Whether a user's name stands shortly before; otherwise `pass: x` is what a test run prints."""
    value = match["bare"]
    before = match.string[max(0, match.start() - 60) : match.start()].lower()
    mixed = any(c.isdigit() for c in value) and any(c.isupper() for c in value) and "_" not in value
    return (mixed or is_jumbled(value, 8)) and any(word in before for word in ("user", "login", "admin", "account"))


def _paired(text: str, match: re.Match[str], name: Name) -> tuple[int, int] | None:
    value = match["bare"]
    if is_placeholder(value) or not (
        looks_random(value, name.password) or match["quote"] and name.env and name.password
    ):
        return None
    if "|" in match[0]:
        row = text[text.rfind("\n", max(0, match.start() - 200), match.start()) + 1 : match.start()]
        return match.span("bare") if row.lstrip().startswith("|") and is_dense(value, 6) else None
    return match.span("bare") if len(value) >= 4 else None


def _is_bare_secret(value: str, name: Name, tight: bool) -> bool:
    """Whether an unquoted value is a secret, and not a type, a variable or the next word of a sentence."""
    word = value.replace(".", "_").replace("-", "_").rstrip("?!:_")
    if word.isidentifier() and (is_literal_name(value) or "." in value.rstrip(".:!?")):
        return False
    if tight and name.password:
        return len(value) >= 4
    if name.env and name.password and value.isalnum() and len(value) >= 6:
        return not is_prose(value)
    return looks_random(value, name.password) or (tight and value.isalpha() and len(value) >= 20)


def is_literal_name(value: str) -> bool:
    """Whether an identifier says by its own name that it only stands for a secret: auth_token, userPassword."""
    if is_jumbled(value, 8) or sum(c.isdigit() for c in value) > 3 or not value.isidentifier() and value.isalnum():
        return False
    if "_" not in value and _CHOSEN.search(_NUMBERED.sub("", value)):
        return False
    return _LITERAL.search(value) is not None


def _spaced(text: str, match: re.Match[str], name: Name) -> tuple[int, int] | None:
    """`--password x`, `password x` as .netrc has it, `PASSWORD 'x'` as SQL has it."""
    group = "quoted" if match["quoted"] else "bare"
    value = match[group]
    if is_placeholder(value) or is_prose(value) or name.alone and not name.flag:
        return None
    random = looks_random(value, name.password) and " " not in value
    if name.flag:
        hides = random or (name.password and len(value) >= 4 and " " not in value)
    else:
        digits = any(c.isdigit() for c in value)
        hides = (
            name.password and random and digits and len(value) >= 6 and (match["quote"] != "`" or is_dense(value, 6))
        )
        hides = hides or is_jumbled(value, 8 if name.password else 16)
        ends = text[match.end() : match.end() + 1] in ("", "\n", ",", ";")
        hides = hides or name.password and ends and is_unword(value)
        hides = hides or bool(match["quoted"]) and match["quote"] == '"' and is_dense(value, 20)
        hides = hides or not match["quoted"] and _WHOLE.fullmatch(value) is not None and is_dense(value, 20)
        hides = hides or bool(name.env and (match["quoted"] and random or is_dense(value)))
    if not hides:
        return None
    begin, end = match.span(group)
    return begin, end if match["quoted"] else _ENV_END.match(text, end).end()
