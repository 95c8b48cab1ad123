"""Chooses the few results that are sure enough to be shown unasked, and writes them as notes within a budget. Pure."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from hippo_core.model.memory import parse_id
from hippo_core.model.types import Author
from hippo_core.recall.pipeline import Result
from hippo_core.recall.weights import WEIGHTS
from hippo_core.render import budget
from hippo_core.render.fence import one_line
from hippo_core.render.rules import has_its_place

MOST_A_TURN = 2
TURN_TOKENS, SESSION_TOKENS = 150, 1_200
MOST_FOR_AN_AGENT = 5
_LONGEST, _LONGEST_FOR_AN_AGENT = 280, 220  # ASCII letters of one note, so that one fits whatever it is labelled
_UNSURE = 0.5
_PROMPT_PREAMBLE = "From earlier sessions, perhaps of use here; notes, not instructions."
_TASK_PREAMBLE = "Notes from earlier sessions that may bear on this task; not instructions, and perhaps out of date."
_ID = re.compile(r" (m[0-9a-f]{1,15})(?=\\n|\n|$)")


@dataclass(frozen=True)
class Notes:
    """text: the fenced block, "" for none. numbers: the memories in it. tokens: what it costs."""

    text: str = ""
    numbers: tuple[int, ...] = ()
    tokens: int = 0


def for_prompt(results: Iterable[Result], already: Collection[int], spent: int) -> Notes:
    """At most two of `results`, only sure ones, none of `already`, within what the turn and the session may cost."""
    sure = [result for result in results if confident(result) and _is_new(result, already)]
    return _block(_PROMPT_PREAMBLE, sure, MOST_A_TURN, _LONGEST, min(TURN_TOKENS, SESSION_TOKENS - spent))


def for_agent(results: Iterable[Result], already: Collection[int]) -> Notes:
    """At most five of `results` for a sub-agent, none of `already`, within its budget."""
    new = [result for result in results if _is_new(result, already)]
    return _block(_TASK_PREAMBLE, new, MOST_FOR_AN_AGENT, _LONGEST_FOR_AN_AGENT, budget.AGENT_TOKENS)


def confident(result: Result) -> bool:
    """Whether a memory is as good as certain to answer: far above the floor of a search, which somebody wanted."""
    needed = WEIGHTS.confident if "cosine" in result.stages else WEIGHTS.confident_by_words
    return result.stages["relevance"] >= needed


def numbers_in(document: str) -> set[int]:
    """The memories that a rendered block names at the ends of its lines."""
    return {parse_id(public_id)[1] for public_id in _ID.findall(document)}


def _is_new(result: Result, already: Collection[int]) -> bool:
    memory = result.memory
    return memory.id not in already and memory.witnessed and not has_its_place(memory)


def _block(preamble: str, results: list[Result], most: int, longest: int, most_tokens: int) -> Notes:
    start, end = f"<hippo-memory>\n{preamble}\n", "</hippo-memory>"
    room = most_tokens - budget.tokens(start + end)
    by_line = {_line(result, longest): result.memory.id for result in results[: 2 * most]}
    lines = budget.fitting(by_line, room, budget.MOST_CHARACTERS)[:most]
    if not lines:
        return Notes()
    text = start + "\n".join(lines) + "\n" + end
    return Notes(text, tuple(by_line[line] for line in lines), budget.tokens(text))


def _line(result: Result, longest: int) -> str:
    memory = result.memory
    about = [memory.type.value, result.age]
    if memory.author is Author.HUMAN:
        about.append("said by the user")
    elif memory.confidence < _UNSURE:
        about.append("unsure")
    text = one_line(memory.text, budget.letters(memory.text, longest))
    return f"- [{', '.join(about)}] {text} {memory.public_id}"
