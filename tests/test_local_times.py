"""Times as people and models read them are by the clock on the user's wall, in every command; in JSON they are UTC."""

import json
import shutil

import pytest
from click.testing import CliRunner

from hippo_core.cli.main import hippo
from hippo_core.config import save
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.server import Tools
from hippo_core.store import Store

AT = 1_790_020_800.0  # 2026-09-21T20:00:00Z, five in the morning of the next day in Japan
API = project_scope("example.org/team/api", "api")


@pytest.fixture
def known(paths, in_tokyo, monkeypatch):
    """A store in which everything happened at one moment."""
    monkeypatch.setenv("HIPPO_NOW", str(AT))
    save(paths, embedder="off")
    with Store.open(paths.store) as store, store.transaction():
        store.memories.ensure_scope(API)
        source = store.progress.begin_source("/t.jsonl")
        store.archive.append(
            Message("u1", "s", Role.USER, "The kettle whistles", AT, "/srv", 0), scope=API, source_id=source.id
        )
        store.memories.add(
            Draft("The kettle whistles", MemoryType.FACT, API.key, Author.HUMAN, sources=("u1",), observed_at=AT), "t"
        )


def run(*arguments):
    return CliRunner().invoke(hippo, arguments, catch_exceptions=False).output


@pytest.mark.parametrize("command", [
    ("show", "m1"), ("show", "a1"), ("why", "m1"), ("archive", "kettle", "--all"), ("archive", "--around", "a1"),
])  # fmt: skip
def test_a_command_shows_the_users_time(known, command):
    assert "2026-09-22 05:00" in run(*command) and "2026-09-21" not in run(*command)


@pytest.mark.parametrize("command, day", [
    (("recall", "kettle", "--all"), "22 Sep 2026"), (("monitor", "mute", "--for", "1h"), "2026-09-22 06:00"),
])  # fmt: skip
def test_and_the_users_day(known, command, day):
    assert day in run(*command)


def test_what_waits_and_what_a_night_did_too(known, paths):
    """The night of the 22nd in Japan is the 21st in UTC."""
    with Store.open(paths.store) as store, store.transaction():
        store.memories.add(Draft("Call the plumber", MemoryType.TODO, API.key, Author.MACHINE, observed_at=1.0), "t")
    run("monitor", "mute", "--for", "1h")
    assert "muted until 2026-09-22 06:00" in run("status")
    assert "muted until 2026-09-22 06:00" in run("monitor", "show")
    assert "1 memory; hippo undo n1" in run("dream")
    listed = run("undo", "--list")
    assert "22 Sep" in listed or "2026-09-22" in listed, listed
    assert "21" not in listed


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_snapshots_too(known):
    run("snapshot")
    assert "2026-09-22 05:00" in run("snapshot", "list")


def test_the_model_reads_the_same_day(known, paths, tmp_path):
    tools = Tools(paths, str(tmp_path))
    assert "2026-09-22 05:00" in tools.archive_search("kettle", everywhere=True)
    assert "2026-09-22" in tools.memory_search("kettle", everywhere=True, sources=True)


def test_programs_get_utc(known):
    assert json.loads(run("archive", "kettle", "--all", "--json"))["results"][0]["at"] == "2026-09-21T20:00:00Z"
    assert (
        json.loads(run("recall", "kettle", "--all", "--json"))["results"][0]["confirmed_at"] == "2026-09-21T20:00:00Z"
    )
    assert json.loads(run("show", "m1", "--json"))["created_at"] == AT
