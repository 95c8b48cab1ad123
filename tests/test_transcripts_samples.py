"""Real transcripts: no file raises, and every human turn arrives exactly once, counted a second and slower way."""

import json
from collections import Counter
from pathlib import Path

import pytest

from hippo_core.model.message import Role
from hippo_core.transcripts.claude_code import Transcript
from hippo_core.transcripts.discover import transcript_files


@pytest.fixture(scope="module")
def read(samples):
    """Every sample file with its messages, in reading order."""
    return [(path, list(Transcript(path))) for path in transcript_files(samples)]


def test_no_file_raises(read):
    assert len(read) > 100 and sum(len(messages) for _, messages in read) > 500


def test_every_human_turn_arrives_exactly_once(read):
    arrived = {message.uid: message.text for _, messages in read for message in messages if message.role is Role.USER}
    expected = Counter()
    seen = set()
    for path, _ in read:
        for identity, text in _human_turns(path):
            if identity not in seen:
                seen.add(identity)
                expected[_plain(text)] += 1
    assert sum(expected.values()) > 150
    assert Counter(_plain(text) for text in arrived.values()) == expected


def test_everything_can_be_stored_and_nothing_is_empty(read):
    for _, messages in read:
        for message in messages:
            assert message.text.strip() and message.uid and message.session_id
            "".join(filter(None, (message.text, message.uid, message.session_id, message.cwd, message.branch))).encode()


def test_offsets_lie_inside_the_file_and_rise(read):
    for path, messages in read:
        offsets = [message.offset for message in messages]
        assert offsets == sorted(offsets) and all(offset < path.stat().st_size for offset in offsets)


def test_nothing_of_tools_hooks_or_the_clients_own_remarks_comes_through(read):
    for _, messages in read:
        for message in messages:
            if message.role is not Role.ASSISTANT:  # an assistant may write about them
                for tag in (
                    "<system-reminder>",
                    "<ide_opened_file>",
                    "<command-name>",
                    "<task-notification>",
                    "<bash-",
                ):
                    assert tag not in message.text
                assert not message.text.startswith(("[Request interrupted", "Caveat: The messages below"))


def test_sub_agents_belong_to_a_session_and_never_speak_as_the_user(read):
    agents = [m for path, messages in read for m in messages if path.name.startswith("agent-")]
    assert len(agents) > 30 and all(m.agent_id and m.role is not Role.USER for m in agents)


# -- the second way: whole files, every line parsed, strings taken apart by hand -----------------------------------


def _human_turns(path: Path) -> list[tuple[object, str]]:
    """(identity, text) of what people typed in one file."""
    records = _records(path)
    if _held_by_a_program(records) or path.name.startswith("agent-"):
        return []
    turns = []
    for position, record in enumerate(records):
        typed = _typed(record)
        if typed:
            raw = "\n\n".join(text for text in _texts(record) if not _written_by_client(text))
            turns.append((_identity(record, raw, (path, position)), typed))
    said = {_plain(_with_command(record, text)) for record in records if (text := _typed(record))}
    for position, record in enumerate(records):
        queued = _queued(record)
        if queued and _plain(queued) not in said:
            said.add(_plain(queued))
            turns.append(((path, position), queued))
    return turns


def _records(path: Path) -> list[dict]:
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16").encode("utf-8", "surrogatepass")
    records = []
    for raw in data.split(b"\n"):
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
        text = text.strip("\0 \r\t")
        while text:
            try:
                value, end = json.JSONDecoder().raw_decode(text)
            except (ValueError, RecursionError):
                break
            text = text[end:].strip()
            if isinstance(value, dict):
                records.append(value)
    return records


def _texts(record: dict) -> list[str]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [b["text"] for b in blocks if isinstance(b, dict) and b.get("type") == "text"]


def _typed(record: dict) -> str | None:
    if record.get("type") != "user":
        return None
    for flag in ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "toolUseResult"):
        if record.get(flag):
            return None
    if '"tool_result"' in json.dumps(record.get("message")):
        return None
    if (record.get("origin") or {}).get("kind", "human") != "human" or record.get("promptSource") == "system":
        return None
    text = "\n\n".join(text for text in _texts(record) if not _written_by_client(text))
    if "<command-name>" in text[:400]:
        text = text.partition("<command-args>")[2].rpartition("</command-args>")[0]
    for tag in ("ide_opened_file", "ide_selection", "system-reminder"):
        while f"<{tag}>" in text:
            before, _, rest = text.partition(f"<{tag}>")
            text = before + rest.partition(f"</{tag}>")[2]
    return text if text.strip() else None


def _written_by_client(text: str) -> bool:
    starts = ["<task-notification", "<local-command-", "<bash-", "<teammate-message", "[Request interrupted by user"]
    starts += [
        "Caveat: The messages below",
        "Base directory for this skill",
        "This session is being continued from a prev",
    ]
    return any(text.strip().startswith(start) for start in starts)


def _queued(record: dict) -> str | None:
    if record.get("operation") == "enqueue":
        text = record.get("content")
    elif isinstance(record.get("attachment"), dict) and record["attachment"].get("type") == "queued_command":
        text = record["attachment"].get("prompt")
    else:
        return None
    if not isinstance(text, str) or _written_by_client(text):
        return None
    return text if not text.startswith("/") or " " in text else None


def _with_command(record: dict, text: str) -> str:
    whole = "\n".join(_texts(record))
    if "<command-name>" not in whole[:400]:
        return text
    name = whole.partition("<command-name>")[2].partition("</command-name>")[0].strip()
    return f"{name} {text}"


def _held_by_a_program(records: list[dict]) -> bool:
    for record in records:
        if record.get("type") == "user" and _texts(record) and not record.get("isSidechain"):
            return _texts(record)[0].startswith("Summarize this part of a conversation")
    return False


def _identity(record: dict, text: str, place: object) -> object:
    """Two records are the same message when they share a uuid (else a time) and the words."""
    known = record.get("uuid") or record.get("timestamp")
    return (known, text) if known else place


def _plain(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().replace("?", "\ufffd").replace("\ufffd", "").split())
