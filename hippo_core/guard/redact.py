"""Takes secrets out of decoded text: each becomes `[redacted:kind]`, everything else stays as it is.

Runs before any write, embedding, model call or log. Idempotent and linear in the text. Never give it raw JSON: an
escaped line feed puts a letter in front of a key, and a replaced quote breaks the line.
"""

import re
from collections.abc import Callable

from hippo_core.guard import assignments
from hippo_core.guard.shapes import SHAPES

_MOST_PASSES = 4
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}-----")
# The body of a key whose end is missing: header lines, then runs of Base64.
_KEY_BODY = re.compile(
    r"(?:(?:\s|\\[nr]){1,4}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,200}){0,6}(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{16,4000})*"
    r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{1,15}\Z)?"
)
_LONGEST_KEY = 50_000

Judge = Callable[[re.Match[str]], bool]


def redact(text: str) -> str:
    """`text` with every secret in it replaced by `[redacted:kind]`."""
    for _ in range(_MOST_PASSES):
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def _once(text: str) -> str:
    folded = text.lower()
    if "private key" in folded:
        text = _redact_keys(text)
    for kind, hints, pattern, needs_digit in SHAPES:
        if any(hint in folded for hint in hints):
            text = pattern.sub(_replacing(kind, needs_digit), text)
    if "://" in folded and "@" in folded:
        text = assignments.URL.sub(_keeping_lead("url-login", _not_hidden), text)
        text = assignments.URL_USER.sub(_keeping_lead("url-login", lambda match: _has_digit(match["bare"])), text)
    if "bearer" in folded or "authorization" in folded:
        text = assignments.HEADER.sub(_keeping_lead("header", _is_header), text)
    if "cookie:" in folded:
        text = assignments.COOKIE.sub(_keeping_lead("cookie", _not_hidden), text)
    if "sig" in folded:
        text = assignments.SAS.sub(_keeping_lead("signature", _not_hidden), text)
    if "-u" in folded or "user" in folded:
        text = assignments.BASIC.sub(_keeping_lead("login", _not_hidden), text)
    if any(word in folded for word in ("pass", "pwd", "secret", "token", "key", "credential")):
        text = assignments.ASSIGNMENT.sub(_assignment, text)
        text = assignments.FLAG.sub(_flag, text)
        text = assignments.SPOKEN.sub(_keeping_lead("spoken", _is_spoken), text)
    return text


def _redact_keys(text: str) -> str:
    """Private keys in PEM or PGP armour, also when their end was cut off."""
    kept: list[str] = []
    position = 0
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < position:
            continue
        end = _KEY_END.search(text, begin.end(), begin.end() + _LONGEST_KEY)
        another = _KEY_BEGIN.search(text, begin.end(), end.start()) if end else None
        whole = end is not None and another is None
        stop = end.end() if whole else _KEY_BODY.match(text, begin.end()).end()
        kept += text[position : begin.start()], "[redacted:private-key]"
        position = stop
    return "".join(kept) + text[position:]


def _replacing(kind: str, needs_digit: bool) -> Callable[[re.Match[str]], str]:
    marker = f"[redacted:{kind}]"
    return lambda match: match[0] if needs_digit and not _has_digit(match[0]) else marker


def _keeping_lead(kind: str, judge: Judge) -> Callable[[re.Match[str]], str]:
    marker = f"[redacted:{kind}]"
    return lambda match: match["lead"] + marker if judge(match) else match[0]


def _assignment(match: re.Match[str]) -> str:
    if not assignments.is_secret_assignment(match):
        return match[0]
    group = "quoted" if match["quote"] else "bare"
    before, after = match.start(group) - match.start(), match.end(group) - match.start()
    return match[0][:before] + "[redacted:assigned]" + match[0][after:]


def _flag(match: re.Match[str]) -> str:
    group = match.lastgroup or "bare"
    value = match[group]
    if value.startswith("[redacted:") or assignments.is_placeholder(value):
        return match[0]
    return match[0][: match.start(group) - match.start()] + "[redacted:flag]"


def _not_hidden(match: re.Match[str]) -> bool:
    return not assignments.is_hidden_already(match["bare"])


def _is_header(match: re.Match[str]) -> bool:
    return _has_digit(match["bare"]) or "authorization" in match["lead"].lower()


def _is_spoken(match: re.Match[str]) -> bool:
    return assignments.is_secret_word(match["bare"], "pass" in match["lead"].lower() or "pwd" in match["lead"].lower())


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)
