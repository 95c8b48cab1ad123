"""What a pass does for the search by meaning: a while of embedding, in the background only, and only if wanted."""

import hashlib
import textwrap

import pytest
from click.testing import CliRunner
from transcript_files import SESSION, assistant, user, write

from hippo_core import config
from hippo_core.cli.main import hippo
from hippo_core.dream.run import dream
from hippo_core.embed import choose
from hippo_core.errors import VectorsUnavailableError
from hippo_core.heartbeat import read
from hippo_core.ingest.embed_archive import LOCK, embed_archive, parts, sentences
from hippo_core.ingest.run import run_pass
from hippo_core.lock import one_at_a_time
from hippo_core.model.message import Role
from hippo_core.schedule.watch import watch
from hippo_core.server import Tools
from hippo_core.store import Store


class Digest:
    """Vectors that need no weights."""

    fingerprint, dimension = "digest", 8

    def pieces(self, text):
        return [text]

    def embed(self, texts):
        import numpy

        rows = numpy.array([list(hashlib.sha256(text.encode()).digest()[:8]) for text in texts], "float32") + 1
        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def root(isolated, monkeypatch):
    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", lambda settings: Digest())
    projects = isolated / ".claude" / "projects"
    write(projects / "shop" / f"{SESSION}.jsonl", user("Is the tea ready?", 1), assistant("It is.", 2))
    return projects


def embedded(paths):
    with Store.open(paths.store) as store:
        return store._db.execute("SELECT DISTINCT message_id FROM message_vector ORDER BY 1").fetchall()


def test_a_pass_embeds_what_was_said(paths, root):
    assert run_pass(paths, roots=[root]).embedded_messages == 2 and embedded(paths) == [(1,), (2,)]
    assert run_pass(paths, roots=[root]).embedded_messages == 0


def test_a_watch_that_only_goes_on_embedding_did_work(paths, root, monkeypatch):
    run_pass(paths, roots=[root], embed=False)
    monkeypatch.setattr("hippo_core.schedule.watch.roots", lambda paths: [root])
    watch(paths)
    done = read(paths, "watch")
    assert done.counts["messages"] == 0 and done.counts["embedded_messages"] == 2 and done.last_worked
    watch(paths)
    assert read(paths, "watch").last_worked == done.last_worked


@pytest.mark.parametrize("more", [{"archive_only": True}, {"embed": False}])
def test_a_pass_on_the_way_of_a_stop_embeds_nothing(paths, root, more):
    assert run_pass(paths, roots=[root], **more).embedded_messages == 0 and embedded(paths) == []


@pytest.mark.parametrize("settings", [{"archive_meaning": False}, {"embedder": "off"}])
def test_it_can_be_switched_off(paths, root, settings):
    config.save(paths, **settings)
    assert run_pass(paths, roots=[root]).embedded_messages == 0 and embedded(paths) == []


def test_switched_off_command_and_tool_search_by_words_and_say_why(paths, root, monkeypatch, tmp_path):
    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", lambda settings: Digest())
    run_pass(paths, roots=[root])
    for wanted in (True, False):
        config.save(paths, archive_meaning=wanted)
        command = CliRunner().invoke(hippo, ["archive", "tea", "--all"]).output
        for answer in (command, Tools(paths, str(tmp_path)).archive_search("tea", everywhere=True)):
            assert "Is the tea ready?" in answer and ("(archive_meaning: false): keywords only" in answer) is not wanted
            assert "no embedding model" not in answer


@pytest.fixture
def clock(monkeypatch):
    """The time that embedding takes, two seconds a batch, and the time that is slept."""

    class Clock:
        now = worked = rested = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds
            self.rested += seconds

    class Slow(Digest):
        def embed(self, texts):
            clock.now += 2.0
            clock.worked += 2.0
            return super().embed(texts)

    clock = Clock()
    monkeypatch.setattr("hippo_core.ingest.embed_archive.time", clock)
    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", lambda settings: Slow())
    return clock


def test_what_it_works_it_rests_as_its_share_of_the_time_says(paths, root, clock):
    run_pass(paths, roots=[root], embed=False)
    with Store.open(paths.store) as store:
        embed_archive(store, choose.open_embedder(None), seconds=None, share=0.25)
    assert clock.worked > 0 and clock.rested == pytest.approx(3 * clock.worked)


