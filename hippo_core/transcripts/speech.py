"""What in a Claude Code record is speech, and whose. By whitelist: an unknown kind of record says nothing.

Pure functions over decoded records; knows nothing of files, order or identity.
"""

import re
from datetime import datetime, timezone
from typing import Any, NamedTuple

from hippo_core.model.message import Role
from hippo_core.transcripts.injected import (
    is_compact_summary,
    is_machine_prompt,
    is_noise,
    without_blocks,
    without_interruption,
)

# Their arguments are questions to the memory, or name what shall be gone; stored, they would be found instead.
_OWN_COMMANDS = {"recall", "forget", "memories", "rules"}
_OWN_PREFIX = "hippo:"

_YEAR_3000 = 32_503_680_000.0  # Windows' calendar ends there, and begins in 1970

_COMMAND = re.compile(r"\s*<command-(?:name|message|args)>")
_COMMAND_NAME = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
_MEMORY_INPUT = re.compile(r"\s*<user-memory-input>(.*)</user-memory-input>\s*", re.DOTALL)
_TYPED_COMMAND = re.compile(r"\s*/([\w:.-]+)(?:\s+(.*))?\s*\Z", re.DOTALL)


class Speech(NamedTuple):
    """role: the speaker. text: cleaned, never empty. raw: as the record has it. command: whose arguments these are."""

    role: Role
    text: str
    raw: str
    command: str | None = None


def speech_of(record: dict[str, Any], in_agent_file: bool = False) -> Speech | None:
    """What `record` says, None when it says nothing. in_agent_file: its user is the parent agent."""
    kind = record.get("type")
    if kind == "user":
        return _user(record, in_agent_file)
    if kind == "assistant":
        return _assistant(record)
    if kind == "summary":
        return _summary(record)
    return None


def queued_of(record: dict[str, Any]) -> Speech | None:
    """What the user typed while the agent was busy; it may or may not come again as a user record."""
    content: Any = None
    if record.get("type") == "queue-operation" and record.get("operation") == "enqueue":
        content = record.get("content")
    elif record.get("type") == "attachment":
        attachment = record.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            if attachment.get("commandMode", "prompt") != "prompt" or not _by_a_person(attachment):
                return None
            content = attachment.get("prompt")
    if content is None or record.get("isSidechain") or not _by_a_person(record):
        return None
    raw = _joined(content)
    typed = _TYPED_COMMAND.match(raw)
    if typed and "\n" not in typed[1]:
        return _command(typed[1], typed[2] or "", raw, Role.USER)
    return _spoken(Role.USER, raw)


def first_words(record: dict[str, Any]) -> str | None:
    """The prompt in `record` as it stands, with nothing taken out; None when it holds no prompt."""
    if record.get("type") == "user" and not record.get("isMeta"):
        return _joined(_content(record)).strip() or None
    if record.get("type") == "queue-operation" and record.get("operation") == "enqueue":
        return _joined(record.get("content")).strip() or None
    return None


def same_words(speech: Speech) -> str:
    """A key that is equal for a queued text and for the user record that repeats it."""
    text = f"/{speech.command} {speech.text}" if speech.command else speech.text
    return " ".join(text.split())


def seconds(timestamp: Any) -> float | None:
    """An ISO 8601 time as seconds since the epoch, None for anything else. Without a zone it is taken as UTC.

    Nor is it a time what no calendar of some system can show, for that would end every command that prints it.
    """
    if not isinstance(timestamp, str):
        return None
    try:
        parsed = datetime.fromisoformat(
            timestamp.removesuffix("Z") + "+00:00" if timestamp.endswith("Z") else timestamp
        )
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=timezone.utc)
        at = parsed.timestamp()
    except (ValueError, OverflowError):
        return None
    return at if 0 <= at < _YEAR_3000 else None


def _user(record: dict[str, Any], in_agent_file: bool) -> Speech | None:
    content = _content(record)
    if record.get("isCompactSummary"):
        return _spoken(Role.SUMMARY, _joined(content))
    if record.get("isMeta") or record.get("isVisibleInTranscriptOnly") or record.get("toolUseResult") is not None:
        return None
    if not _by_a_person(record) or record.get("promptSource") == "system" or _carries_tool_result(content):
        return None
    role = Role.PARENT if in_agent_file or record.get("isSidechain") else Role.USER
    if isinstance(content, list):
        # The client puts its own remarks into blocks of their own.
        content = [
            text for block in content if (text := without_interruption(_block_text(block))) and not is_noise(text)
        ]
    raw = _joined(content)
    if is_compact_summary(raw):
        return _spoken(Role.SUMMARY, raw)
    if _COMMAND.match(raw):
        name, args = _COMMAND_NAME.search(raw), _COMMAND_ARGS.search(raw)
        return _command(name[1] if name else "", args[1] if args else "", raw, role)
    memory_input = _MEMORY_INPUT.fullmatch(raw)
    speech = _spoken(role, memory_input[1] if memory_input else raw)
    return None if speech and role is Role.PARENT and speech.text == "Warmup" else speech


def _assistant(record: dict[str, Any]) -> Speech | None:
    message = record.get("message")
    if record.get("isApiErrorMessage") or record.get("isMeta"):
        return None
    if isinstance(message, dict) and message.get("model") == "<synthetic>":
        return None
    speech = _spoken(Role.ASSISTANT, _joined(_content(record)))
    return None if speech and speech.text == "(no content)" else speech


def _summary(record: dict[str, Any]) -> Speech | None:
    text = record.get("summary")
    return _spoken(Role.SUMMARY, text if isinstance(text, str) else _joined(_content(record)))


def _command(name: str, args: str, raw: str, role: Role) -> Speech | None:
    if name.removeprefix(_OWN_PREFIX) in _OWN_COMMANDS:
        return None
    speech = _spoken(role, args)
    return Speech(role, speech.text, raw, name or None) if speech else None


def _spoken(role: Role, raw: str) -> Speech | None:
    prompt = role in (Role.USER, Role.PARENT)
    if not raw or (prompt and (is_noise(raw) or is_machine_prompt(raw))):
        return None
    text = without_blocks(without_interruption(raw) if prompt else raw).strip()
    if not text or (prompt and is_noise(text)):
        return None
    return Speech(role, text, raw)


def _by_a_person(record: dict[str, Any]) -> bool:
    """False where the record itself says that something else than a person submitted it."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind in (None, "human") and record.get("turnOrigin") != "task_notification"


def _content(record: dict[str, Any]) -> Any:
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else message


def _carries_tool_result(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n\n".join([text for block in content if (text := _block_text(block))])


def _block_text(block: Any) -> str:
    if isinstance(block, dict):
        block = block.get("text") if block.get("type") == "text" else None
    return block if isinstance(block, str) else ""
