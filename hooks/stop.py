"""Stop: starts a catch-up that only archives, at most every few minutes however often a turn ends."""

import os
import sys

_PAUSE = 180  # seconds


def main(data):
    hippo_hook.read_event()
    if data is None or not hippo_hook.has_store(data):
        return
    catch_up.start_at_most_every(_PAUSE, data, "stop", "--archive-only")


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import catch_up
    import hippo_hook

    hippo_hook.run(main)