def test_a_pass_works_ten_seconds_and_the_night_three_hundred_with_as_much_rest_between(paths, root, clock):
    write(root / "shop" / f"{SESSION}.jsonl", *(user(f"Is tea {n} ready?", n) for n in range(1, 3_001)))
    run_pass(paths, roots=[root], embed=False)
    assert 0 < run_pass(paths, roots=[root]).embedded_messages < 200
    assert clock.worked == clock.rested == 10.0
    dream(paths)
    assert clock.worked == clock.rested == 310.0


def test_of_what_the_user_said_nothing_is_lost_however_long_it_is():
    class Short(Digest):
        def pieces(self, text):
            return textwrap.wrap(text, 200)

    words = [f"word{number}" for number in range(2_000)]
    _, texts = parts(Role.USER, " ".join(words), Short())
    assert set(words) == set(" ".join(texts).split())


def test_a_pass_that_finds_another_at_it_ends_well(paths, root):
    with one_at_a_time(paths, LOCK):
        report = run_pass(paths, roots=[root])
    assert report.messages == 2 and report.embedded_messages == 0


def test_the_pass_lock_is_free_while_the_archive_is_embedded(paths, root, monkeypatch):
    entered = []

    class Watching(Digest):
        def embed(self, texts):
            with one_at_a_time(paths, "ingest"):  # as forgetting needs it
                entered.append(len(texts))
            return super().embed(texts)

    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", lambda settings: Watching())
    assert run_pass(paths, roots=[root]).embedded_messages == 2 and entered


def test_without_a_model_a_pass_ends_well(paths, root, monkeypatch):
    def missing(settings):
        raise VectorsUnavailableError("no model")

    monkeypatch.setattr("hippo_core.embed.choose.open_embedder", missing)
    assert run_pass(paths, roots=[root]).embedded_messages == 0


def test_the_night_goes_on_with_it(paths, root):
    run_pass(paths, roots=[root], embed=False)
    with one_at_a_time(paths, LOCK):  # a pass is at the same work, which costs the rest of the night nothing
        assert dream(paths).embedded == 0
    assert dream(paths).embedded == 2 and dream(paths).embedded == 0


def test_sentences_of_a_text():
    assert sentences("One sentence that stands alone here.") == []
    told = "I moved to Berlin last spring. Ok. My sister's birthday is in June!\nWe met at the old harbour"
    assert sentences(told) == [
        "I moved to Berlin last spring.",
        "Ok. My sister's birthday is in June!",
        "We met at the old harbour",
    ]
    assert len(sentences("This is one more sentence of many. " * 50)) == 12
    assert max(map(len, sentences("word " * 400 + ". And another sentence follows it."))) == 400


def test_long_rests_are_embedded_a_few_at_a_time_as_well(paths, root):
    class Long(Digest):
        most = 0

        def pieces(self, text):
            return [text[start : start + 10] for start in range(0, len(text), 10)]

        def embed(self, texts):
            self.most = max(self.most, len(texts))
            return super().embed(texts)

    log = "x" * 1_800  # 145 pieces after the opening
    write(root / "shop" / f"{SESSION}.jsonl", *(assistant(f"{number} {log}", number) for number in range(1, 5)))
    run_pass(paths, roots=[root], embed=False)
    embedder = Long()
    with Store.open(paths.store) as store:
        assert embed_archive(store, embedder, None, share=1.0) == 4 and embedder.most <= 256
        held = store._db.execute("SELECT message_id, count(*) > 100 FROM message_vector GROUP BY 1").fetchall()
    assert held == [(1, 1), (2, 1), (3, 1), (4, 1)]


def test_many_long_messages_are_embedded_a_few_at_a_time_so_that_a_pass_that_dies_gets_on(paths, root, monkeypatch):
    class Dying(Digest):
        asked = 0

        def pieces(self, text):
            return [text[start : start + 10] for start in range(0, len(text), 10)]

        def embed(self, texts):
            self.asked += 1
            if self.asked > 1:
                raise KeyboardInterrupt
            return super().embed(texts)

    log = "x" * 1_500  # 150 pieces
    write(root / "shop" / f"{SESSION}.jsonl", *(user(f"{number} {log}", number) for number in range(1, 5)))
    run_pass(paths, roots=[root], embed=False)
    with Store.open(paths.store) as store, pytest.raises(KeyboardInterrupt):
        embed_archive(store, Dying(), None, share=1.0)
    assert embedded(paths) == [(4,)]
    with Store.open(paths.store) as store:
        assert embed_archive(store, Digest(), None, share=1.0) == 3
    assert embedded(paths) == [(1,), (2,), (3,), (4,)]
