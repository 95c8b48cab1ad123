"""A literal spelling is found among others that a stemmer or a splitter takes for the same."""

from unicodedata import normalize

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippo_core.model.memory import Draft
from hippo_core.model.message import Message, Role
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE
from hippo_core.model.types import Author, MemoryType
from hippo_core.recall.archive import search_archive
from hippo_core.recall.channels import holding
from hippo_core.recall.pipeline import recall
from hippo_core.recall.query import read_query
from hippo_core.recall.spelling import spelled
from hippo_core.store.words import last_parts, letters, match_expression


def nfd(text):
    return normalize("NFD", text)


# (what is asked, how it stands in the text, what must not be taken for it)
SHAPES = [
    # files
    ("brain.py", "brain.py", "brain py"), ("main.py", "src/app/main.py", "main py"), (".env", ".env", "env"),
    ("docker-compose.yml", "docker-compose.yml", "docker compose yml"), ("Cargo.lock", "Cargo.lock", "cargo lock"),
    ("test_orders.py", "tests/test_orders.py", "test orders py"), ("tsconfig.base.json", "tsconfig.base.json", "base"),
    (".github/workflows/ci.yml", ".github/workflows/ci.yml", "github workflows ci yml"),
    ("a.b.c.py", "a.b.c.py", "a b c py"), ("README.md", "README.md", "readme of md"), ("x.h", "x.h", "x h"),
    # paths and parts of paths
    ("src/app/main.py", "src/app/main.py", "src app main py"), ("app/main.py", "src/app/main.py", "app main py"),
    ("/etc/nginx/nginx.conf", "/etc/nginx/nginx.conf", "etc nginx conf"), ("~/.ssh/config", "~/.ssh/config", "ssh"),
    ("nginx/nginx.conf", "/etc/nginx/nginx.conf", "nginx of nginx conf"), ("./run.sh", "./run.sh", "run sh"),
    ("src/app", "src/app/main.py", "src of the app"), ("../lib/util.ts", "../lib/util.ts", "lib util ts"),
    (r"C:\Users\me\notes.txt", r"C:\Users\me\notes.txt", "C Users me notes txt"),
    (r"me\notes.txt", r"C:\Users\me\notes.txt", "me notes txt"), ("a/b", "a/b", "a b"),
    ("2026-11-07.log", "2026-11-07.log", "2026 11 07 log"), ("--flag", "--flag=value", "flag value"),
    ("main.py:42", "src/main.py:42", "main py 42"), ("%APPDATA%", "%APPDATA%", "appdata"),
    # flags
    ("--force", "--force", "--force-with-lease"), ("--no-verify", "--no-verify", "no verify"), ("-v", "-v", "v"),
    ("--max-old-space-size=4096", "--max-old-space-size=4096", "max old space size 4096"),
    ("--dry-run", "--dry-run", "a dry run"), ("-Wall", "-Wall", "the wall"),
    # error codes
    ("E4012", "E4012", "E 4012"), ("ORA-00942", "ORA-00942", "ORA 00942"), ("ENOENT", "ENOENT", "no such entry"),
    ("error[E0308]", "error[E0308]", "error E0308 x"), ("0x80070005", "0x80070005", "80070005"),
    ("SIGKILL", "SIGKILL", "sig kill"), ("HTTP/1.1", "HTTP/1.1", "HTTP 1 1"), ("TS2345", "TS2345:", "TS 2345"),
    ("ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_REFUSED", "err connection refused"), ("500", "500", "5000"),
    # versions
    ("v1.0.21", "v1.0.21", "v1.0.210"), ("1.0.2", "1.0.2", "1.0.21"), ("3.11", "3.11", "3.11.4"),
    ("2.0.0-rc.1", "2.0.0-rc.1", "2.0.0 rc 1"), ("^18.2.0", "^18.2.0", "18 2 0"), ("node@20", "node@20", "node 20"),
    ("1.2.3", "v1.2.3", "1 2 3"), ("1.2.3-rc.1", "v1.2.3-rc.1", "v1.2.3-rc.10"), ("v1.2.3", "v1.2.3", "v1.2.3-rc.1"),
    ("0.0.1", "0.0.1", "10.0.0.1"),
    # hashes
    ("3f2a9c1", "3f2a9c1", "3f2a9d1"), ("3f2a9c1", "3f2a9c1e8b7d6f5a4c3b2a190807f6e5d4c3b2a1", "f2a9c1"),
    ("3f2a9c1e8b7d6f5a4c3b2a19", "3f2a9c1e8b7d6f5a4c3b2a190807f6e5d4c3b2a1", "f2a9c1e8b7d6f5a4c3b2a19"),
    ("sha256:9f86d081884c", "sha256:9f86d081884c", "sha256 9f86d081884c x"),
    ("550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000", "550e8400 e29b 41d4"),
    # environment variables, identifiers
    ("MAX_RETRIES", "MAX_RETRIES", "max retries"), ("$HOME", "$HOME", "home"),
    ("NODE_ENV", "NODE_ENV=test", "node env"),
    ("getUserName", "getUserName()", "get user name"), ("user_id", "user_id", "user id"),
    ("__init__", "__init__", "init"),
    ("foo::bar<T>", "foo::bar<T>", "foo bar T"), ("$ENV_VAR", "$ENV_VAR", "env var"),
    ("std::vector", "std::vector", "std vector"), ("foo.bar.baz", "foo.bar.baz()", "foo bar baz"),
    ("c++", "C++", "C#"), ("C#", "C#", "C++"), ("@types/node", "@types/node", "types node"), ("I/O", "I/O", "I O"),
    ("array[0]", "array[0]", "array 0"), ("obj->next", "obj->next", "obj next"), ("#fff000", "#fff000", "fff000x"),
    # phrases
    ('"token bucket"', "token bucket", "bucket of every token"), ('"to be or not"', "to be or not", "not to be"),
    ('"last week"', "last week", "weeks at last"),
    ("`git push -f`", "git push -f", "push git f"), ("“leaky bucket”", "leaky bucket", "a bucket is leaky"),
    # addresses, tickets, other scripts
    ("https://example.com/a?b=1", "https://example.com/a?b=1", "https example com a b 1"),
    ("example.com/docs", "https://example.com/docs/intro", "example com docs"), ("10.0.0.1", "10.0.0.1", "10 0 0 1"),
    ("localhost:8080", "localhost:8080", "localhost 8080"), ("ops@example.org", "ops@example.org", "ops example org"),
    ("#1234", "#1234", "1234"), ("GH-77", "GH-77", "GH 77"), ("PROJ-142", "PROJ-142", "PROJ-1425"),
    ("部署脚本", "部署脚本", "脚本部署"), ("設定.json", "設定.json", "設定 json"), ("「配置」", "配置", "置配"),
    ("设计.md", "docs/设计.md", "设计 md"),
    ("데이터베이스", "데이터베이스를", "데이터"), ("größe_max", "größe_max", "groesse max"),
    # accents as signs of their own, as in the file names of macOS, where they are asked for or where they stand
    ("Prüfung.py", nfd("src/Prüfung.py"), "prufung py"), (nfd("Prüfung.py"), "src/Prüfung.py", "prufung py"),
    (nfd("größe_max"), nfd("größe_max"), "groesse max"),
]  # fmt: skip
FRAMES = ("The build stops unless {} is there.", "We looked at ({}), and it was fine", "Then: {}")
NOISE = (
    "Lunch is at noon and the wall is white", "A dry run of the vector index", "Types of nodes and users",
    "Configuration of the home network", "The bucket list of the team",
)  # fmt: skip


