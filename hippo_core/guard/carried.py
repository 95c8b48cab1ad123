"""Secrets that travel in a fixed place: the login in a URL, headers, cookies, signatures, private keys in armour."""

import re
from collections.abc import Callable
from typing import NamedTuple

from hippo_core.guard.plausible import is_dense, is_jumbled, is_placeholder, looks_random


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


def _is_mixed(match: re.Match[str]) -> bool:
    """Digits among letters, or letters as no word has them."""
    return _has_digit(match) or is_jumbled(match["secret"])


def _is_strong(match: re.Match[str]) -> bool:
    return is_dense(match["secret"], 8)


def _is_session(match: re.Match[str]) -> bool:
    """Not the UUID or the name by which a session is merely called."""
    secret = match["secret"]
    return not _UUID.match(secret) and looks_random(secret, False) and _is_open(match)


def _is_aws_secret(match: re.Match[str]) -> bool:
    """Forty characters of Base64, and not the hash of a commit."""
    secret = match["secret"]
    return _has_digit(match) and not secret.islower() and not secret.isupper()


def _is_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


_UUID = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-")

_SESSION = re.compile(
    r"(?P<lead>[sS](?<![\w-].)(?i:ession(?:_?id)?|id)(?:=|\\?[\"']:[ \t]{0,2}\\?[\"']))(?P<secret>[\w%.~+/=-]{24,4000})"
)
_SIGNATURE = re.compile(r"(?P<lead>[xX](?i:-(?:amz|goog)-signature)=)(?P<secret>[A-Za-z0-9%+/=_-]{20,400})")
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
            r"(?:(?i:basic|bearer|token|digest|apikey|negotiate|ssws)[ \t]{1,3})?)"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{8,8000})"
        ),
        _is_mixed,
    ),
    Place(
        "header",
        ("authorization", ","),
        re.compile(
            r"(?P<lead>(?i:authorization)\\?[\"'],[ \t]{0,3}[bfru]?\\?[\"'](?:(?i:basic|bearer|token)[ \t])?)"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{16,8000})"
        ),
        _is_strong,
    ),
    Place(
        "header",
        ("bearer",),
        re.compile(r"(?P<lead>(?<![A-Za-z])(?i:bearer)[ \t]{1,3})(?P<secret>[A-Za-z0-9._~+/=-]{8,8000})"),
        _is_mixed,
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
        "cookie",
        ("s", "id="),
        re.compile(
            r"(?P<lead>(?<![A-Za-z0-9])(?i:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|laravel_session)=)"
            r"(?P<secret>[\w%.~+/=!-]{16,4000})"
        ),
        _is_open,
    ),
    Place("cookie", ("session",), _SESSION, _is_session),
    Place("cookie", ("sid",), _SESSION, _is_session),
    Place(
        "signature",
        ("sig",),
        re.compile(r"(?P<lead>[?&;](?i:sig|signature)=)(?P<secret>[A-Za-z0-9%+/=_-]{20,400})"),
        _is_open,
    ),
    Place("signature", ("x-amz-signature=",), _SIGNATURE, _is_open),
    Place("signature", ("x-goog-signature=",), _SIGNATURE, _is_open),
    Place(
        "login",
        ("cred",),
        re.compile(
            r"(?P<lead>[cC]red(?:s|entials)?(?:[ ]?[:=]|[ ]are)[ ]?[\w.@-]{1,60}[ ]?[:/][ ]?)"
            r"(?P<secret>[^\s\"'`<>]{4,200})"
        ),
        lambda match: _is_open(match) and looks_random(match["secret"], True),
    ),
    Place(
        "login",
        ("login", " / "),
        re.compile(r"(?P<lead>[lL]ogin[ ]?[:=][ ]?[\w.@-]{1,60}[ ]/[ ])(?P<secret>[^\s\"'`<>]{6,200})"),
        lambda match: _is_open(match) and looks_random(match["secret"], True),
    ),
    Place("npm", ("_auth",), re.compile(r"(?P<lead>\b_auth\s?=\s?\"?)(?P<secret>[A-Za-z0-9+/=]{8,400})"), _is_strong),
    Place(
        "otp-seed",
        ("otpauth", "secret="),
        re.compile(
            r"(?P<lead>otpauth(?:-migration)?://[^\s\"'<>]{0,300}?[?&;](?i:secret)=)(?P<secret>[A-Za-z2-7=]{8,400})"
        ),
        _is_open,
    ),
    Place(
        "aws-secret",
        ("[redacted:aws]",),
        re.compile(
            r"(?P<lead>\[redacted:aws\](?:[^\[\r\n]{0,80}\r?\n)?[^\[\r\n]{0,80}?(?<![A-Za-z0-9/+=]))"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        _is_aws_secret,
    ),
    Place(
        "sql-password",
        ("identified", "by"),
        re.compile(
            r"(?P<lead>(?i:identified\s{1,3}(?:with\s{1,3}[\w'\"]{1,60}\s{1,3})?(?:by|"
            r"as)\s{1,3}(?:password\s{1,3})?)\\?[\"'])"
            r"(?P<secret>[^\s\"'\\]{3,200})"
        ),
        _is_password,
    ),
    Place(
        "sql-password",
        ("password", "with"),
        re.compile(r"(?P<lead>(?i:with\s{1,3}(?:encrypted\s{1,3})?password\s{1,3})')(?P<secret>[^\s'\\]{3,200})(?=')"),
        _is_password,
    ),
    Place(
        "login",
        ("auth", "("),
        re.compile(
            r"(?P<lead>(?:[aA]uth[ ]?=[ ]?[(\[]|[bB]asic[aA]uth\()\s{0,3}[bru]?[\"'][^\"'\r\n]{1,80}"
            r"[\"'],\s{0,3}[bru]?[\"'])"
            r"(?P<secret>[^\s\"']{3,200})"
        ),
        _is_password,
    ),
    Place(
        "login", (":thin:",), re.compile(r"(?P<lead>:thin:\w{1,60}/)(?P<secret>[^\s@\"'<>]{3,200})(?=@)"), _is_password
    ),
    Place(
        "login",
        ("password", "login "),
        re.compile(
            r"(?P<lead>\bmachine[ \t]{1,20}(?:\S{1,100}\s{0,20}\n|[\w-]{1,60}\.[\w.-]{1,100}[ \t]|localhost[ "
            r"\t])\s{0,20}"
            r"login\s{1,20}\S{1,100}\s{1,20}password[ \t]{1,4})"
            r"(?P<secret>\S{3,200})"
        ),
        _is_password,
    ),
    Place(
        "login",
        ('auth"',),
        re.compile(r"(?P<lead>\bauth\\?\"[ ]?:[ ]?\\?\")(?P<secret>[A-Za-z0-9+/]{12,2000}={0,2})(?=\\?\")"),
        _is_strong,
    ),
    Place(
        "aws-secret",
        ("secret", "aws"),
        re.compile(
            r"(?P<lead>(?i:aws[\w ]{0,20}secret[\w ]{0,16}[:= \"']{1,5}(?:is )?[\"']?))(?P<secret>[A-Za-z0-9/+]{40})"
            r"(?![A-Za-z0-9/+=])"
        ),
        _is_aws_secret,
    ),
    # A line of .pgpass: host, port, database, user, password.
    Place(
        "login",
        (":54",),
        re.compile(
            r"(?m)(?P<lead>^[\w.*-]{1,100}:54\d\d:[\w.*-]{1,60}:[\w.*-]{1,60}:)(?P<secret>[^\s:]{3,200})[ \t]*$"
        ),
        _is_password,
    ),
    Place(
        "login",
        (":*:",),
        re.compile(r"(?m)(?P<lead>^[\w.*-]{1,100}:(?:\*|\d{2,5}):\*:[\w.*-]{1,60}:)(?P<secret>[^\s:]{3,200})[ \t]*$"),
        _is_password,
    ),
)


