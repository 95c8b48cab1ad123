"""Where the model is at hand, it begins on a question while the question's words are looked up."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hippo_core.config import Config
from hippo_core.embed.cache import CachedQueries
from hippo_core.errors import VectorsUnavailableError
from hippo_core.ingest.embed import embed_pending
from hippo_core.ingest.embed_archive import embed_archive
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.archive import search_archive
from hippo_core.recall.pipeline import recall
from hippo_core.store.memories import Memories

numpy = pytest.importorskip("numpy")
QUESTION = "which database holds the sessions"


class Model:
    """Tells when it is asked, and by which thread. Every text has the same meaning to it."""

    fingerprint, dimension = "test/ahead", 8

    def __init__(self):
        self.asked, self.began, self.threads = [], threading.Event(), set()

    def pieces(self, text):
        return [text]

    def embed(self, texts):
        self.asked += texts
        self.threads.add(threading.current_thread())
        self.began.set()
        return numpy.full((len(texts), self.dimension), 8**-0.5, dtype="f4")


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def asked_ahead(model, paths):
    """The model as the tool server has it, for questions."""
    with ThreadPoolExecutor(1) as ahead:
        yield CachedQueries(model, paths.queries, ahead=ahead)


@pytest.fixture
def known(store, model):
    """A store with a memory and a message, both embedded."""
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        text = "PostgreSQL holds the sessions since the outage; see `docs/sessions.md`."
        store.memories.add(Draft(text, MemoryType.FACT, GLOBAL, Author.MACHINE), "test")
        source = store.progress.begin_source("/t.jsonl")
        said = Message("u1", "s1", Role.USER, "PostgreSQL holds the sessions now.", 1.0, "/w", 0)
        store.archive.append(said, scope=GLOBAL_SCOPE, source_id=source.id)
    embed_pending(store, model)
    embed_archive(store, model)
    del model.asked[:]
    model.began.clear(), model.threads.clear()
    return store


def test_the_model_is_at_work_before_the_words_of_a_question_are_looked_up(known, model, asked_ahead, monkeypatch):
    looked_up = Memories.keyword_hits
    waited = []

    def late(*args, **kwargs):
        waited.append(model.began.wait(20))
        return looked_up(*args, **kwargs)

    monkeypatch.setattr(Memories, "keyword_hits", late)
    found = recall(known, QUESTION, embedder=asked_ahead, scopes=None, config=Config())
    assert waited and all(waited) and model.asked == [QUESTION]
    assert threading.current_thread() not in model.threads and found.searched["meaning"] == 1


def test_a_question_with_a_slip_is_begun_on_as_it_is_mended(known, model, asked_ahead):
    found = recall(known, QUESTION.replace("sessions", "sesions"), embedder=asked_ahead, scopes=None, config=Config())
    assert found.notes == ["sesions read as sessions"] and model.asked == [QUESTION]


def test_the_archive_begins_likewise(known, model, asked_ahead, monkeypatch):
    looked_up = type(known.message_words).keyword_hits
    waited = []

    def late(*args, **kwargs):
        waited.append(model.began.wait(20))
        return looked_up(*args, **kwargs)

    monkeypatch.setattr(type(known.message_words), "keyword_hits", late)
    assert search_archive(known, QUESTION, scopes=None, embedder=asked_ahead).hits
    assert waited == [True] and model.asked == [QUESTION]


def test_what_is_begun_is_what_would_have_been_found(known, model, asked_ahead, paths):
    alone = recall(known, QUESTION, embedder=model, scopes=None, config=Config(), now=2.0)
    ahead = recall(known, QUESTION, embedder=asked_ahead, scopes=None, config=Config(), now=2.0)
    assert ahead._replace(elapsed_ms=0) == alone._replace(elapsed_ms=0)


@pytest.mark.parametrize("question", ["docs/sessions.md", "ok", "yesterday", "what did we do last week?"])
def test_a_question_that_needs_no_meaning_is_not_begun(known, model, asked_ahead, question):
    recall(known, question, embedder=asked_ahead, scopes=None, config=Config())
    assert not model.asked


def test_where_nothing_is_embedded_the_model_is_not_even_loaded(store, model, asked_ahead):
    recall(store, QUESTION, embedder=asked_ahead, scopes=None, config=Config())
    search_archive(store, QUESTION, scopes=None, embedder=asked_ahead)
    assert not model.asked


def test_why_the_model_fails_is_told_as_ever(known, model, asked_ahead, monkeypatch):
    def fails(texts):
        raise VectorsUnavailableError("The service cannot be reached.")

    monkeypatch.setattr(model, "embed", fails)
    found = recall(known, QUESTION, embedder=asked_ahead, scopes=None, config=Config())
    assert found.notes == ["keywords only: The service cannot be reached."] and found.results


def test_of_questions_that_nobody_asked_for_after_all_few_are_kept_and_no_word(asked_ahead):
    for number in range(100):
        asked_ahead.expect(f"unmistakable {number}")
    kept = asked_ahead._begun
    assert len(kept) <= 16 and all(isinstance(key, bytes) and b"unmistakable" not in key for key in kept)