@pytest.fixture
def memories(store):
    def fill(texts):
        with store.transaction():
            store.memories.ensure_scope(GLOBAL_SCOPE)
            return [store.memories.add(Draft(t, MemoryType.FACT, GLOBAL, Author.MACHINE), "t").id for t in texts]

    return fill


@pytest.fixture
def archived(store):
    def fill(texts):
        """Each text a session."""
        with store.transaction():
            source = store.progress.begin_source("/t.jsonl")
            for number, text in enumerate(texts):
                message = Message(f"u{number}", f"s{number}", Role.USER, text, 1.0, "/srv", number)
                store.archive.append(message, scope=GLOBAL_SCOPE, source_id=source.id)

    return fill


def forms(asked):
    """With and without quotes, alone and in a question; what is quoted already stays so."""
    plain = asked.strip('"`“”')
    quoted = [f'"{plain}"', f"`{plain}`", f"what about “{plain}”?", f"«{plain}»"] if "`" not in plain else []
    return [asked, f"what about {asked}?", *quoted]


@pytest.mark.parametrize("asked, written, mistaken", SHAPES, ids=[f"{a} in {w}" for a, w, _ in SHAPES])
def test_a_spelling_is_found_before_what_looks_like_it(store, memories, asked, written, mistaken):
    wrong, right, *_ = memories(
        [FRAMES[0].format(mistaken), FRAMES[0].format(written), *(FRAMES[1].format(mistaken) for _ in range(3)), *NOISE]
    )
    for query in forms(asked):
        found = recall(store, query, embedder=None, scopes=None, k=10)
        assert found.results and found.results[0].memory.id == right, query