def _gates() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The places by what several of their first hints have in common, so that most texts are searched for it once."""
    gates: dict[str, list[int]] = {}
    for number, place in enumerate(PLACES):
        first = place.hints[0]
        gate = next((shared for shared in ("auth", "sig", "secret", "cred") if shared in first), first)
        gates.setdefault(gate, []).append(number)
    return tuple((gate, tuple(rows)) for gate, rows in gates.items())


_GATES = _gates()
_KEY_BEGIN = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY ----"
    r"|(?<=\n)Private-Lines: \d+\r?\n"
)
_KEY_BORDER = re.compile(r"-----? ?(?P<what>BEGIN|END) [A-Z0-9 ]{0,60}-----?|Private-(?P<mac>MAC|Hash):")
# The body of a key whose end is missing: header lines, then runs of Base64, as lines or with escaped line feeds.
_KEY_BODY = re.compile(
    r"(?:(?:\s|\\[nr]){1,4}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,200}){0,6}(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{16,4000})*"
    r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{1,15}\Z)?"
)
_LONGEST_KEY = 50_000


def redact_places(text: str, folded: str) -> str:
    """`text` with every secret in one of the PLACES replaced. folded: the text in lower case."""
    for number in sorted([number for gate, rows in _GATES if gate in folded for number in rows]):
        kind, hints, pattern, judge = PLACES[number]
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
        if border is not None and border["mac"]:
            kept += text[position : begin.end()], "[redacted:private-key]\n"
            position = border.start()
            continue
        kept += text[position : begin.start()], "[redacted:private-key]"
        position = border.end() if whole else _KEY_BODY.match(text, begin.end()).end()
    return "".join(kept) + text[position:] if kept else text
