"""What was pasted into a session may hold what a terminal obeys; shown again, it must not act on the reader's."""

import os
import re
import unicodedata

import pytest
from click.testing import CliRunner

from hippo_core.cli.asking import knows_colours
from hippo_core.cli.main import hippo
from hippo_core.config import save
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

CLEARS = "\x1b[2J\x9b5m" if os.name == "posix" else "\x9b5m"  # as a name of a folder, which may be anybody's
EVIL = "kettle \x1b]0;owned\x07\x1b[2J\x1b[31m\x9b5mgreen\rred\x08 is\tmine"
_OURS = re.compile(r"\x1b\[(?:0|1|2|32|36)m")


@pytest.fixture
def known(paths, tmp_path, monkeypatch):
    folder = tmp_path / f"kettle{CLEARS}"
    folder.mkdir()
    monkeypatch.chdir(folder)
    save(paths, embedder="off")
    scope = scope_of(os.getcwd())
    with Store.open(paths.store) as store, store.transaction():
        store.memories.ensure_scope(scope)
        source = store.progress.begin_source(f"/{CLEARS}.jsonl")
        store.archive.append(Message("u1", CLEARS, Role.USER, EVIL, 1.0, "/srv", 0), scope=scope, source_id=source.id)
        for text in (f"old {EVIL}", EVIL):
            draft = Draft(text, MemoryType.RULE, scope.key, Author.MACHINE, sources=("u1",))
            store.memories.add(draft, "distil")
        store.memories.supersede(1, 2, "distil", Author.MACHINE, 2.0)


@pytest.mark.parametrize("command", [
    ("recall", "kettle"), ("archive", "kettle"), ("archive", "--around", "a1"), ("list",), ("show", "m2"),
    ("show", "a1"), ("why", "m1"), ("why", "m2"), ("forget", "m2", "--dry-run"), ("rules", "list"),
    ("rules", "accept", "m2", "--always"), ("rules", "add", "it whistles", "--always", "--project", "."),
    ("remember", "it whistles"), ("status",), ("projects",),
])  # fmt: skip
def test_no_command_prints_what_a_terminal_obeys(known, command):
    said = CliRunner().invoke(hippo, command, color=True, catch_exceptions=False).output
    left = _OURS.sub("", said).replace("\n", "").replace("\t", "")
    assert "kettle" in said and not [c for c in left if unicodedata.category(c) == "Cc"]


@pytest.mark.parametrize(
    "system, environment, known",
    [
        ("posix", {}, True),
        ("nt", {"USERNAME": "me"}, False),
        ("nt", {"WT_SESSION": "1d3f"}, True),
        ("nt", {"TERM_PROGRAM": "vscode"}, True),
    ],
)
def test_a_console_that_may_print_the_codes_of_colours_gets_none(system, environment, known):
    assert knows_colours(system, environment) is known
