"""How long this machine has been awake since it started. Next to no import, so that hooks use it too."""

import sys


def awake():
    """Seconds since the machine started, without those that it slept."""
    if sys.platform == "win32":  # whose monotonic clock goes on in its sleep, and in the one that it calls shut down
        import ctypes

        ticks = ctypes.c_ulonglong()
        ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks))
        return ticks.value / 1e7
    from time import monotonic

    return monotonic()
