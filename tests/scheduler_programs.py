"""Stand-ins for the programs by which schedulers are asked, so that no test touches the machine's own."""

import os
import sys
from pathlib import Path

from hippo_core.schedule import cron

# A crontab that its user wrote: not all of it UTF-8.
OTHERS = b"MAILTO=me\n\n# my own\n5 4 * * sun /usr/bin/backup --name=100\\% \xe4\xf6\xfc\t\n@reboot /bin/true  \n"

_CRONTAB = """\
#!{python}
import os, sys
file = {file!r}
if sys.argv[1:] == ["-l"]:
    if not os.path.exists(file):
        sys.exit("no crontab for somebody" if os.environ.get("LC_ALL") == "C" else "kein Crontab für jemanden")
    sys.stdout.buffer.write(open(file, "rb").read())
elif sys.argv[1:] == ["-r"]:
    if not os.path.exists(file):
        sys.exit("no crontab for somebody")
    os.unlink(file)
elif sys.argv[1:] == ["-"]:
    data = sys.stdin.buffer.read()
    if os.path.exists({refusal!r}):
        sys.exit("the disk is full")
    open(file, "wb").write(data)
else:
    sys.exit("usage error")
"""
_SCHTASKS = """\
#!{python}
import os, shutil, sys
if os.path.exists({refusal!r}):
    sys.exit("ERROR: Access is denied.")
os.makedirs({tasks!r}, exist_ok=True)
verb, told = sys.argv[1], dict(zip(sys.argv[2::2], sys.argv[3::2]))
if "/TN" not in told:
    sys.exit("ERROR: The task image is corrupt or has been tampered with.")  # a task of somebody's
task = os.path.join({tasks!r}, told["/TN"])
if verb == "/Create" and sys.argv[-1] == "/F":
    shutil.copyfile(told["/XML"], task)
elif not os.path.exists(task):
    sys.exit("ERROR: The system cannot find the file specified.")
elif verb == "/Delete" and sys.argv[-1] == "/F":
    os.unlink(task)
elif verb != "/Query":
    sys.exit("ERROR: Invalid syntax.")
"""
_NOTER = """\
#!{python}
import os, sys
open({calls!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
if os.path.exists({refusal!r}) and ("enable" in sys.argv or "bootstrap" in sys.argv):
    sys.exit("refused: no bus")
if sys.argv[1] == "bootstrap" and os.path.exists({draining!r}):
    os.unlink({draining!r})
    print("Bootstrap failed: 5: Input/output error", file=sys.stderr)
    sys.exit(5)
off = open({off!r}).read().split() if os.path.exists({off!r}) else []
if "is-enabled" in sys.argv:
    timers = [name for name in sys.argv if name.endswith(".timer")]
    print("\\n".join("disabled" if name.removesuffix(".timer") in off else "enabled" for name in timers))
if "show" in sys.argv:
    print("Version=252")
if sys.argv[1] == "print" and sys.argv[2].rpartition("/")[2] in off:
    sys.exit("could not find service")
"""


class Programs:
    """A folder of stand-ins. crontab: the user's crontab file. tasks: Windows' tasks, a file each.

    calls: what the others were told, a line each.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        self.crontab, self._calls, self._refusal = folder / "tab", folder / "calls", folder / "refuse"
        self._off, self._draining, self.tasks = folder / "off", folder / "draining", folder / "tasks"

    def add(self, name: str) -> None:
        text = {"crontab": _CRONTAB, "schtasks": _SCHTASKS}.get(name, _NOTER)
        program = self.folder / name
        values = {"file": str(self.crontab), "calls": str(self._calls), "refusal": str(self._refusal)}
        values |= {"off": str(self._off), "draining": str(self._draining), "tasks": str(self.tasks)}
        program.write_text(text.format(python=sys.executable, **values), encoding="utf-8")
        program.chmod(0o755)

    def refuse(self) -> None:
        self._refusal.touch()

    def relent(self) -> None:
        self._refusal.unlink()

    def drain(self) -> None:
        """launchd still clears away an agent, and takes no other one just now."""
        self._draining.touch()

    def switch_off(self, unit: str) -> None:
        """From now on systemd or launchd has that one no more."""
        self._off.write_text(unit, encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        return self._calls.read_text(encoding="utf-8").splitlines() if self._calls.exists() else []

    @property
    def path(self) -> str:
        return os.pathsep.join([str(self.folder), "/nowhere"])


def only(tmp_path, monkeypatch) -> Programs:
    """The only programs there are; none at first."""
    made = Programs(tmp_path / "programs")
    monkeypatch.setenv("PATH", made.path)
    monkeypatch.delenv("HIPPO_SCHEDULER")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(cron, "_daemon_runs", lambda: True)
    return made
