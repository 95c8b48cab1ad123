"""A memory of which snapshots are taken, and looking into these, for the tests of snapshots."""

import shutil
import subprocess
import zlib

import pytest
from click.testing import CliRunner

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.curate.remember import remember
from hippo_core.curate.rules import add_rule
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.snapshot.repository import Repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
SHOP = project_scope("example.org/team/shop", "shop")
SECRET = "The garden gate opens with the word honeysuckle."


def fill(store, paths):
    """Rules, a human memory, a machine's and a setting."""
    add_rule(store, paths, "Never force-push to main.", scope=GLOBAL_SCOPE, domain=None)
    add_rule(store, paths, "Squash before merging.", scope=SHOP, domain="git")
    remember(
        store, paths, "We use PostgreSQL.", scope=SHOP, author=Author.HUMAN, actor="user", type=MemoryType.DECISION
    )
    with store.transaction():
        store.memories.add(Draft("The machine heard this.", MemoryType.FACT, GLOBAL, Author.MACHINE), "distil")
    settings.save(paths, nudge="Be brief.")


def human(store, text, scope=GLOBAL_SCOPE):
    with store.transaction():
        store.memories.ensure_scope(scope)
        return store.memories.add(Draft(text, MemoryType.FACT, scope.key, Author.HUMAN), "user")


def shown(paths):
    """What a person finds in the folder."""
    files = (file for file in paths.snapshot.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(paths.snapshot).as_posix(): file.read_text(encoding="utf-8") for file in files}


def history(paths):
    return Repository(paths.snapshot).history()


def everything_in(paths):
    """Every byte of the snapshot folder, with each object of the repository, packed or not, unpacked."""
    raw = b"".join(file.read_bytes() for file in paths.snapshot.rglob("*") if file.is_file())
    git = [
        "git",
        "--git-dir",
        str(paths.snapshot / ".git"),
        "cat-file",
        "--batch",
        "--batch-all-objects",
        "--unordered",
    ]
    loose = [file for file in paths.snapshot.glob(".git/objects/??/*") if file.is_file()]
    unpacked = b"".join(zlib.decompress(file.read_bytes()) for file in loose)
    return raw + unpacked + subprocess.run(git, capture_output=True, check=True).stdout


def run(*arguments):
    done = CliRunner().invoke(hippo, ["snapshot", *arguments])
    return done.output if done.exception is None else str(done.exception)
