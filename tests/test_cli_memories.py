"""The commands that store, show and delete memories, as a person types them."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hippo_core.cli.main import hippo
from hippo_core.errors import HippoError
from hippo_core.log import log
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store


@pytest.fixture
def run(tmp_path, monkeypatch, paths):
    """Runs a command in a project's folder and gives its output; an error of ours is raised."""
    monkeypatch.chdir(tmp_path)
    paths.home.mkdir()
    paths.config.write_text('{"embedder": "off"}', encoding="utf-8")

    def call(*arguments, typed=None, code=0):
        result = CliRunner().invoke(hippo, arguments, input=typed)
        if isinstance(result.exception, HippoError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.output

    return call


def say(paths, text, uid):
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source("/client/s1.jsonl")
        message = Message(uid, "s1", Role.USER, text, 1.0, os.getcwd(), 0)
        store.archive.append(message, scope=scope_of(os.getcwd()), source_id=source.id)


def test_remember_shows_the_type_it_guessed(run):
    said = run("remember", "Never", "push", "on", "a", "Friday")
    assert "m1" in said and "rule" in said and "guessed" in said
    assert "guessed" not in run("remember", "--type", "fact", "The port is 9090.")
    assert "Known already" in run("remember", "the port is 9090.")


def test_the_way_to_a_standing_rule_works_as_it_is_said(run):
    said = run("remember", "Never", "push", "on", "a", "Friday")
    command = said.rpartition("every session: hippo ")[2].split()
    assert "load in each session" in run(*command)


def test_remember_reads_standard_input_and_keeps_its_lines(run):
    assert "m1" in run("remember", "-", typed="first line\n部署\n")
    assert json.loads(run("show", "m1", "--json"))["text"] == "first line\n部署"


def test_standard_input_is_utf_8_whatever_the_locale_and_may_begin_with_a_byte_order_mark(run):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "latin-1"}
    subprocess.run(
        [sys.executable, "-m", "hippo_core.cli.main", "remember", "-"], input="Prüfe das Tor.".encode("utf-8-sig"),
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    assert json.loads(run("show", "m1", "--json"))["text"] == "Prüfe das Tor."


def test_a_memory_belongs_to_this_project_another_or_all(run, tmp_path):
    (tmp_path / "other").mkdir()
    run("remember", "zebra here"), run("remember", "--project", "other", "zebra there")
    run("remember", "--global", "--pin", "zebra everywhere")
    rows = json.loads(run("list", "--json", "--all"))
    assert {row["text"]: row["scope_label"] for row in rows} == {
        "zebra here": tmp_path.name, "zebra there": "other", "zebra everywhere": "everywhere",
    }  # fmt: skip
    assert {row["text"]: row["pinned"] for row in rows}["zebra everywhere"]
    here = run("list")
    assert "zebra here" in here and "zebra everywhere" in here and "zebra there" not in here
    assert "zebra there" in run("list", "--project", "other")
    with pytest.raises(HippoError, match="either"):
        run("remember", "--global", "--project", "other", "both")


def test_list_is_narrowed_by_type_author_and_number(run):
    run("remember", "--type", "fact", "one"), run("remember", "--type", "decision", "two")
    assert "two" in run("list", "--type", "decision") and "one" not in run("list", "--type", "decision")
    assert "No such memory" in run("list", "--author", "machine")
    assert "There are more" in run("list", "-n", "1") and run("list", "-n", "1").count("today") == 1


def test_list_takes_types_as_words_too(run):
    run("remember", "A.", "--type", "decision"), run("remember", "B.", "--type", "fact")
    run("remember", "C.", "--type", "result")
    assert [row["type"] for row in json.loads(run("list", "decision", "--json"))] == ["decision"]
    for spelling in ("Decision", "decisions"):
        assert run("list", spelling) == run("list", "decision")
    both = {row["type"] for row in json.loads(run("list", "decision", "--type", "fact", "--json"))}
    assert (
        both == {"decision", "fact"} == {row["type"] for row in json.loads(run("list", "fact", "decision", "--json"))}
    )


def test_a_list_of_nothing_says_whether_there_is_anything_elsewhere(run, paths):
    with Store.open(paths.store):
        assert "Nothing is remembered yet" in run("list") == run("list", "decision")
    run("remember", "A.", "--type", "decision")
    assert "No such memory in" in run("list", "fact") and "hippo list --all" in run("list", "fact")
    assert "hippo list --all" not in run("list", "fact", "--all")


def test_show_tells_everything_of_a_memory_and_of_a_message(run, paths):
    run("remember", "We dropped redis because it lost sessions.")
    say(paths, "the zebra crossing", "u1")
    shown = run("show", "m1")
    for part in ("We dropped redis", "decision", "no job changes it", "importance", "stored, by you"):
        assert part in shown
    assert "the zebra crossing" in run("show", "a1") and "you" in run("show", "a1")
    for wrong in ("m9", "a9", "x1", ""):
        with pytest.raises(HippoError):
            run("show", wrong)


def test_show_names_the_sources_with_their_text(run, paths):
    from hippo_core.model.memory import Draft
    from hippo_core.model.types import Author, MemoryType

    say(paths, "the zebra crossing is closed", "u1")
    with Store.open(paths.store) as store, store.transaction():
        scope = scope_of(os.getcwd())
        store.memories.ensure_scope(scope)
        draft = Draft("Crossing closed.", MemoryType.FACT, scope.key, Author.MACHINE, sources=("u1", "u2"))
        store.memories.add(draft, "distil")
    shown = run("show", "m1")
    assert "the zebra crossing is closed" in shown and "1 is not in the archive" in shown and "m1" in run("show", "a1")
    assert "From 2 messages:" in shown and "seen 1 time," in shown
    assert json.loads(run("list", "--json"))[0]["sources"] == ["u1", "u2"]
    fields = json.loads(run("show", "m1", "--json"))
    assert fields["sources"][0]["text"] == "the zebra crossing is closed" and fields["sources_gone"] == 1


# -- forget ------------------------------------------------------------------------------------------------------------


def test_forget_shows_what_would_go_and_deletes_nothing_without_an_answer(run, paths):
    run("remember", "The vault code is quagga-7731.")
    with pytest.raises(HippoError, match="--yes"):
        run("forget", "m1")
    assert "quagga" in run("show", "m1")
    said = run("forget", "m1", "--yes")
    assert "quagga" in said and "1 memory, 0 messages" in said and "no byte" in said
    assert not any(b"quagga" in file.read_bytes() for file in paths.home.rglob("*") if file.is_file())


def test_forget_by_text_takes_memories_and_messages(run, paths):
    run("remember", "The vault code is quagga-7731."), say(paths, "QUAGGA-7731 it is", "u1")
    said = run("forget", "--query", "quagga-7731", "--yes")
    assert "1 memory, 1 message" in said and "/client/s1.jsonl" in said
    assert "nothing was deleted" in run("forget", "--query", "quagga-7731", "--yes")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_only_a_log_and_an_earlier_snapshot_hold_is_forgotten_too(run, paths):
    run("remember", "The cellar is open.")
    run("nudge", "set", "The vault is quagga-7731.")
    run("snapshot")
    run("nudge", "reset")
    run("snapshot")
    log(paths, "test", "quagga-7731 is in it")
    history = ["git", "-C", str(paths.snapshot), "log", "-p", "--all"]
    assert b"quagga" in subprocess.check_output(history)
    said = run("forget", "--query", "Quagga-7731", "--dry-run")
    assert "No memory and no message" in said and str(paths.log / "hippo.log") in said and "snapshots" in said
    assert len(json.loads(run("forget", "--query", "quagga-7731", "--dry-run", "--json"))) == 2
    assert "beside the memories" in run("forget", "--query", "quagga-7731", "--yes")
    assert b"quagga" not in subprocess.check_output(history)
    assert b"quagga" not in (paths.log / "hippo.log").read_bytes()
    assert "nothing was deleted" in run("forget", "--query", "quagga-7731", "--yes")


def test_the_preview_is_bounded(run):
    for number in range(20):
        run("remember", f"quagga number {number}")
    with pytest.raises(HippoError, match="Nothing was deleted"):
        run("forget", "--query", "quagga")
    said = run("forget", "--query", "quagga", "--yes")
    assert "20 memories" in said and "… and 8 more" in said and said.count("quagga number") == 12


def test_a_dry_run_shows_all_that_would_go_and_deletes_nothing(run, paths):
    run("remember", "The vault code is quagga-7731."), say(paths, "The vault code is quagga-7731.", "u1")
    said = run("forget", "--dry-run", "m1")
    assert "1 memory, 1 message" in said and "m1" in said and "a1" in said
    assert json.loads(run("forget", "m1", "--dry-run", "--yes", "--json")).keys() == {"m1", "a1"}
    assert "quagga" in run("show", "m1") and "quagga" in run("show", "a1")


def test_the_preview_says_why_each_row_goes_and_what_would_spare_the_archive(run, paths):
    with Store.open(paths.store) as store, store.transaction():
        source, scope = store.progress.begin_source("/client/s1.jsonl"), scope_of(os.getcwd())
        store.memories.ensure_scope(scope)
        said = Message("u1", "s1", Role.USER, "The vault is quagga-7731 and the cellar is open.", 1.0, os.getcwd(), 0)
        store.archive.append(said, scope=scope, source_id=source.id)
        for text in ("The vault is quagga-7731.", "The cellar is open."):
            store.memories.add(Draft(text, MemoryType.FACT, scope.key, Author.MACHINE, sources=("u1",)), "distil")
    with pytest.raises(HippoError, match="--yes"):
        run("forget", "--query", "quagga-7731")
    lines = run("forget", "--query", "quagga-7731", "--yes").splitlines()
    heads = [lines.index("  holds “quagga-7731”:"), lines.index("  learned from a1, which goes:")]
    assert heads == [1, 4] and ["m1" in lines[2], "a1" in lines[3], "m2" in lines[5]] == [True] * 3
    assert "--keep-archive" in lines[6]


def test_what_was_named_and_what_it_came_from_are_told_apart(run, paths):
    run("remember", "The vault code is quagga-7731."), say(paths, "The vault code is quagga-7731.", "u1")
    lines = run("forget", "m1", "--yes").splitlines()
    assert lines[1:5:2] == ["  you named:", "  holds the same words:"]
    run("remember", "The vault code is okapi-1144."), say(paths, "The vault code is okapi-1144.", "u2")
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source("/client/s1.jsonl")
        message = Message("u3", "s1", Role.USER, "So the gnu it is.", 1.0, os.getcwd(), 0)
        store.archive.append(message, scope=scope_of(os.getcwd()), source_id=source.id)
        store.memories.add(
            Draft(
                "The gnu guards the roof.", MemoryType.FACT, scope_of(os.getcwd()).key, Author.MACHINE, sources=("u3",)
            ),
            "distil",
        )
    assert "  m3 was learned from it:" in run("forget", "m3", "--dry-run").splitlines()
    assert "--keep-archive" not in run("forget", "a2", "--yes"), "an archived message cannot be named and kept"


def test_forget_wants_ids_or_a_text_and_known_ones(run):
    run("remember", "something")
    for wrong in ((), ("m1", "--query", "some"), ("m9",), ("nonsense",), ("--query", "")):
        with pytest.raises(HippoError):
            run("forget", *wrong, "--yes")
    assert "something" in run("show", "m1")


def test_forget_keeps_the_archive_when_asked(run, paths):
    run("remember", "The vault code is quagga-7731."), say(paths, "The vault code is quagga-7731.", "u1")
    assert "1 memory, 0 messages" in run("forget", "m1", "--keep-archive", "--yes")
    assert "quagga" in run("show", "a1")


def test_json_is_printed_alike_with_letters_as_they_are(run, paths):
    with Store.open(paths.store) as store, store.transaction():
        source = store.progress.begin_source("/Büro/s1.jsonl")
        message = Message("u1", "s1", Role.USER, "The vault code is quagga-7731.", 1.0, os.getcwd(), 0)
        store.archive.append(message, scope=scope_of(os.getcwd()), source_id=source.id)
    assert '  "transcripts": [\n    "/Büro/s1.jsonl"\n  ]' in run("forget", "a1", "--yes", "--json")


# -- as a process ------------------------------------------------------------------------------------------------------


def hippo_process(*arguments, folder, text=None, program=("-m", "hippo_core.cli.main")):
    return subprocess.run(
        [sys.executable, *program, *arguments], cwd=folder, input=text, capture_output=True,
        text=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=120,
    )  # fmt: skip


def test_an_error_is_one_line_and_a_code(tmp_path, paths):
    missing = hippo_process("list", folder=tmp_path)
    assert (missing.returncode, missing.stdout, missing.stderr.count("\n")) == (1, "", 1)
    hippo_process("remember", "--no-embed", "kept", folder=tmp_path)
    whole = paths.store.read_bytes()
    paths.store.write_bytes(b"no database " * 500)
    for command in (("remember", "x", "--no-embed"), ("list",), ("show", "m1"), ("forget", "m1", "--yes"), ("status",)):
        done = hippo_process(*command, folder=tmp_path)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "damaged" in done.stderr, command
    assert paths.store.read_bytes() == b"no database " * 500
    paths.store.write_bytes(whole)
    assert "kept" in hippo_process("list", folder=tmp_path).stdout


def test_without_a_terminal_nothing_is_taken_away_unasked_and_the_way_out_is_said(tmp_path):
    hippo_process("rules", "add", "quagga", "--always", folder=tmp_path)
    for command in (("forget", "m1"), ("rules", "remove", "m1")):
        done = hippo_process(*command, folder=tmp_path, text="y\n")
        assert done.returncode == 2 and "repeat with --yes" in done.stderr and "quagga" in done.stdout
    assert "quagga" in hippo_process("rules", "list", folder=tmp_path).stdout


@pytest.mark.parametrize("arguments, words", [
    (["nonsense"], "No such command 'nonsense'. See: hippo --help"),
    (["recal", "redis"], "No such command 'recal'. Did you mean: hippo recall? See: hippo --help"),
    (["rules", "lst"], "No such command 'lst'. Did you mean: hippo rules list? See: hippo rules --help"),
    (
        ["rules", "git"],
        "No such command 'git'. To read the rules of a domain: hippo rules show git. See: hippo rules --help",
    ),
    (["snapshot", "nothing"], "No such command 'nothing'. See: hippo snapshot --help"),
    (["recall", "--nonsense"], "See: hippo recall --help"),
    (["show"], "Missing argument 'ID'. For example: hippo show m41c (more: hippo show --help)"),
    (["rules", "add"], "Missing argument 'TEXT'. For example: hippo rules add \""),
    (["rules", "add", "x"], "--domain git"),
    (["list", "nonsense"], "'nonsense' is not one of 'rule', 'architecture', 'decision'"),
    (["show", "x"], "(see: hippo list)"),
    (["list", "-n", "many"], "See: hippo list --help"),
    (["remember", "--project", "nowhere", "x"], "does not exist"),
    (["rules", "add", "--always", "--project", "nowhere", "x"], "does not exist"),
])  # fmt: skip
def test_arguments_that_are_wrong_are_one_line(tmp_path, arguments, words):
    done = hippo_process(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and words in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the current folder of a process from being deleted")
def test_in_a_folder_that_was_deleted_everything_is_searched(tmp_path):
    hippo_process("remember", "--no-embed", "--global", "quagga", folder=tmp_path)
    hippo_process("rules", "add", "Never shave a quagga.", "--always", folder=tmp_path)

    def in_no_folder(*command):
        (tmp_path / "gone").mkdir()
        start = f"import os, runpy, sys; os.rmdir(os.getcwd()); sys.argv = {['hippo', *command]!r}; "
        start += 'runpy.run_module("hippo_core.cli.main", run_name="__main__")'
        return hippo_process(folder=tmp_path / "gone", program=("-c", start))

    for command in (("list",), ("recall", "quagga"), ("rules", "show"), ("status",)):
        done = in_no_folder(*command)
        assert done.returncode == 0 and (command == ("status",) or "quagga" in done.stdout), done.stderr
    done = in_no_folder("remember", "--no-embed", "a thing of this project")
    assert done.returncode == 2 and "--global" in done.stderr and done.stderr.count("\n") == 1
