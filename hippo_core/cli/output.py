"""JSON as every command prints it."""

import json
from typing import Any


def to_json(value: Any) -> str:
    """Indented, letters as they are, for whoever looks at it; what JSON has no form for, such as a path, as text."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
