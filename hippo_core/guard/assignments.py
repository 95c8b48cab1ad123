"""Secrets that only their neighbour gives away: `NAME_PASSWORD=value`, `"api_key": "..."`, `--token x`, headers, URLs.

The name says that a secret follows; whether the value is one, and not a type, a variable or a placeholder, is judged
here. Bounded repetitions only, so matching is linear in the text.
"""

import re

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|passwd|pwd|secret|token|credentials?"
    r"|(?:api|access|private|secret|encryption|signing|account|auth|master|shared|storage|service|subscription|webhook"
    r"|client|app|deploy|license|admin)[_\- ]?key|apikey)"
)
# What may follow the word within the same name: PASSWORD_PROD, tokenValue, secret2; but not "tokens" or "secretary".
_REST = r"(?P<rest>(?:[_\-.][\w\-.]{0,40}|(?<=[a-z])[A-Z]\w{0,40}|\d{1,3})?)"
_OPERATOR = r"(?P<gap>[ \t]{0,4})(?:=>|:=|==?|:)(?P<after>[ \t]{0,4})"
_VALUE = (
    r"(?:(?P<prefix>[bfru]{1,2})?(?P<quote>[\"'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\\r\n]){1,4000})"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]|&]{1,4000})(?P<next>[(\[]?))"
)
ASSIGNMENT = re.compile(rf"(?P<name>(?i:{_NAME}))(?P<plural>[a-z]{{0,2}})(?![a-z]){_REST}[\"'`]?\]?{_OPERATOR}{_VALUE}")
FLAG = re.compile(
    rf"(?P<flag>(?<![\w-])--?(?:[a-z0-9]{{1,20}}-){{0,3}}(?i:{_NAME}))(?P<gap>[ \t]{{1,4}})"
    r"(?:\"(?P<double>[^\"\n]{1,400})|'(?P<single>[^'\n]{1,400})|(?P<bare>[^\s\"'`<>\[\](){}|;&-][^\s\"'`;|&]{0,400}))"
)
SPOKEN = re.compile(
    r"(?P<lead>(?i:pass(?:word|phrase|wd|code)|pwd|api[ _-]?key|secret|token)[ \t]{1,3}(?i:is|was|=|to)[ \t]{0,3}:?[ \t]{0,3}"
    r"[\"'`]?)(?P<bare>[^\s\"'`<>]{6,200})"
)
HEADER = re.compile(
    r"(?P<lead>(?i:authorization|proxy-authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?i:basic|bearer|token|digest|apikey)[ \t]{1,3}"
    r"|(?<![A-Za-z])(?i:bearer)[ \t]{1,3})(?P<bare>[A-Za-z0-9._~+/=-]{8,8000})"
)
COOKIE = re.compile(r"(?P<lead>(?i:(?:set-)?cookie):[ \t]{0,3})(?P<bare>[\w.-]{1,80}=[^\r\n\"']{12,4000})")
URL = re.compile(
    r"(?P<lead>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'<>`]{0,200}:)(?P<bare>[^\s/\"'<>`]{1,400})(?=@)"
)
URL_USER = re.compile(r"(?P<lead>://)(?P<bare>[A-Za-z0-9_-]{20,400})(?=@)")
BASIC = re.compile(
    r"(?P<lead>(?<!\S)(?:-u|--user|--proxy-user)(?:[ \t]{1,3}|=)[\"']?[^\s:\"'$<]{1,80}:)(?P<bare>[^\s\"'<>]{3,200})"
)
SAS = re.compile(
    r"(?P<lead>[?&;](?i:sig|signature|x-amz-signature|x-goog-signature)=)(?P<bare>[A-Za-z0-9%+/=_-]{20,400})"
)

