"""A message taken apart once, for all the steps that read it: whose turn it is, its paragraphs, its own sentences."""

from collections.abc import Sequence
from typing import NamedTuple

from hippo_core.distill.sentences import Paragraph, Sentence, paragraphs, sentences
from hippo_core.model.message import Role
from hippo_core.store.archive import Archived


class Turn(NamedTuple):
    """own: the sentences in the speaker's own words; what a user pasted is in `blocks` only."""

    message: Archived
    blocks: tuple[Paragraph, ...]
    own: tuple[Sentence, ...]

    @property
    def by_user(self) -> bool:
        return self.message.role is Role.USER

    @property
    def by_agent(self) -> bool:
        return self.message.role is Role.ASSISTANT


def turns(messages: Sequence[Archived]) -> list[Turn]:
    """The turns that may say something: none that is withheld, and nothing that an agent told its sub-agent."""
    return [_turn(message) for message in messages if not message.withheld and message.role is not Role.PARENT]


def _turn(message: Archived) -> Turn:
    blocks = tuple(paragraphs(message.text, typed=message.role is Role.USER))
    return Turn(message, blocks, tuple(sentence for block in blocks if block.own for sentence in sentences(block)))
