"""What was built on the user's order, by the agent's closing summary: one memory for the last such order of a session.

The summaries of agents are long and full of praise; kept are the few items that name something, under the user's words.
"""

import re
from collections.abc import Iterator, Sequence

from hippo_core.distill.candidates import LONGEST, Candidate
from hippo_core.distill.noise import is_boast, is_narration
from hippo_core.distill.sentences import Paragraph
from hippo_core.distill.subject import names, with_stop, without_lead
from hippo_core.distill.turn import Turn
from hippo_core.model.types import MemoryType

MOST_ITEMS = 3
_FEWEST_ITEMS = 2
_WORTH = 0.6
_LONGEST_ORDER = 110  # characters
_LONGEST_ITEM = 90

_ORDER = re.compile(
    r"^(?:(?:can|could|would) you |please |let's |i (?:want|need|would like|'d like) (?:you )?to |now "
    r")*(?P<order>(?:create|build|"
    r"implement|develop|design|port|migrate|set up|convert|rewrite|make) (?!sure\b|it\b|that\b|this\b|a (?:commit|"
    r"pr|branch|"
    r"plan|todo list)\b)(?:\S+ ?){2,})",
    re.I,
)
_CLOSES = re.compile(
    r"\b(?:summary|complete[d]?|accomplished|what (?:i|we|was|has been|'s)\b|built|implemented|created|done)\b", re.I
)


def outcomes(talk: Sequence[Turn], scope: str, project: str) -> Iterator[Candidate]:
    """The last order to make something whose making the agent summed up."""
    order, summed = None, None
    for turn in talk:
        if turn.by_user:
            order = _order(turn) or order
        elif turn.by_agent and turn.message.agent_id is None and order:
            items = _items(turn)
            if len(items) >= _FEWEST_ITEMS:
                summed = (order, items, turn)
    if summed:
        (wish, asked), items, turn = summed
        where = f"In {project}: " if project else ""
        text = with_stop(f'{where}The user asked to "{wish}"; built: ' + "; ".join(items))
        if len(text) <= LONGEST + len(where):
            yield Candidate(text, MemoryType.PROJECT, scope, _WORTH, (asked.message, turn.message))


def _order(turn: Turn) -> tuple[str, Turn] | None:
    found = _ORDER.match(turn.own[0].text) if turn.own else None
    order = found["order"].rstrip(" .!,;:") if found else ""
    return (order, turn) if order and len(order) <= _LONGEST_ORDER and not order.endswith("?") else None


def _items(turn: Turn) -> list[str]:
    """The items of a closing summary that name most, in their order; none where the message is no summary."""
    listed = [block for block in turn.blocks if block.item]
    if len(listed) < _FEWEST_ITEMS or not _CLOSES.search(turn.message.text[:400]):
        return []
    telling = [block for block in listed if _tells(block)]
    best = sorted(telling, key=lambda block: -len(names(block.text)))[:MOST_ITEMS]
    return [without_lead(block.text).rstrip(" .;:") for block in telling if block in best]


def _tells(block: Paragraph) -> bool:
    text = block.text
    enough = len(names(text)) >= 2 and len(text) <= _LONGEST_ITEM and len(text.split()) >= 3
    return enough and not (text.endswith(("?", ":")) or is_boast(text) or is_narration(text))
