"""SessionStart: the standing rules, again after a compaction. Also says, to the user, when there is no memory yet.

Where no scheduler starts the jobs, it also starts those that are due, detached, at most every ten minutes.
"""

import os
import sys

_PAUSE = 600  # seconds


def main(data):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if data is None:
        return hippo_hook.message(f'Hippocampus is not set up yet. Run: python3 "{os.path.join(root, "install.py")}"')
    if not hippo_hook.has_store(data):
        return hippo_hook.message(f"Hippocampus has no memory in {data}. Run install.py again, or: hippo ingest")
    # The model no longer sees what a reflex said before this start or compaction, so let it speak again.
    session = hippo_hook.session_of(hippo_hook.read_event())
    if session:
        try:
            os.unlink(os.path.join(data, "run", "reflexes", session))
        except OSError:
            pass
    if catch_up.jobs_depend_on_hooks(data):
        catch_up.start_at_most_every(_PAUSE, data, "start", "--jobs-only")
    return hippo_hook.rendered(b"SessionStart", data, "render", "rules.json")


if not os.environ.get("HIPPO_CHILD"):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import catch_up
    import hippo_hook

    hippo_hook.run(main)
