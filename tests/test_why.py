"""`hippo why`: from a memory back to the words it came from, in the archive and in the client's file."""

import json

import pytest
from click.testing import CliRunner

from hippo_core import clock
from hippo_core.cli.main import hippo
from hippo_core.errors import NotFoundError, UsageError
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import project_scope
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall import present
from hippo_core.recall.pipeline import recall
from hippo_core.recall.why import GAP, said_for, telling_lines, why
from hippo_core.store import Store
from hippo_core.store.use import Use

API = project_scope("example.org/team/api", "api")
ASKED = "Why do the order tests fail?"
SAID = "Redis is dropped for sessions after the outage"
LONG = "\n".join(f"Paragraph {n} speaks of something else entirely, at some length." for n in range(20))


@pytest.fixture
def known(paths, tmp_path):
    """A store with one memory from two messages of a transcript that is still there; the transcript's path."""
    transcript = tmp_path / "session.jsonl"
    lines = [json.dumps({"text": text}).encode() + b"\n" for text in ("first line", ASKED, SAID)]
    transcript.write_bytes(b"".join(lines))
    with Store.open(paths.store) as store, store.transaction():
        store.memories.ensure_scope(API)
        source = store.progress.begin_source(str(transcript))
        for uid, role, text, offset in (
            ("u1", Role.USER, f"{LONG}\n{SAID}, decided.\n{LONG}", len(lines[0])),
            ("u2", Role.ASSISTANT, SAID, len(lines[0]) + len(lines[1])),
        ):
            message = Message(uid, "session-one", role, text, 1_790_000_000.0, "/srv", offset)
            store.archive.append(message, scope=API, source_id=source.id)
        sources = ("u1", "u2", "u-gone")
        memory = store.memories.add(
            Draft(SAID, MemoryType.DECISION, API.key, Author.MACHINE, sources=sources, observed_at=1_790_000_000.0), "t"
        )
        store.memories.reinforce(memory.id, "distil", ("u2",), 1_790_086_400.0, 0.9)
    return transcript


def run(*arguments):
    result = CliRunner().invoke(hippo, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_the_words_are_shown_as_they_were_said_with_speaker_time_and_line(known):
    shown = run("why", "m1")
    assert f"{SAID}, decided." in shown and "Paragraph" not in shown and GAP in shown
    assert "you · 2026-09-21 14:13 · session session-" in shown and "the agent" in shown
    assert f"{known}:2" in shown and f"{known}:3" in shown and "1 of its sources is not in the archive" in shown


def test_it_tells_confirmation_use_and_history(known, paths):
    with Store.open(paths.store) as store, store.transaction():
        store.uses.fold("night-1", {1: Use(shown=4, used=1, last_shown=clock.now(), last_used=None)})
    shown = run("why", "m1")
    assert "2026-09-22 14:13, seen 2 times" in shown and "4 times, last" in shown and "1 time" in shown
    assert "stored, t" in shown and "confirmed, from a session" in shown
    data = json.loads(run("why", "m1", "--json"))
    assert data["use"]["shown"] == 4 and data["sources"][0]["line"] == 2 and data["sources_gone"] == 1


@pytest.mark.parametrize(
    ("role", "withheld", "who", "besides"),
    [
        (Role.USER, None, "you", []),
        (Role.ASSISTANT, None, "the agent", []),
        (Role.PARENT, None, "the agent to its sub-agent", []),
        (Role.SUMMARY, None, "a summary of the conversation", []),
        (Role.USER, "private", "you", ["      not learned from: private"]),
    ],
)
def test_it_tells_who_said_it_when_it_was_first_said_and_what_was_not_learned_from(
    paths, store, role, withheld, who, besides
):
    with store.transaction():
        store.memories.ensure_scope(API)
        source = store.progress.begin_source("/gone.jsonl")
        message = Message("u1", "session-one", role, SAID, 1_790_000_000.0, "/srv", 0)
        store.archive.append(message, scope=API, source_id=source.id, withheld=withheld)
        at = dict(observed_at=1_790_000_000.0)
        store.memories.add(Draft(SAID, MemoryType.DECISION, API.key, Author.MACHINE, sources=("u1",), **at), "t")
    lines = run("why", "m1").splitlines()
    assert "  first said  2026-09-21 14:13" in lines
    place = lines.index(f"  a1  {who} · 2026-09-21 14:13 · session session-")
    assert lines[place + 1 : lines.index("History:") - 1] == [
        "      /gone.jsonl (changed or gone since)", *besides, f"      {SAID}"
    ]  # fmt: skip
    assert json.loads((paths.spool / "shown.jsonl").read_text())["used"] == [1], "it was looked at in full"


def test_history_tells_the_words_that_were_replaced(known, paths):
    with Store.open(paths.store) as store, store.transaction():
        store.memories.update(1, 2, "user", Author.HUMAN, text="PostgreSQL holds the sessions")
        new = store.memories.add(Draft("Nothing holds sessions", MemoryType.FACT, API.key, Author.MACHINE), "t")
        store.memories.supersede(1, new.id, "distil", Author.MACHINE, 1.0)
    shown = run("why", "m1")
    assert f"changed, by you, was: {SAID}" in shown and "replaced by m2 Nothing holds sessions" in shown
    assert "replaces    m1 PostgreSQL holds the sessions" in run("why", "m2")
    assert "no source in a conversation" in run("why", "m2")


def test_a_transcript_that_is_gone_or_rewritten_names_no_line(known, paths):
    known.write_bytes(b"x" * 500)
    assert "changed or gone since" in run("why", "m1")
    known.unlink()
    with Store.open(paths.store) as store:
        found = why(store, 1)
    assert [said.line for said in found.said] == [None, None] and found.said[1].lines == (SAID,)


def test_what_has_no_why_is_one_clear_line(known, paths):
    with pytest.raises(UsageError, match="hippo show a1"):
        run("why", "a1")
    with pytest.raises(NotFoundError):
        run("why", "m99")


def test_the_model_gets_the_sources_on_request_but_nothing_withheld(known, paths):
    with Store.open(paths.store) as store:
        with store.transaction():
            source = store.progress.begin_source("/other.jsonl")
            secret = Message("u-gone", "s2", Role.USER, "a withheld sentence about redis", 1.0, "/srv", 0)
            store.archive.append(secret, scope=API, source_id=source.id, withheld="private")
        found = recall(store, "redis sessions", embedder=None, scopes=None)
        said = said_for(store, [result.memory for result in found.results])
    shown = present.recall_for_model(found, said)
    assert f'from a2, assistant, 2026-09-21: "{SAID}"' in shown and "withheld sentence" not in shown
    assert "from a2" not in present.recall_for_model(found)


def test_of_a_long_line_the_telling_stretch_is_shown():
    line = "filler " * 200 + "redis was dropped " + "filler " * 200
    (kept,) = telling_lines(line, "Redis dropped")
    assert "redis was dropped" in kept and len(kept) < 700 and kept.startswith(GAP) and kept.endswith(GAP)
