#!/usr/bin/env python3
"""Writes the lock files beside this script from pyproject.toml: `python3 requirements/lock.py [--upgrade]`.

Needs Python 3.11 and `uv`. One resolution covers Python 3.10 to 3.14 on Linux, macOS and Windows (environment markers),
and each lock is cut from it, so that a package which two locks name has one version. Without --upgrade, versions stay
as they are unless pyproject.toml no longer allows them. Knows nothing of how a lock is installed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
OLDEST_PYTHON = "3.10"

# Named by packages that work without them for what is done here: hub downloads of tokenizers, and the coloured log and
# the model-shape tools of older ONNX Runtimes. Together they would be a fifth of the installation.
LEFT_OUT = ("huggingface-hub", "coloredlogs", "sympy")


def main() -> None:
    inputs = read_inputs(HERE.parent / "pyproject.toml")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.lock"
        if "--upgrade" not in sys.argv[1:]:
            whole.write_text("\n".join(pinned_now()), encoding="utf-8")
        compile_lock([line for lines in inputs.values() for line in lines], whole)
        for name, lines in inputs.items():
            compile_lock(lines, HERE / f"{name}.lock", whole)


def read_inputs(pyproject: Path) -> dict[str, list[str]]:
    """What each lock must hold, by the lock's name."""
    declared = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project = declared["project"]
    return {
        # The build backend too, so that the package itself is built without network and without build isolation.
        "core": project["dependencies"] + declared["build-system"]["requires"],
        **project["optional-dependencies"],
        **declared["dependency-groups"],
    }


def pinned_now() -> list[str]:
    """The pins of the present locks, which uv prefers as long as they are allowed."""
    pins = {
        line.removesuffix("\\").strip()
        for lock in HERE.glob("*.lock")
        for line in lock.read_text(encoding="utf-8").splitlines()
        if line[:1].isalnum()
    }
    return sorted(pins)


def compile_lock(lines: list[str], lock: Path, constraints: Path | None = None) -> None:
    """Resolve requirement `lines` into `lock`, within the pins of `constraints`."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, left_out = Path(folder) / "wanted.in", Path(folder) / "left_out.in"
        wanted.write_text("\n".join(lines), encoding="utf-8")
        left_out.write_text("\n".join(LEFT_OUT), encoding="utf-8")
        command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-emit-index-url"]
        command += ["--python-version", OLDEST_PYTHON, "--excludes", str(left_out), "--output-file", str(lock)]
        command += ["--no-annotate", "--constraints", str(constraints)] if constraints else []
        command += ["--upgrade"] if constraints else []  # the lock as it stands is no guide: the constraints are
        said_by = {**os.environ, "UV_CUSTOM_COMPILE_COMMAND": "python3 requirements/lock.py"}
        subprocess.run([*command, str(wanted)], check=True, env=said_by)


if __name__ == "__main__":
    main()
