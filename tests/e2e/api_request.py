"""A request as the client sent it to the Messages API, and questions a test asks of it.

What a hook injects lands in different places: newer models get a message of role `system`, whose content is blocks at
first and a plain string when it is replayed; older ones a `<system-reminder>` block inside a user message. So the
searches here look at every text of a request, whatever its role and shape.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ApiRequest:
    """path: without the query. headers: names in lower case. body: the decoded JSON object."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages", [])

    @property
    def agent_id(self) -> str | None:
        """Set when a sub-agent speaks; None in the main conversation."""
        return self.headers.get("x-claude-code-agent-id")

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools whose schema the model is given, by name; a deferred tool is not among them."""
        return {tool["name"]: tool for tool in self.body.get("tools", [])}

    @property
    def prompt(self) -> str:
        """The text of the last user message that is no mere tool result."""
        for message in reversed(self.messages):
            text = "\n".join(_texts(message["content"], ("text",)))
            if message["role"] == "user" and text:
                return text
        return ""

    @property
    def tool_results(self) -> list[str]:
        """The results that the last user message answers the model with; empty when it answers with none."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                content = message["content"]
                results = [b for b in content if b["type"] == "tool_result"] if isinstance(content, list) else []
                return ["\n".join(_texts(block.get("content", ""), ("text",))) for block in results]
        return []

    @property
    def text(self) -> str:
        """Every text in the request: system prompt, messages of all roles, tool results."""
        parts = list(_texts(self.body.get("system", ""), _ALL))
        for message in self.messages:
            parts.extend(_texts(message["content"], _ALL))
        return "\n".join(parts)


_ALL = ("text", "tool_result")


def _texts(content: Any, kinds: tuple[str, ...]) -> Iterator[str]:
    """The texts of a content that is a string or a list of blocks, tool results opened up where they are wanted."""
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        if block.get("type") not in kinds:
            continue
        if block["type"] == "text":
            yield block["text"]
        else:
            yield from _texts(block.get("content", ""), kinds)