@pytest.mark.parametrize("frame", FRAMES)
def test_punctuation_around_a_name_does_not_hide_it(store, memories, frame):
    names = ["src/app/main.py", "--force", "v1.0.21", "MAX_RETRIES", "E4012", ".env", "localhost:8080"]
    numbers = memories([frame.format(name) + "." for name in names] + list(NOISE))
    for name, number in zip(names, numbers, strict=False):
        assert recall(store, name, embedder=None, scopes=None).results[0].memory.id == number


@pytest.mark.parametrize("asked, written, mistaken", SHAPES, ids=[f"{a} in {w}" for a, w, _ in SHAPES])
def test_the_archive_finds_a_spelling(store, archived, asked, written, mistaken):
    by_words = FRAMES[2].format(f"{mistaken}, {mistaken}")  # shorter and fuller of the words, so before it by these
    texts = [by_words, FRAMES[1].format(written), *NOISE]
    archived(texts)
    for query in forms(asked):
        hits = search_archive(store, query, scopes=None, k=5)
        found = [hit.message.text for hit in getattr(hits, "hits", hits)]
        assert found[:1] == [texts[1]], query


@pytest.mark.parametrize("query", ["--force", '"--force"', "what about --force?"])
def test_a_name_is_found_among_very_many_that_hold_but_its_words(store, memories, archived, query):
    texts = [*(f"Force it, {n}" for n in range(500)), "Long ago somebody said to push with --force, and nobody did"]
    number = memories(texts)[-1]
    archived(texts)
    assert recall(store, query, embedder=None, scopes=None).results[0].memory.id == number
    assert search_archive(store, query, scopes=None).hits[0].message.text == texts[-1]


def test_of_a_very_long_name_the_end_is_looked_for_and_the_whole_compared(store, memories, archived):
    """What a phrase costs is what all its words cost; and paths often begin alike."""
    name = "/".join(f"part{n}" for n in range(40))
    texts = [f"See x{name}, x{name}", f"We looked at {name}, and it was fine"]
    number = memories(texts)[-1]
    archived(texts)
    for query in forms(name):
        assert recall(store, query, embedder=None, scopes=None).results[0].memory.id == number
        assert search_archive(store, query, scopes=None).hits[0].message.text == texts[1]
    assert match_expression([name], None).count("part") == match_expression(["字" * 40], None).count("字字") == 6
    assert '"part34/part35/part36/part37/part38/part39"' in match_expression([name], None)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_long_name_is_cut_between_words_however_its_accents_are_written(store, archived, form):
    """Half a word is in no index."""
    name = normalize(form, "prüfung-der-änderung-für-große-pässe-und-für-anträge")
    archived([f"Siehe {name} und mehr"])
    words = last_parts(name, 3)
    assert words == normalize(form, "und-für-anträge")
    for end in (name, words):
        assert store.message_words.with_words(end, scopes=None, since=0) == [1]


def test_a_long_version_costs_no_more_than_another_name(store, memories):
    name = ".".join(["1"] * 40)
    number = memories([f"See {name}", "See 1.1.1"])[0]
    assert match_expression([name], None).count("1") == 6
    assert recall(store, name, embedder=None, scopes=None).results[0].memory.id == number


