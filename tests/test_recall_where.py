"""Which projects a search looks into: the folder's own and what is global, unless somebody says otherwise."""

import pytest

from hippo_core import errors
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, project_scope, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.where import EVERYWHERE, search_scopes

API = project_scope("example.org/team/api", "api")
WEB = project_scope("example.org/team/web", "web")


@pytest.fixture
def remember(store):
    def add(scope):
        with store.transaction():
            store.memories.ensure_scope(scope)
            store.memories.add(Draft("Redis was dropped", MemoryType.FACT, scope.key, Author.MACHINE), "test")

    return add


def test_the_default_is_the_project_of_the_folder_and_what_is_global(store, remember, tmp_path):
    here = scope_of(str(tmp_path))
    assert search_scopes(store, str(tmp_path), None, False) == (None, EVERYWHERE)  # unknown to the store
    remember(here)
    assert search_scopes(store, str(tmp_path), None, False) == ([here.key, GLOBAL], here.label)
    assert search_scopes(store, str(tmp_path), None, True) == (None, EVERYWHERE)
    assert search_scopes(store, None, None, False) == (None, EVERYWHERE)


def test_a_project_that_only_the_archive_knows_is_searched_alone_as_well(store, tmp_path):
    here = scope_of(str(tmp_path))
    with store.transaction():
        source = store.progress.begin_source("/t.jsonl")
        store.archive.append(
            Message("u1", "s", Role.USER, "hm", 1.0, str(tmp_path), 0), scope=here, source_id=source.id
        )
    assert search_scopes(store, str(tmp_path), None, False) == ([here.key, GLOBAL], here.label)


def test_a_named_project_is_all_that_bear_the_name(store, remember):
    twin = project_scope("example.org/other/api", "api")
    for scope in (API, WEB, twin):
        remember(scope)
    scopes, label = search_scopes(store, None, "API", False)
    assert set(scopes) == {API.key, twin.key, GLOBAL} and label == "API"
    with pytest.raises(errors.UsageError, match="Known: api, web"):
        search_scopes(store, None, "everywhere", False)
