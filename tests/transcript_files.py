"""Records as the client writes them, for tests to put into files."""

import json
from pathlib import Path
from typing import Any

SESSION = "5a1b0c3d-0000-4000-8000-00000000abcd"
CWD = "/home/somebody/shop"


def record(kind: str, content: Any, number: int = 0, **more: Any) -> dict[str, Any]:
    """A user or assistant record; `number` makes its uuid and its time."""
    return {
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "sessionId": SESSION,
        "timestamp": f"2026-05-04T10:{number // 60:02d}:{number % 60:02d}.000Z",
        "cwd": CWD,
        "gitBranch": "main",
        **more,
    }


def user(content: Any, number: int = 0, **more: Any) -> dict[str, Any]:
    return record("user", content, number, **more)


def assistant(text: str, number: int = 0, **more: Any) -> dict[str, Any]:
    return record("assistant", [{"type": "text", "text": text}], number, **more)


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def write(path: Path, *values: Any) -> Path:
    """Records as lines; bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(value if isinstance(value, bytes) else line(value) for value in values))
    return path
