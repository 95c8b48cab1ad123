"""What of a prompt is worth asking memory: the first words that a person typed. Pure; knows no store, no model."""

import re

from hippo_core.errors import UsageError
from hippo_core.guard.private import is_skipped, without_private
from hippo_core.guard.redact import redact
from hippo_core.recall.query import read_query
from hippo_core.transcripts.injected import (
    is_compact_summary,
    is_machine_prompt,
    is_noise,
    without_blocks,
    without_interruption,
)

MOST_TOKENS = 64
FEWEST_WORDS = 2  # content words; one alone ("continue", "tests") says too little of what it is about
_LONGEST = 4_000  # letters that are looked at at all; more is pasted material
_COMMAND = re.compile(r"\s*[/!][\w:.-]*(?:\s|$)")  # /compact, /hippo:rules git, !ls; not /etc/hosts
# One of these is about one piece of the model's vocabulary: a sign, an ideograph or kana, a few letters of a word.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,7}|\S")


def question_in(prompt: str, most_tokens: int = MOST_TOKENS) -> str | None:
    """What to ask memory about `prompt`; None for commands, what the client wrote itself, and what says too little."""
    if is_skipped(prompt) or is_noise(prompt) or is_machine_prompt(prompt) or is_compact_summary(prompt):
        return None
    if _COMMAND.match(prompt):
        return None
    spoken = without_private(without_blocks(without_interruption(prompt[:_LONGEST])))
    text = first_tokens(redact(spoken), most_tokens).strip()
    try:
        asked = read_query(text)
    except UsageError:
        return None
    return text if asked.literals or len(asked.words) >= FEWEST_WORDS else None


def first_tokens(text: str, most: int) -> str:
    """The beginning of `text`, about `most` tokens long."""
    for count, token in enumerate(_TOKEN.finditer(text), 1):
        if count == most:
            return text[: token.end()]
    return text
