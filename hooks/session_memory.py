"""SessionStart: what memory exists for this project; and, when memory is not well, one line that says so."""

import os
import sys

_EVENT = b"SessionStart"


def main(data):
    if data is None or not hippo_hook.has_store(data):
        return b""
    hippo_hook.read_event()
    text, line = hippo_hook.of_this_project(_EVENT, data, "project"), b""
    try:
        line = hippo_hook.health(_EVENT, data)
    except (OSError, ValueError, TypeError):  # a damaged file: the rest is said all the same
        pass
    return hippo_hook.warning(_EVENT, text, line) if line else text and hippo_hook.context(_EVENT, text)


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hippo_hook

    hippo_hook.run(main)
