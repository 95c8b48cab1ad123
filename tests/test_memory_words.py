"""Memories by their words where very many hold them: listed and ranked as FTS5 ranks them, at a bounded cost."""

import random

import pytest

from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import memories, postings
from hippo_core.store.memories import EXACT, PLAIN

API, WEB = project_scope("example.org/a/api", "api"), project_scope("example.org/a/web", "web")
SCOPES = (GLOBAL_SCOPE, API, WEB)
WORDS = [f"word{n:02}" for n in range(40)]


@pytest.fixture
def listed(monkeypatch):
    """The rows that were listed, word by word; from 90 memories on, of which FTS5 may rank 60."""
    monkeypatch.setattr(memories, "_PLANNED_FROM", 90)
    monkeypatch.setattr(memories, "_BUDGET", 60)
    counts, real = [], postings.rows_with

    def rows(*args):
        found = real(*args)
        counts.append(len(found))
        return found

    monkeypatch.setattr(postings, "rows_with", rows)
    return counts


@pytest.fixture
def many(store):
    """300 memories, of which the first words are in most and the last in few; the texts by number."""
    chance, texts = random.Random(1), {}
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    with store.transaction():
        for n in range(300):
            scope = SCOPES[n % 3]
            store.memories.ensure_scope(scope)
            text = " ".join(chance.choices(WORDS, weights, k=chance.randint(2, 12)))
            draft = Draft(text, MemoryType.FACT, scope.key, Author.MACHINE)
            texts[store.memories.add(draft, "test").id] = text
    return texts


def hits(store, words, *, index=PLAIN, scopes=None, limit=400, types=None):
    return store.memories.keyword_hits(words, index=index, scopes=scopes, limit=limit, types=types)


@pytest.mark.parametrize("index", [EXACT, PLAIN])
@pytest.mark.parametrize("scopes", [None, [API.key, GLOBAL]])
def test_what_very_many_memories_hold_is_ranked_as_fts5_ranks_it(store, many, listed, monkeypatch, index, scopes):
    asked = ["word00", "word07", "word20", "nowhere"]
    found = hits(store, asked, index=index, scopes=scopes)
    assert listed
    monkeypatch.setattr(memories, "_BUDGET", 10_000)
    listed.clear()
    exact = hits(store, asked, index=index, scopes=scopes)
    assert not listed and dict(found).keys() == dict(exact).keys()
    assert len({number for number, _ in found[:10]} & {number for number, _ in exact[:10]}) >= 8


def test_a_common_question_goes_through_a_bounded_number_of_rows(store, many, listed, monkeypatch):
    monkeypatch.setattr("hippo_core.store.frequencies.LISTED", 80)
    assert hits(store, WORDS[:8], limit=5) and sum(listed) <= 80
    listed.clear()
    assert hits(store, WORDS[:1], limit=5) and sum(listed) <= 80 * 1.1  # of the newest, so many as it seems


def test_the_best_few_of_what_is_listed_are_the_best_of_all(store, many, listed):
    """Not only the best by rarity alone, among which their lengths decide."""
    asked = ["word00", "word03"]
    assert hits(store, asked, limit=5) == hits(store, asked)[:5] and listed


def test_of_what_only_the_commonest_word_brings_the_newest_are_looked_at(store, many, listed, monkeypatch):
    monkeypatch.setattr(postings, "_ENOUGH", 20)
    holding = sorted(number for number, text in many.items() if "word00" in text.split())
    assert sorted(dict(hits(store, ["word00"]))) == holding[-20:] and listed


def test_few_rows_and_few_memories_are_left_to_fts5(store, many, listed, monkeypatch):
    assert hits(store, WORDS[38:]) and not listed
    monkeypatch.setattr(memories, "_PLANNED_FROM", 1_000)
    assert hits(store, WORDS[:8]) and not listed


def test_of_a_scope_only_its_share_of_what_matches_is_expected(store, many, listed, monkeypatch):
    monkeypatch.setattr(memories, "_BUDGET", 180)
    assert hits(store, WORDS[:2], scopes=[API.key]) and not listed
    assert hits(store, WORDS[:2]) and listed


def test_what_is_not_to_be_found_is_not_found_by_listing_either(store, many, listed):
    holding = [number for number, text in many.items() if "word00" in text]
    gone, other = holding[0], holding[1]
    scope = store.memories.get(other).scope
    with store.transaction():
        store.memories.retire(gone, "test", Author.HUMAN)
    everywhere = dict(hits(store, WORDS[:4]))
    assert listed and gone not in everywhere and other in everywhere
    elsewhere = [known.key for known in SCOPES if known.key != scope]
    assert other not in dict(hits(store, WORDS[:4], scopes=elsewhere))
    assert not hits(store, WORDS[:4], types=[MemoryType.TOOL])


def test_active_memories_are_counted_as_they_come_and_go(store, many):
    assert store.memories.count_active() == len(many) == 300
    with store.transaction():
        store.memories.retire(7, "test", Author.HUMAN)
        store.memories.erase([8, 9])
    assert store.memories.count_active() == 297
    with store.transaction():
        store.upkeep.rebuild(PLAIN)
    assert store.memories.count_active() == 297