def test_a_part_of_a_path_is_looked_for_by_itself_beside_words_that_very_many_hold(store, memories):
    memories(["See src/app/main.py", *["alpha beta gamma delta epsilon"] * 60, *["nothing of that"] * 200])
    found = recall(store, "alpha beta gamma delta epsilon app/main.py", embedder=None, scopes=None)
    assert found.searched["exact"] == 1


@pytest.mark.parametrize(
    "query, holders",
    [("API", {1, 2}), ("rate-limit", {1, 2}), ("brain.py", {1}), ("brain:py", {1, 2}), ("x.py", set())],
)
def test_where_anything_holds_a_name_as_it_is_spelled_its_words_alone_do_not_hold_it(store, memories, query, holders):
    """What stands in many forms, a product's name or a compound, is held in all of them."""
    texts = ["The API of brain.py has a rate-limit", "APIs of a brain (py) have rate limits"]
    memories(texts)
    assert holding(store, read_query(query), dict(enumerate(texts, 1)))[0][1] == holders


def test_without_its_accents_a_name_is_found_by_the_exact_index(store, memories):
    memories(["See cafe.py", *NOISE])
    assert recall(store, "café.py", embedder=None, scopes=None).searched["exact"] == 1


@pytest.mark.parametrize(
    "question, words",
    [
        ("how do we handle rate limiting for partners", {"rate", "limiting", "partners", "handle"}),
        ("Why did we drop redis for the sessions?", {"drop", "redis", "sessions"}),
        ("It's the user's choice, isn't it?", {"user's", "choice"}),
    ],
)
def test_plain_language_asks_the_exact_index_nothing(question, words):
    asked = read_query(question)
    assert asked.literals == () and words <= set(asked.words)


def test_plain_language_ranks_as_if_there_were_no_exact_index(store, memories):
    """Its answer does not depend on how often a name happens to be spelled out."""
    right, *_ = memories(["Partners send bursts, so rate limiting uses a bucket", *["see rate_limit.py"] * 5, *NOISE])
    found = recall(store, "how do we limit the rate of partners", embedder=None, scopes=None)
    assert found.results[0].memory.id == right and "exact" not in found.searched
    with store.transaction():
        store._db.execute("INSERT INTO memory_exact(memory_exact) VALUES ('delete-all')")
    without = recall(store, "how do we limit the rate of partners", embedder=None, scopes=None)
    assert [result.memory.id for result in without.results] == [result.memory.id for result in found.results]


@pytest.mark.parametrize(
    "literal, text, held",
    [
        ("main.py", "see domain.py", False), ("main.py", "(main.py)", True), ("main.py", "a/b/main.py", True),
        ("--force", "--force-with-lease", False), ("1.0.2", "1.0.21", False), ("1.0.2", "1.0.2.", True),
        ("token bucket", "a Token\nBucket", True), ("3f2a9c1", "3f2a9c1e8b7d6f5", True), ("C#", "C++", False),
        ("配置", "新配置文件", True), ("foo", "foo_bar", False), ("-v", "--v", False), ("-v", "run-v", False),
    ],
)  # fmt: skip
def test_when_a_text_holds_a_spelling(literal, text, held):
    assert bool(spelled([literal], text)) is held


# Signs that are special to LIKE, letters with and without a case, in ASCII and beyond, and what stands between words.
WRITTEN = st.text(alphabet="aA-_%\\.$ \n\t0vßÄäé\u0308字ı", min_size=1, max_size=12)


@given(name=WRITTEN.filter(str.strip), around=st.tuples(WRITTEN, WRITTEN), upper=st.booleans())
def test_what_sqlite_passes_over_holds_no_name(name, around, upper):
    """A text that holds a name meets its pattern; to be compared with the name it has to."""
    text = around[0] + (name.upper() if upper and name.upper().casefold() == name.casefold() else name) + around[1]
    if len(name.upper()) == len(name) and spelled([name], text):
        found = apsw.Connection("").execute("SELECT ? LIKE ? ESCAPE char(92)", (text, letters(name))).get
        assert found


def test_a_name_is_compared_without_regard_to_spacing():
    assert spelled(["token  bucket", "no such", "Größe x"], "a Token\n  bucket of GRÖSSE X") == 2
