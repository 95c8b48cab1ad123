"""What the hook scripts share: the event as raw bytes, the check of a rendered file, the way out.

A hook is a cold process at every turn, so this uses the standard library only, and of that only what starts for free:
no json, no re. Knows no store, no embedder and nothing of what the rendered files say.
"""

import os
import sys

_END = b'"}}\n'
# Windows: a console without a window, a group and a class of its own. With no console at all, as DETACHED_PROCESS has
# it, a window opens: an environment's python.exe only starts the real one, which then gets a console of its own.
_UNSEEN = 0x08000000 | 0x200 | 0x4000


def run(main):
    """Call main(data folder or None) and print what it returns. Whatever goes wrong: exit 0, nothing on stderr."""
    os.umask(0o077)  # what a hook notes is for its user alone; the client's umask lets others read
    try:
        output = main(sys.argv[1] if len(sys.argv) > 1 else None)
        while output:
            output = output[os.write(1, output) :]
    except BaseException:
        pass
    os._exit(0)  # no teardown: it would take time, and complain about a closed stdout


def read_event():
    """The event's JSON as the client wrote it, all of it, so that the client never meets a closed pipe."""
    chunks = []
    try:
        while chunk := os.read(0, 1 << 20):
            chunks.append(chunk)
    except OSError:
        pass
    return b"".join(chunks)


def field(event, name):
    """The raw value, escapes and all, of the first key `name` whose value is a string; b"" where there is none.

    Inside a JSON string a quote is escaped, so no text of the user's can look like the key.
    """
    rest = event.partition(b'"' + name + b'"')[2].lstrip()
    value = rest[1:].lstrip()
    if not rest.startswith(b":") or not value.startswith(b'"'):
        return b""
    value = value[1:]
    end = value.replace(b"\\\\", b"__").replace(b'\\"', b"__").find(b'"')
    return value[: max(end, 0)]


def session_of(event):
    """The session's id as text that is safe in a file name and a command; "" for anything else."""
    name = field(event, b"session_id")
    plain = len(name) <= 64 and name[:1].isalnum() and name.replace(b"-", b"").isalnum()
    return name.decode() if plain else ""


def has_store(data):
    """Whether there is a memory at all; what was rendered from a deleted one is nobody's business."""
    return os.path.exists(os.path.join(data, "memory.db"))


def read(*parts):
    """A file's bytes, b"" when it cannot be read."""
    try:
        with open(os.path.join(*parts), "rb") as file:
            return file.read()
    except OSError:
        return b""


def context(event_name, text):
    """The output that puts JSON-escaped `text` before the model."""
    return b'{"hookSpecificOutput":{"hookEventName":"' + event_name + b'","additionalContext":"' + text + _END


def context_text(event_name, document):
    """The JSON-escaped text in a rendered `document`; b"" unless that is whole and exactly what render writes.

    The client would show the model any other bytes as they are, so a damaged file must not be printed.
    """
    start = context(event_name, b"")[: -len(_END)]
    if not document.startswith(start) or not document.endswith(_END):
        return b""
    text = document[len(start) : -len(_END)]
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"").replace(b"\\n", b"")
    text.decode()
    return text if text and min(text) >= 32 and b'"' not in unescaped and b"\\" not in unescaped else b""


def rendered(event_name, *parts):
    """A rendered file, ready to print; b"" when it is missing or damaged."""
    text = context_text(event_name, read(*parts))
    return context(event_name, text) if text else b""


def of_this_project(event_name, data, kind):
    """The JSON-escaped text of `kind` for the project the session runs in, else the one for every other project."""
    folder = os.path.join(data, "render", kind)
    own = context_text(event_name, read(folder, _project(data) + ".json"))
    return own or context_text(event_name, read(folder, "default.json"))


def health(event_name, data):
    """The JSON-escaped line that says what is wrong with memory; b"" when nothing is."""
    folder = os.path.join(data, "render")
    allowed, _, document = read(folder, "late").partition(b"\n")
    late = document and _is_older(os.path.join(folder, "late"), *allowed.split())
    return context_text(event_name, document if late else read(folder, "health.json"))


def _is_older(path, allowed, written):
    """Whether a file is older than `allowed` seconds, and jobs could have run for so long since then.

    written: for how long the machine had been awake then, since it started.
    """
    from time import time

    if time() - os.stat(path).st_mtime <= float(allowed):
        return False
    _find_shared()
    from awake import awake

    now = awake()
    since = now - float(written)
    return min(since if since >= 0 else now, time() - _logged_in()) > float(allowed)


def _logged_in():
    """When this user's services were started, which systemd does at login and ends at logout; 0 where it does not."""
    try:
        return os.stat(os.path.join(os.environ["XDG_RUNTIME_DIR"], "bus")).st_mtime
    except (KeyError, OSError):
        return 0


def warning(event_name, text, line):
    """The output that puts `text`, and then `line`, before the model, and shows the user `line` in red."""
    both = text + b"\\n" + line if text else line
    return b'{"systemMessage":"\xf0\x9f\x94\xb4 ' + line + b'",' + context(event_name, both)[1:]


def _project(data):
    """The scope key of the session's project; "default" where it is none or cannot be told."""
    try:
        _find_shared()
        from project import identify, joined, project_key

        found = identify(os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd())
    except (OSError, ValueError, ImportError):
        return "default"
    if not found:
        return "default"
    key = project_key(found[0])
    return joined(data).get(key, (key,))[0]


def _find_shared():
    """From here on the modules that hooks share with the package are found."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "hippo_core"))


def message(line):
    """The output that shows the user one line and tells the model nothing."""
    line = "".join(c for c in line if c.isprintable()).replace("\\", "\\\\").replace('"', '\\"')
    return b'{"systemMessage":"' + line.encode("utf-8", "replace") + b'"}\n'


def start_catch_up(data, *options):
    """Start the catch-up in a session of its own, so that it outlives the client, and do not wait for it."""
    command = [sys.executable, "-I", "-m", "hippo_core.cli.main", "catch-up", *options]
    environment = dict(os.environ, HIPPO_HOME=data)
    if os.name == "nt":
        from subprocess import DEVNULL, Popen

        Popen(command, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, creationflags=_UNSEEN)
    elif os.fork() == 0:  # by hand: `import subprocess` alone takes longer than all of this
        try:
            os.setsid()
            os.nice(10)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            os.closerange(3, 256)
            os.execve(command[0], command, environment)
        finally:
            os._exit(127)
