"""Staging: the plugin's files, copied from a checkout into the data folder with every path in them made absolute.

The staged folder is a marketplace and its plugin in one, and a running client reads from it live: each file is replaced
whole, what others point at comes first, and what nothing points at any more goes last. Standard library only. Knows
nothing of the client's settings.
"""

import json
import os
from pathlib import Path

from hippo_core.errors import InstallError
from hippo_core.paths import Paths, for_agent, write_atomic

_LAST = "hooks/hooks.json"
_SERVERS = ".mcp.json"
# In the order of writing: scripts before the manifests that name them.
_PARTS = (
    "hippo_core/project.py",  # the two modules that the hooks share with the package
    "hippo_core/awake.py",
    "hooks",
    "skills",
    "commands",
    "README.md",
    "LICENSE",
    "NOTICE",
    _SERVERS,
    "plugin.json",
    ".claude-plugin",
)


def stage_plugin(source: Path, paths: Paths, python: str) -> None:
    """Bring paths.plugin up to date with the checkout `source`. python: the interpreter of hooks and server."""
    wanted = _plugin_files(source)
    names = sorted(wanted, key=lambda name: name == _LAST)  # stable: all else keeps its order
    for name in names:
        data = _fill_in(name, wanted[name].read_bytes(), paths, python)
        target = paths.plugin / name
        if not target.is_file() or target.read_bytes() != data:
            write_atomic(target, data)
    _remove_stale(paths.plugin, set(names))


def _plugin_files(source: Path) -> dict[str, Path]:
    """The plugin's files by their name in it."""
    found = {}
    for part in _PARTS:
        path = source / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        found.update({file.relative_to(source).as_posix(): file for file in files if _belongs(file)})
    if _LAST not in found:
        raise InstallError(
            f"{source} is not a complete checkout: {_LAST} is missing. Fetch it again and run this again."
        )
    return found


def _belongs(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _fill_in(name: str, data: bytes, paths: Paths, python: str) -> bytes:
    """A file's staged form."""
    if name == _LAST:
        return _json_bytes(_stage_hooks(json.loads(data), python, str(paths.home)))
    if name == _SERVERS:
        return _json_bytes(_stage_servers(json.loads(data), python, str(paths.home)))
    if name.endswith(".md"):
        hippo = Path(python).with_name("hippo.exe" if os.name == "nt" else "hippo")
        return data.decode("utf-8").replace("@HIPPO@", for_agent(hippo)).encode("utf-8")
    return data


def _stage_hooks(manifest: dict, python: str, home: str) -> dict:
    """The hooks' manifest, run by `python` and told the data folder. Without that argument a hook is unstaged."""
    for groups in manifest["hooks"].values():
        for hook in (hook for group in groups for hook in group["hooks"] if hook["type"] == "command"):
            hook["command"] = python
            hook["args"] = [*hook["args"], home]
    return manifest


def _stage_servers(manifest: dict, python: str, home: str) -> dict:
    """The tool server's manifest, with the real server in the place of the stand-in of a plugin not set up."""
    for server in manifest["mcpServers"].values():
        server["command"], server["args"] = python, ["-I", "-m", "hippo_core.cli.main", "serve"]
        server["env"] = {"HIPPO_HOME": home}
        server["alwaysLoad"] = True  # its tools in the first request, not behind a tool search
    return manifest


def _json_bytes(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8") + b"\n"


def _remove_stale(plugin: Path, wanted: set[str]) -> None:
    """Remove what an older version left behind.

    A session that began before still runs the hooks it read then, and Python answers a missing script with status 2,
    by which the client blocks the prompt: a hook script of an older version stays, emptied.
    """
    for path in sorted(plugin.rglob("*"), reverse=True):
        name = path.relative_to(plugin).as_posix()
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif name in wanted or "__pycache__" in path.parts:
            continue
        elif name.startswith("hooks/") and path.suffix == ".py":
            if path.stat().st_size:
                write_atomic(path, b"")
        else:
            path.unlink()
