"""What the tests of unasked memories learn and ask, and how they read a hook's answer."""

import json
import time

from server_process import learn as note

SESSION = "0c9a3f6e-1111-4222-8333-944455556666"
FACT = "The staging database listens on port 5544."
PROMPT = "which port has the staging database"


def learn(store, text, folder=None, *kind, **more):
    """Store a memory that was drawn from something said."""
    return note(store, text, folder, *kind, sources=("u1",), **more)


def added(answer):
    """The notes in a hook's output; "" for none."""
    if answer in ("", "{}"):
        return ""
    output = json.loads(answer)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit" and set(output) == {"hookEventName", "additionalContext"}
    return output["additionalContext"]


def extended(answer):
    """A sub-agent's input as the hook changed it; None where it did not."""
    if not answer:
        return None
    output = json.loads(answer)["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse" and set(output) == {"hookEventName", "updatedInput"}
    return output["updatedInput"]


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
