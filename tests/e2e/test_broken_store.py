"""Whatever is wrong with the store, the turn goes on: hooks are silent and a tool answers in one plain line."""

import contextlib
import shutil
import sqlite3

import pytest

from e2e.stub_api import use
from e2e.test_packaging import hook_responses
from e2e.test_tools import SERVER

pytestmark = pytest.mark.e2e

FACT = "The staging database runs on port 5544."


@contextlib.contextmanager
def missing(product):
    shutil.rmtree(product.home / "render")
    for file in product.home.glob("memory.db*"):
        file.unlink()
    yield


@contextlib.contextmanager
def corrupt(product):
    for file in product.home.glob("memory.db*"):
        file.write_bytes(b"this is no database " * 500)
    for file in (product.home / "render").rglob("*.json"):
        file.write_bytes(file.read_bytes()[:-3])
    yield


@contextlib.contextmanager
def locked(product):
    with contextlib.closing(sqlite3.connect(product.paths.store, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = exclusive")
        other.execute("BEGIN EXCLUSIVE")
        yield


@pytest.mark.parametrize("broken", [missing, corrupt, locked], ids=lambda broken: broken.__name__)
def test_the_turn_goes_on(client, api, product, broken):
    product.hippo("remember", FACT, cwd=client.work)
    api.on(lambda request: not request.tool_results, use(SERVER + "memory_search", {"query": "staging port"}))
    with broken(product):
        run = client.ask("hello")
    assert run.returncode == 0 and run.answer == "Done"
    assert all(event["exit_code"] == 0 and not event["stderr"] for event in hook_responses(run))
    (answer,) = run.main[-1].tool_results
    assert "Traceback" not in answer and len(answer.strip().splitlines()) == 1
    assert str(product.paths.store) in answer
    assert "ippo-rules" not in run.main[0].prompt or broken is locked


def test_a_corrupt_store_is_left_as_it_was_found(client, product):
    with corrupt(product):
        before = product.paths.store.read_bytes()
        client.ask("hello")
        product.hippo("status", cwd=client.work, status=1)
        assert product.paths.store.read_bytes() == before
