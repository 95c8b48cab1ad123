"""Secrets that are handed to a command in the text beside it: here-strings and here-documents.

Whether it is a secret is told by the command that reads it, by the file it is written to, or by its own looks.
"""

import re

from hippo_core.guard.plausible import is_dense, is_placeholder, looks_random

MARKER = "[redacted:login]"

_READS_SECRET = re.compile(
    r"(?i)--password-stdin|--with-token|--token-stdin|\bpass(?:in|out)? (?:stdin|fd:0)|\bpasswd\b|chpasswd|"
    r"sudo\b.*?-\w*S\b|"
    r"cryptsetup|\bvault login|set --password|htpasswd\b.*-\w*i|passphrase-fd|\bkinit\b|ssh-add|pass insert|"
    r"\bread\b.*(?:pass|token|secret|pwd|_key)|secrets? (?:set|put|create|add|versions add)|--(?:password|secret|"
    r"token)-file[ =]"
    r"(?:-|/dev/stdin)|--from-file=\S*(?:pass|token|secret|key)\S*=/dev/stdin"
)
_SECRET_FILE = re.compile(
    r"(?i)(?:>>?|\btee\b(?: -a)?)[ \t]*[\"']?\S*(?:\.pgpass|\.netrc|token|secret|passw|vault_?pass|credential|api_?key|"
    r"\.key\b|htpasswd)"
)
_STRING = re.compile(r"(?<!<)<<<[ \t]*\$?(?P<quote>[\"']?)(?P<secret>[^\s\"'<>|;&]{4,4000})")
_DOCUMENT = re.compile(r"<<-?[ \t]*\\?(?P<quote>[\"']?)(?P<tag>[A-Za-z_]\w{0,30})(?P=quote)[^\n]{0,300}\n")
_PAIR = re.compile(r"(?m)^(?P<lead>[ \t]*[\w.@-]{1,60}:)(?P<secret>[^\s:]{3,200})[ \t]*$")
_ALONE = re.compile(r"(?m)^(?P<lead>[ \t]*)(?P<secret>[^\s\"'`<>]{4,4000})[ \t]*$")
_HEX = re.compile(r"[0-9a-f]+\Z")  # a checksum, more likely
_LONGEST_COMMAND = 300
_LONGEST_BODY = 20_000
_MOST_LINES = 3  # of a document that is nothing but a secret


def redact_inline(text: str, _folded: str) -> str:
    """`text` with every secret that stands beside the command that reads it replaced."""
    if "<<" not in text:
        return text
    if "<<<" in text:
        text = _STRING.sub(_string, text)
    kept: list[str] = []
    position = 0
    for document in _DOCUMENT.finditer(text):
        if document.start() < position:
            continue
        line = _before(text, document.start()) + document[0]
        reads = _READS_SECRET.search(line) is not None
        if reads or _SECRET_FILE.search(line):
            end = _end(text, document)
            kept += text[position : document.end()], _body(line, text[document.end() : end], reads)
            position = end
    return "".join(kept) + text[position:] if kept else text


def _before(text: str, place: int) -> str:
    """The command on the line before `place`."""
    begin = max(0, place - _LONGEST_COMMAND)
    return text[max(begin, text.rfind("\n", begin, place) + 1) : place]


def _end(text: str, document: re.Match[str]) -> int:
    """Where the body of a here-document ends: at its tag on a line of its own, else with the paragraph."""
    closed = re.compile(rf"^[ \t]*{document['tag']}[ \t]*$", re.M)
    found = closed.search(text, document.end(), document.end() + _LONGEST_BODY)
    if found:
        return found.start()
    blank = text.find("\n\n", document.end(), document.end() + _LONGEST_BODY)
    return blank if blank >= 0 else min(len(text), document.end() + _LONGEST_BODY)


def _string(match: re.Match[str]) -> str:
    line, secret = _before(match.string, match.start()), match["secret"]
    if is_placeholder(secret) or not (_READS_SECRET.search(line) or is_dense(secret, 20) and not _HEX.match(secret)):
        return match[0]
    user, colon, _ = secret.partition(":")
    shown = user + colon if colon and "chpasswd" in line else ""
    return match[0][: match.start("secret") - match.start()] + shown + MARKER


def _body(line: str, body: str, reads: bool) -> str:
    if "chpasswd" in line or ".htpasswd" in line:
        return _PAIR.sub(_replaced, body)
    if body.count("\n") > _MOST_LINES:
        return body
    return _ALONE.sub(_replaced if reads else _replaced_random, body)


def _replaced(match: re.Match[str]) -> str:
    return match[0] if is_placeholder(match["secret"]) else match["lead"] + MARKER


def _replaced_random(match: re.Match[str]) -> str:
    return _replaced(match) if looks_random(match["secret"], True) and len(match["secret"]) >= 6 else match[0]
