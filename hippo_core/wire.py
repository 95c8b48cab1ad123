"""What the client sends to the tool server, made readable for the protocol's library. Knows nothing of the protocol.

JSON may hold half of a surrogate pair, and a client written in JavaScript sends one when a text was cut inside an
emoji. The library drops a line with such a text, so that the client would wait in vain for the answer.
"""

import contextlib
import os
import re
import threading

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def whole(line: bytes) -> bytes:
    """A line of JSON with U+FFFD for every escaped half of a surrogate pair."""
    if not _HALF.search(line):
        return line
    return _ESCAPE.sub(lambda escape: rb"\ufffd" if escape["half"] else escape[0], line)


def mend_input() -> None:
    """From now on, this process reads whole lines from its standard input."""
    source = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    threading.Thread(target=_pass_on, args=(source, writing), daemon=True).start()


def _pass_on(source: int, target: int) -> None:
    with contextlib.suppress(OSError), open(source, "rb") as lines, open(target, "wb", buffering=0) as mended:
        for line in lines:
            rest = memoryview(whole(line))
            while rest:
                rest = rest[mended.write(rest) :]