_PASSWORDS = re.compile(r"(?i)pass|pwd")
# Endings that make the name speak about a secret instead of holding one.
_ABOUT = re.compile(
    r"(?i)[_\-.]?(?:length|len|min|max|timeout|ttl|expir\w*|url|uri|file|path|dir|id|name|type|count|limit|header|field"
    r"|hasher|policy|regex|pattern|label|prompt|placeholder|error|message|msg|reset|required|enabled|strength|usage"
    r"|budget|rotation|manager|provider|store|ref|selector|class|env|var|endpoint|format|version|address|at|scope"
    r"|scopes|validators?|mode|prefix)s?\Z"
)
_PLACEHOLDER = re.compile(
    r"(?i)\A(?:[<\[{(%$].*|.*(?:\$\{|\{\{|<[a-z_ -]+>).*|[x*.•_?#-]+|.*\*{3,}.*|.*x{5,}.*|(?:your|my|the|some|insert|enter|change|replace"
    r"|example|sample|dummy|placeholder|redacted|todo|tbd|fixme)(?:[_\-. ].*)?|changeme|null|none|nil|undefined|true|false|yes|no"
    r"|on|off|string|str|text|bytes|int|integer|number|bool|boolean|object|any|optional|required|empty|unset|missing"
    r"|invalid|incorrect|wrong|secret|password|passwd|token|value|env|input|ask|prompt|default|auto|hidden)\Z"
)
_VARIABLE = re.compile(
    r"(?i)\A(?:os\.|process\.|self\.|this\.|args\.|config\.|settings\.|env\.|req\.|request\.|secrets?\.|vault:|ref\+|op://|arn:|!)"
)
_IDENTIFIER = re.compile(r"\A[A-Za-z_$][\w$]*(?:[.\-][A-Za-z_$][\w$]*)*[?!:.]*\Z")
_NAMED_SO = re.compile(r"(?i)pass|pwd|secret|token|key|cred|auth")
_PATH = re.compile(r"\A(?:\.{0,2}/[\w./-]*|~/.*|[A-Za-z]:\\.*|https?://.*)\Z")


def is_secret_assignment(match: re.Match[str]) -> bool:
    """Whether the value in a match of ASSIGNMENT is worth hiding."""
    name, rest = match["name"], match["rest"]
    if match["plural"] or (rest and _ABOUT.search(rest)):
        return False
    password = _PASSWORDS.search(name) is not None
    if match["quote"]:
        return _is_secret_literal(match["quoted"], password)
    value = match["bare"]
    if match["next"] or is_placeholder(value):
        return False
    tight = not match["gap"] and not match["after"]
    if tight and match[0][len(name) + len(rest)] == "=" and name.isupper():
        return len(value) >= 3 and (password or not value.isdigit())
    if _IDENTIFIER.match(value) and (_NAMED_SO.search(value) or not tight):
        return bool(re.search(r"\d", value)) and not _NAMED_SO.search(value) and len(value) >= 6
    if tight:
        return len(value) >= (4 if password else 8) and (password or not value.isdigit())
    return len(value) >= 6 and looks_random(value, password)


def is_secret_word(value: str, password: bool) -> bool:
    """Whether a bare word that follows a flag, or "password is", is worth hiding."""
    if is_placeholder(value):
        return False
    return looks_random(value.rstrip(".,;:!?)"), password)


def is_hidden_already(value: str) -> bool:
    """Whether the value is a placeholder, a variable, or redacted before."""
    return value.startswith("[redacted:") or bool(re.match(r"(?:[$<{%\[]|\*{3})", value))


def looks_random(value: str, password: bool) -> bool:
    """Whether letters mix with digits or signs, as in no ordinary word."""
    digits = any(c.isdigit() for c in value)
    letters = any(c.isalpha() for c in value)
    if password:
        return (digits and (letters or len(value) >= 6)) or bool(re.search(r"[!@#$%^&*+=~]", value))
    return digits and letters and len(value) >= 8


def _is_secret_literal(value: str, password: bool) -> bool:
    if is_placeholder(value) or len(value) < 3:
        return False
    if " " in value:  # a sentence, unless it is a passphrase
        return password and len(value) < 80 and looks_random(value, True)
    if password:
        return len(value) >= 4 and not _NAMED_SO.fullmatch(value)
    return len(value) >= 12 and not value.isdigit() if _IDENTIFIER.match(value) and value.isalpha() else len(value) >= 6


def is_placeholder(value: str) -> bool:
    return bool(_PLACEHOLDER.match(value[:200]) or _VARIABLE.match(value) or _PATH.match(value[:300]))
