"""Whatever is done to memories, in any order and by clocks that jump: indexes, references and renders stay in step, no
job touches a human's memory, and a night that is taken back at once leaves no trace."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hippo_core.config import Config
from hippo_core.curate import rules
from hippo_core.curate.forget import forget, what_would_go
from hippo_core.curate.remember import remember
from hippo_core.dream.retire import retire_due
from hippo_core.dream.undo import take_back
from hippo_core.errors import HippoError
from hippo_core.ingest.reconcile import reconcile
from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.paths import Paths
from hippo_core.render.refresh import is_current
from hippo_core.store import Store
from hippo_core.store.upkeep import CURATED

SCOPES = (GLOBAL_SCOPE, project_scope("example.org/a/api", "api"))
JOBS = ("learn", "night", "agent")
START, HOUR = 1_800_000_000, 3_600

_text = st.builds(
    str.format,
    st.sampled_from(
        ["The API listens on port {}", "Never push to branch {} at night", "Todo: mend bug {}", "部署 {} 服务"]
    ),
    st.integers(1, 4),
)
_step = st.tuples(
    st.sampled_from([*JOBS, "night", "remember", "remember", "add", "accept", "edit", "remove", "undo", "forget"]),
    _text,
    st.sampled_from(SCOPES),
    st.sampled_from([MemoryType.PING, MemoryType.TASK, MemoryType.FACT]),
    st.integers(1, 6),
    st.sampled_from([1, 24 * 8, 24 * 100, -24 * 400]),  # hours since the step before
)


@given(st.lists(_step, min_size=5, max_size=16))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_in_step_whatever_happens(tmp_path_factory, steps):
    paths, now = Paths(tmp_path_factory.mktemp("home") / "data"), START
    with pytest.MonkeyPatch.context() as patched, Store.open(paths.store) as store:
        for what, *how, hours in steps:
            now += hours * HOUR
            patched.setenv("HIPPO_NOW", str(now))
            before = everything(store)
            with suppress(HippoError):  # what cannot be done changes nothing, which is looked at as well
                do(store, paths, what, *how)
            after = everything(store)
            if what in JOBS:
                assert {number: said(after.get(number)) for number in before if before[number].frozen} == {
                    number: said(memory) for number, memory in before.items() if memory.frozen
                }
            if what == "night" and after != before:
                take_back(store, paths, None)
                again = everything(store)
                assert {n: m._replace(version=0) for n, m in again.items()} == {
                    n: m._replace(version=0) for n, m in before.items()
                }
            assert in_step(store, paths) == []
        assert store.upkeep.damage() == []


def everything(store):
    return {memory.id: memory for memory in store.memories.select(status=None)}


def said(memory):
    return memory and (memory.text, memory.type, memory.status, memory.scope, memory.pinned)


def do(store, paths, what, text, scope, kind, number):
    if what in ("remember", "agent"):
        author = Author.HUMAN if what == "remember" else Author.MACHINE
        remember(store, paths, text, type=kind, scope=scope, author=author, actor="test")
    elif what == "learn":
        draft = Draft(text, kind, scope.key, Author.MACHINE, confidence=0.8, sources=(f"u{number}",))
        with store.transaction():
            store.memories.ensure_scope(scope)
            reconcile(store, draft, "test")
    elif what == "night":
        with store.transaction():
            retire_due(store, Config())
    elif what == "undo":
        take_back(store, paths, None)
    elif what == "add":
        rules.add_rule(store, paths, text, scope=scope, domain=None)
    elif what == "accept":
        rules.accept_rule(store, paths, number, domain="git")
    elif what == "edit":
        rules.edit_rule(store, paths, number, text)
    elif what == "remove":
        rules.remove_rule(store, paths, number)
    elif not (doomed := what_would_go(store, text=text)).nothing:
        forget(store, paths, doomed)
        assert what_would_go(store, text=text).nothing


def in_step(store, paths):
    """What is not as it should be, in words; each is a promise of the store's or of what the hooks read."""
    from hippo_core.render.refresh import refresh

    refresh(store, paths)  # a job does this at its end
    with store.transaction():
        unsound = [index for index in CURATED if not store.upkeep.is_sound(index, against_rows=True)]
    wrong = [*unsound, *store.upkeep.gaps(), *store.upkeep.orphans()]
    wrong += ["references"] * bool(store.upkeep.broken_references()) + ["door"] * store.upkeep.open_door()
    return wrong + ["renders"] * (not is_current(store, paths))
