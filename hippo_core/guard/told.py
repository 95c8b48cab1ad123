"""Secrets told in plain words: a PIN, the words that open a wallet, what is to be used "as the password", and a
password under its name in another language than English.

A name is looked for first; nothing else is done to the text while none is there.
"""

import re
from collections.abc import Iterator

from hippo_core.guard.plausible import is_dense, is_placeholder, looks_random

PIN_MARKER, NAMED_MARKER, PHRASE_MARKER = "[redacted:pin]", "[redacted:named]", "[redacted:phrase]"

# Four to six digits right behind the name; fewer are the pin of a board, more and dots a version.
_NUMBER = re.compile(
    r"(?:[ _-]?(?i:code|nummer|number|no))?(?:\\?[\"'`*]){0,3}(?:[ ](?:for|of|to|on|für|zum|de|"
    r"du)[ ][\w "
    r"'-]{1,30}?)?"
    r"[ ]{0,3}(?:[:=]|\b(?:is|was|ist|lautet|est|es)\b)[ ]{0,3}(?:\\?[\"'`*]){0,3}[ ]?"
    r"(?P<secret>\d{4,6}|\d{3}[ -]\d{3})(?![\w.,]*\w)"
)
_AS_PASSWORD = re.compile(
    r"[\"'`]?[ ]as[ ](?:the|your|my|our|its|their|a)[ ](?:[\w-]{1,20}[ ])?pass(?:word|phrase|code)"
    r"(?![\w-]|[ ](?!(?:for|on|of|to|in|at|and|here|there|now|please)\b)\w)"
)
_WORD_BEFORE = re.compile(r"[^\s\"'`<>(){}\[\]]{6,120}\Z")
# The 2,048 words that wallets use are of three to eight letters, and these are none of them.
_PHRASE = re.compile(
    r"(?:mnemonic|(?:seed|recovery)[ ](?:phrase|words))(?:[ ](?:is|was))?[\s:=\"'`]{1,6}"
    r"(?P<secret>(?:(?!(?:the|and|for|with|that|from|are|not|should|must|your|which)\b)[a-z]{3,8}[ ,\n]{1,2}){11,23}"
    r"[a-z]{3,8})\b"
)
# Each costs a look at every text that is not plain ASCII, so there are few.
_PASSWORDS = ("kennwort", "senha", "contraseña", "пароль", "密码", "パスワード")
_KEYS = ("schlüssel", "密钥")
_VALUE = re.compile(
    r"(?:\\?[\"'`*]){0,3}\s?(?:[:=：]|\b(?:ist|lautet|est|es|é|is)\b|は|是|为)[ ]{0,3}(?:\\?[\"'`*]){0,3}"
    r"(?P<secret>[^\s\"'`,;<>()，。、]{4,120})"
)
_ALL = _PASSWORDS + _KEYS
_ASCII = tuple(name for name in _ALL if name.isascii())


def redact_told(text: str, folded: str) -> str:
    """`text` with every secret told in plain words replaced. folded: the text in lower case, of the same length."""
    spans: list[tuple[int, int, str]] = []
    if "pin" in folded:
        spans += _numbers(text, folded)
    if " pass" in folded and " as " in folded:
        spans += _words_before(text)
    if "mnemonic" in folded or "seed " in folded or "recovery " in folded:
        spans += [(*found.span("secret"), PHRASE_MARKER) for found in _PHRASE.finditer(folded)]
    for name in _ASCII if text.isascii() else _ALL:
        if name in folded:
            spans += _values(text, folded, name)
    for start, end, marker in sorted(spans, reverse=True):
        text = text[:start] + marker + text[end:]
    return text


def _numbers(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    place = folded.find("pin")
    while place >= 0:
        inside = folded[place - 1 : place].isalnum() or folded[place + 3 : place + 4].isalpha()  # "spin", "pinned"
        if not inside and (found := _NUMBER.match(text, place + 3)):
            yield *found.span("secret"), PIN_MARKER
        place = folded.find("pin", place + 3)


def _words_before(text: str) -> Iterator[tuple[int, int, str]]:
    for place in _AS_PASSWORD.finditer(text):
        found = _WORD_BEFORE.search(text, max(0, place.start() - 120), place.start())
        if found and looks_random(found[0], True) and not is_placeholder(found[0]):
            yield *found.span(), NAMED_MARKER


def _values(text: str, folded: str, name: str) -> Iterator[tuple[int, int, str]]:
    for place in re.finditer(re.escape(name), folded):
        found = _VALUE.match(text, place.end())
        if found and not is_placeholder(found["secret"]):
            secret = found["secret"].rstrip(".:!?")
            if is_dense(secret) if name in _KEYS else looks_random(secret, True):
                yield found.start("secret"), found.start("secret") + len(secret), NAMED_MARKER
