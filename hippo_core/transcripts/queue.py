"""Prompts typed while the agent was busy: each comes out once, in its place, and only if no user record repeats it.

The client writes such a prompt when it is typed, perhaps again when it is delivered, and perhaps as a user record.
Knows nothing of records; a key is equal for equal words.
"""

from collections.abc import Iterator

from hippo_core.model.message import Message


class Queue:
    def __init__(self) -> None:
        self._said: set[str] = set()
        self._waiting: dict[str, int] = {}  # key -> position in _held
        self._given_out: set[str] = set()
        self._held: list[Message | None] = []

    @property
    def waits(self) -> bool:
        """Whether anything is kept back."""
        return bool(self._waiting)

    def typed(self, message: Message, key: str) -> None:
        """A queued prompt: kept back, with all that follows, until it is known whether a user record repeats it."""
        if key not in self._said and key not in self._waiting and key not in self._given_out:
            self._waiting[key] = len(self._held)
            self._held.append(message)

    def spoken(self, message: Message, key: str | None) -> Iterator[Message]:
        """A message from a speaking record; `key` when the user said it. Gives out what may go."""
        if key is not None:
            self._said.add(key)
            if key in self._given_out:
                self._given_out.remove(key)  # an earlier reading gave it out as a queued prompt
                return
            self._settle(message, key)
        self._held.append(message)
        if not self._waiting:
            yield from self._release()

    def _settle(self, message: Message, key: str) -> None:
        """Drop the waiting prompts that this user record repeats, alone or as lines among others."""
        lines = f"\n{message.text}\n"
        for waiting, position in list(self._waiting.items()):
            prompt = self._held[position]
            if waiting == key or (prompt and f"\n{prompt.text}\n" in lines):
                self._held[position] = None
                del self._waiting[waiting]

    def close(self) -> Iterator[Message]:
        """At the end of the file: what still waits was said, and nobody repeated it."""
        yield from self._release()

    def resume(self) -> None:
        """Everything up to here was given out by an earlier reading."""
        self._given_out = set(self._waiting)
        self._waiting.clear()
        self._held.clear()

    def _release(self) -> Iterator[Message]:
        held, self._held = self._held, []
        yield from (message for message in held if message is not None)
