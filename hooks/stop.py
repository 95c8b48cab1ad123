"""Stop: starts a catch-up that only archives, at most every few minutes however often a turn ends."""

import os
import sys

_PAUSE = 180  # seconds


def main(data):
    hippo_hook.read_event()
    if data is None or not hippo_hook.has_store(data):
        return
    from time import time

    stamp = os.path.join(data, "run", "stop")
    try:
        if abs(time() - os.stat(stamp).st_mtime) < _PAUSE:
            return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(stamp), mode=0o700, exist_ok=True)
    with open(stamp, "wb"):  # before the start: if it cannot be written, nothing would bound the starts
        pass
    os.utime(stamp)
    hippo_hook.start_catch_up(data, "--archive-only")


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import hippo_hook

    hippo_hook.run(main)
