"""PreToolUse: lets our own read-only tools run without a permission prompt, and says nothing about any other tool.

The one hook that parses its event: a key inside a tool's input must never pass for the tool's name.
"""

import os
import sys

_PREFIX = "mcp__plugin_hippo_memory__"
_READ_ONLY = {_PREFIX + "memory_search", _PREFIX + "archive_search", _PREFIX + "rules"}


def main(data):
    if data is None:
        return b""
    import json

    event = json.loads(hippo_hook.read_event())
    if event["hook_event_name"] != "PreToolUse" or event["tool_name"] not in _READ_ONLY:
        return b""
    reason = "Reading Hippocampus memory changes nothing."
    output = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": reason}
    return json.dumps({"hookSpecificOutput": output}).encode() + b"\n"


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hippo_hook

    hippo_hook.run(main)
