"""SubagentStart: how a sub-agent asks memory, and this project's few most important memories."""

import os
import sys


def main(data):
    if data is None or not hippo_hook.has_store(data):
        return b""
    hippo_hook.read_event()
    text = hippo_hook.of_this_project(b"SubagentStart", data, "agent")
    return text and hippo_hook.context(b"SubagentStart", text)


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hippo_hook

    hippo_hook.run(main)
