"""Starts the detached catch-up at most every so often. Knows when one was started last, and nothing of what it does."""

import os

import hippo_hook


def start_at_most_every(seconds, data, stamp, *options):
    """Start it unless run/<stamp> is younger than `seconds`. Whatever goes wrong, nothing is raised."""
    from time import time

    file = os.path.join(data, "run", stamp)
    try:
        try:
            if abs(time() - os.stat(file).st_mtime) < seconds:
                return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb"):  # before the start: if it cannot be written, nothing would bound the starts
            pass
        os.utime(file)
        hippo_hook.start_catch_up(data, *options)
    except OSError:
        pass


def jobs_depend_on_hooks(data):
    """Whether no scheduler of this machine starts the jobs."""
    return b'"with": "hooks"' in hippo_hook.read(data, "schedule.json")
