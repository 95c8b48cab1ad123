"""Secrets that travel in a fixed place: the login in a URL, headers, cookies, signatures, private keys in armour."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Place(NamedTuple):
    """hints: the first and the last lower-case literal that a match needs. pattern: has groups `lead` and `secret`."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[re.Match[str]], bool]


def _is_open(match: re.Match[str]) -> bool:
    """Not a variable, not a placeholder, not redacted before."""
    return not re.match(r"\[redacted:|[$<{%\[]|\*{3}", match["secret"])


def _has_digit(match: re.Match[str]) -> bool:
    return any(c.isdigit() for c in match["secret"])


def _is_of_fetch_command(match: re.Match[str]) -> bool:
    """`-u a:b` is a login for curl; for docker it is a user and a group."""
    line = match.string[max(0, match.start() - 400) : match.start()].rpartition("\n")[2].lower()
    return _is_open(match) and any(command in line for command in ("curl", "wget", "http"))


PLACES: tuple[Place, ...] = (
    Place(
        "url-login",
        ("://", "@"),
        re.compile(
            r"(?P<lead>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'<>`]{0,200}:)"
            r"(?P<secret>[^\s/\"'<>`]{1,400})(?=@)"
        ),
        _is_open,
    ),
    Place("url-login", ("://", "@"), re.compile(r"(?P<lead>://)(?P<secret>[A-Za-z0-9_-]{20,400})(?=@)"), _has_digit),
    Place(
        "header",
        ("authorization",),
        re.compile(
            r"(?P<lead>(?i:(?:proxy-)?authorization)\\?[\"']?[ \t]{0,3}[:=][ \t]{0,3}\\?[\"']?"
            r"(?:(?i:basic|bearer|token|digest|apikey|negotiate)[ \t]{1,3})?)(?P<secret>[A-Za-z0-9._~+/=-]{8,8000})"
        ),
        _has_digit,
    ),
    Place(
        "header",
        ("bearer",),
        re.compile(r"(?P<lead>(?<![A-Za-z])(?i:bearer)[ \t]{1,3})(?P<secret>[A-Za-z0-9._~+/=-]{8,8000})"),
        _has_digit,
    ),
    Place(
        "header",
        ("basic ",),
        re.compile(r"(?P<lead>(?<![A-Za-z])(?i:basic)[ \t]{1,3})(?P<secret>[A-Za-z0-9+/]{12,2000}={1,2})"),
        _is_open,
    ),
    Place(
        "cookie",
        ("cookie:",),
        re.compile(r"(?P<lead>(?i:(?:set-)?cookie):[ \t]{0,3}[\w.-]{1,80}=)(?P<secret>[^\r\n\"'\[]{8,4000})"),
        _is_open,
    ),
    Place(
        "signature",
        ("sig",),
        re.compile(
            r"(?P<lead>[?&;](?i:sig|signature|x-amz-signature|x-goog-signature)=)(?P<secret>[A-Za-z0-9%+/=_-]{20,400})"
        ),
        _is_open,
    ),
    Place(
        "login",
        ("-u", ":"),
        re.compile(
            r"(?P<lead>(?<!\S)(?:-u|--user|--proxy-user)(?:[ \t]{1,3}|=)[\"']?[^\s:\"'$<]{1,80}:)"
            r"(?P<secret>[^\s\"'<>]{3,200})"
        ),
        _is_of_fetch_command,
    ),
)

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BORDER = re.compile(r"-----(?P<what>BEGIN|END) [A-Z0-9 ]{0,60}-----")
# The body of a key whose end is missing: header lines, then runs of Base64, as lines or with escaped line feeds.
_KEY_BODY = re.compile(
    r"(?:(?:\s|\\[nr]){1,4}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,200}){0,6}(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{16,4000})*"
    r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{1,15}\Z)?"
)
_LONGEST_KEY = 50_000


def redact_places(text: str, folded: str) -> str:
    """`text` with every secret in one of the PLACES replaced. folded: the text in lower case."""
    for kind, hints, pattern, judge in PLACES:
        if hints[0] in folded and hints[-1] in folded:
            marker = f"[redacted:{kind}]"
            text = pattern.sub(lambda match: match["lead"] + marker if judge(match) else match[0], text)  # noqa: B023
    return text


def redact_private_keys(text: str) -> str:
    """`text` without private keys in PEM or PGP armour, also when their end was cut off."""
    kept: list[str] = []
    position = 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < position:
            continue
        border = _KEY_BORDER.search(text, begin.end(), begin.end() + _LONGEST_KEY)
        whole = border is not None and border["what"] == "END"
        kept += text[position : begin.start()], "[redacted:private-key]"
        position = border.end() if whole else _KEY_BODY.match(text, begin.end()).end()
    return "".join(kept) + text[position:] if kept else text
