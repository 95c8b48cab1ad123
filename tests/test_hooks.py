"""Hooks as the client runs them: what they print, to whom, and that nothing whatever makes them fail a turn."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hook_process import HOOKS, ROOT, SESSION, context, event

from hippo_core.model.memory import Draft
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.render.refresh import refresh

SPEAKING = ["session_rules", "session_memory", "user_prompt", "subagent_start"]
RULE = "Never commit a secret."
DECISION = 'Payments go through the "ledger" service.\nRefunds must be exact \\ to the cent; 部署.'
DAMAGED = [  # %b stands for the right event
    b"",
    b"plain text that the client would show the model",
    b'{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}\n',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"cut',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"two","continue":"false"}}\n',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"bad \xff byte"}}\n',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"bad \\x escape"}}\n',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"raw \n break"}}\n',
    b'{"hookSpecificOutput":{"hookEventName":"%b","additionalContext":"open \\"}}\n',
]
BAD_EVENTS = [
    b"",
    b"not json at all",
    b"[1, 2]",
    b'{"session_id":"abc","prompt":"unfin',
    b'{"prompt":"\xff\xfe git"}',
    b'{"prompt":"\\ud800 git \\ud8"}',
    b'{"session_id":{"a":[]},"prompt":17,"tool_name":["x"],"hook_event_name":"PreToolUse"}',
    b"[" * 200_000,
    b'{"prompt":"' + b'a\\"b\\\\ git\\n' * 900_000 + b'"}',
    b"\0" * 1000,
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a remote and a sub-folder."""
    git = tmp_path / "shop" / ".git"
    git.mkdir(parents=True)
    git.joinpath("config").write_text('[remote "origin"]\n\turl = git@example.org:acme/shop.git\n', encoding="utf-8")
    (tmp_path / "shop" / "src").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def remembering(store, paths, project):
    """A data folder with a standing rule, three rules of domains and one memory of the project."""
    scope = scope_of(str(project))
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        store.memories.ensure_scope(scope)
        add(store, RULE, always=True)
        for domain in ("git", "sql", "部署", "naïve"):
            add(store, f"Mind the {domain}.", domain=domain)
        store.memories.add(Draft(DECISION, MemoryType.DECISION, scope.key, Author.HUMAN), "test")
    refresh(store, paths)
    return paths


def add(store, text: str, **place: object) -> None:
    store.memories.add(Draft(text, MemoryType.RULE, GLOBAL, Author.HUMAN, **place), "test")


def prompt(text: str, **fields: object) -> bytes:
    return event("user_prompt", prompt=text, **fields)


# -- what each says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_rules_come_again_after_a_compaction(hooks, remembering, source):
    assert RULE in hooks.said("session_rules", remembering.home, event("session_rules", source=source))


def test_a_session_is_told_what_memory_exists_in_its_project(hooks, remembering, project):
    for folder in (project, project / "src"):
        text = hooks.said("session_memory", remembering.home, cwd=folder)
        assert '"ledger" service. Refunds must be exact \\ to the cent; 部署.' in text
        assert text.startswith('<hippo-memory project="shop">')


def test_the_project_is_that_of_the_session_not_of_a_folder_it_went_to(hooks, remembering, project, tmp_path):
    done = hooks.run("session_memory", remembering.home, cwd=tmp_path, CLAUDE_PROJECT_DIR=str(project))
    assert "ledger" in context(done.stdout)


def test_a_worktree_shares_its_repository_s_memory(hooks, remembering, project, tmp_path):
    worktree, git_folder = tmp_path / "elsewhere", project / ".git" / "worktrees" / "x"
    git_folder.mkdir(parents=True)
    git_folder.joinpath("commondir").write_text("../..\n", encoding="utf-8")
    worktree.mkdir()
    worktree.joinpath(".git").write_text(f"gitdir: {git_folder}\n", encoding="utf-8")
    assert "ledger" in hooks.said("session_memory", remembering.home, cwd=worktree)


def test_another_project_of_the_same_name_is_told_nothing_of_it(hooks, remembering, tmp_path):
    namesake = tmp_path / "other" / "shop"
    namesake.mkdir(parents=True)
    for hook in ("session_memory", "subagent_start"):
        text = hooks.said(hook, remembering.home, cwd=namesake)
        assert "ledger" not in text and "memory_search" in text


def test_the_home_folder_is_no_project(hooks, remembering, isolated):
    assert "ledger" not in hooks.said("session_memory", remembering.home, cwd=isolated)


def test_a_sub_agent_is_told_of_the_tool_the_command_and_the_foremost_memory(hooks, remembering, project):
    text = hooks.said("subagent_start", remembering.home, cwd=project)
    assert "memory_search" in text and "hippo recall" in text.replace("hippo.exe", "hippo") and "ledger" in text


def test_every_turn_is_nudged(hooks, remembering):
    for _ in range(2):
        assert "memory_search" in hooks.said("user_prompt", remembering.home, prompt("hello"))


def test_what_the_client_submits_by_itself_is_not_nudged(hooks, remembering):
    note = prompt("<task-notification>\n<task-id>a</task-id> git\n</task-notification>")
    assert hooks.run("user_prompt", remembering.home, note).stdout == b""
    pretty = json.dumps({"session_id": SESSION, "prompt": "<task-notification> done"}, indent=1).encode()
    assert hooks.run("user_prompt", remembering.home, pretty).stdout == b""


def test_a_prompt_that_only_speaks_of_such_a_notification_is_nudged(hooks, remembering):
    for text in ("what is <task-notification>?", '{"prompt":"<task-notification>"}'):
        assert hooks.said("user_prompt", remembering.home, prompt(text))


# -- reflexes ----------------------------------------------------------------------------------------------------------


def reflexes(done: subprocess.CompletedProcess) -> set[str]:
    text = context(done.stdout)
    return {domain for domain in ("git", "sql", "部署", "naïve") if f'rules for "{domain}" exist (1)' in text}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("please git push", {"git"}),
        ("GIT", {"git"}),
        ("first line\ngit status\t", {"git"}),
        ('a "git" question about C:\\git', {"git"}),
        ("git, then sql; 请部署服务", {"git", "sql", "部署"}),
        ("a naïve approach, naïvely", {"naïve"}),
        ("推送git吗", {"git"}),
        ("digit, github, git_flow, legit, gitgit", set()),
        ("hello", set()),
        ("", set()),
    ],
)
def test_a_reflex_names_the_rules_of_the_words_in_the_prompt(hooks, remembering, text, named):
    assert reflexes(hooks.run("user_prompt", remembering.home, prompt(text))) == named


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        ("may I run docker system prune -af?", True),
        ("why is Deploy/Prod.yml so long", True),
        ("I'd use --no-cache here", True),
        ("no cache, no system, no prune, prod.yml", False),
        ("what is PostgreSQL", False),
    ],
)
def test_what_a_rule_spells_as_it_stands_is_a_reflex_of_its_domain(hooks, remembering, store, text, touched):
    with store.transaction():
        add(store, "Never run `docker system prune` where PostgreSQL runs.", domain="containers")
        add(store, "Build deploy/Prod.yml with --no-cache.", domain="containers")
    refresh(store, remembering)
    told = [hooks.said("user_prompt", remembering.home, prompt(asked)) for asked in (text, f"{text} containers")]
    assert [said.count('rules for "containers" exist (2)') for said in told] == ([1, 0] if touched else [0, 1])


def test_a_reflex_speaks_once_in_a_session(hooks, remembering):
    turns = [reflexes(hooks.run("user_prompt", remembering.home, prompt(text))) for text in ("git", "git", "git sql")]
    assert turns == [{"git"}, set(), {"sql"}]
    other = prompt("git", session_id="another-session")
    assert reflexes(hooks.run("user_prompt", remembering.home, other)) == {"git"}


def test_a_reflex_speaks_again_once_a_compaction_took_it_out_of_sight(hooks, remembering):
    for _ in range(2):
        assert reflexes(hooks.run("user_prompt", remembering.home, prompt("git"))) == {"git"}
        hooks.run("session_rules", remembering.home, event("session_rules", source="compact"))


@pytest.mark.skipif(os.name != "posix", reason="files have no mode there")
def test_what_hooks_note_is_for_its_user_alone_whatever_the_client_s_umask(hooks, remembering):
    before = os.umask(0o022)
    try:
        hooks.run("user_prompt", remembering.home, prompt("git"))
        hooks.run("stop", remembering.home)
    finally:
        os.umask(before)
    noted = [remembering.run / "reflexes" / SESSION, remembering.run / "stop"]
    assert [stat.S_IMODE(file.stat().st_mode) for file in noted] == [0o600, 0o600]


def test_at_most_three_reflexes_in_a_turn_and_the_rest_in_the_next(hooks, remembering, store):
    with store.transaction():
        for domain in ("docker", "npm"):
            add(store, f"Mind {domain}.", domain=domain)
    refresh(store, remembering)
    text = prompt("git sql docker npm 部署")
    counts = [hooks.said("user_prompt", remembering.home, text).count("The prompt touches") for _ in range(3)]
    assert counts == [3, 2, 0]


@pytest.mark.parametrize("session", ["../../evil", "a/b", "", "x" * 65, "a b", "sess\\u0000"])
def test_a_session_id_that_is_no_id_names_no_file(hooks, remembering, session):
    done = hooks.run("user_prompt", remembering.home, prompt("git", session_id=session))
    assert reflexes(done) == set() and "memory_search" in context(done.stdout)
    assert not (remembering.run / "reflexes").exists()


def test_where_a_reflex_cannot_be_noted_it_does_not_come_every_turn(hooks, remembering):
    remembering.run.mkdir(exist_ok=True)
    remembering.run.joinpath("reflexes").write_bytes(b"a file in the folder's place")
    done = hooks.run("user_prompt", remembering.home, prompt("git"))
    assert reflexes(done) == set() and "memory_search" in context(done.stdout)


# -- the permission ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["memory_search", "archive_search", "rules"])
def test_our_read_only_tools_are_allowed(hooks, remembering, tool):
    asked = event("allow_own_tools", tool_name=f"mcp__plugin_hippo_memory__{tool}", tool_input={"query": "x"})
    output = json.loads(hooks.run("allow_own_tools", remembering.home, asked).stdout)["hookSpecificOutput"]
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "allow")


def test_a_plugin_that_is_not_set_up_allows_nothing(hooks):
    asked = event("allow_own_tools", tool_name="mcp__plugin_hippo_memory__rules")
    assert hooks.run("allow_own_tools", None, asked).stdout == b""


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "mcp__plugin_hippo_memory__memory_add"},
        {"tool_name": "mcp__plugin_hippo_memory__rules2"},
        {"tool_name": "x-mcp__plugin_hippo_memory__rules"},
        {"tool_name": "mcp__plugin_hippo_memory__rules\n"},
        {"tool_name": "mcp__plugin_other_memory__rules"},
        {"tool_input": {"tool_name": "mcp__plugin_hippo_memory__rules"}, "tool_name": "Bash"},
        {"tool_input": {"tool_name": "mcp__plugin_hippo_memory__rules"}},
        {"tool_name": ["mcp__plugin_hippo_memory__rules"]},
        {"tool_name": "mcp__plugin_hippo_memory__rules", "hook_event_name": "PostToolUse"},
    ],
)
def test_nothing_else_is_allowed(hooks, remembering, fields):
    assert hooks.run("allow_own_tools", remembering.home, event("allow_own_tools", **fields)).stdout == b""


# -- not set up --------------------------------------------------------------------------------------------------------


def test_a_plugin_that_is_not_set_up_says_one_line_at_session_start_and_nothing_else(hooks):
    outputs = {hook: hooks.run(hook, None).stdout for hook in HOOKS}
    line = json.loads(outputs.pop("session_rules"))
    assert set(line) == {"systemMessage"} and str(ROOT / "install.py") in line["systemMessage"]
    assert set(outputs.values()) == {b""}


def test_a_deleted_store_is_said_once_and_what_was_rendered_from_it_is_not_shown(hooks, remembering):
    remembering.store.unlink()
    outputs = {hook: hooks.run(hook, remembering.home).stdout for hook in HOOKS}
    assert str(remembering.home) in json.loads(outputs.pop("session_rules"))["systemMessage"]
    assert set(outputs.values()) == {b""}
    assert not (remembering.run / "stop").exists(), "a catch-up would have made the store anew"


# -- whatever is wrong -------------------------------------------------------------------------------------------------


def assert_silent_or_valid(done: subprocess.CompletedProcess, hook: str) -> None:
    if done.stdout:
        output = json.loads(done.stdout.decode("utf-8"))
        assert output.get("systemMessage") or output["hookSpecificOutput"]["hookEventName"] == HOOKS[hook]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_bad_event_fails_no_hook(hooks, remembering, hook):
    for bad in BAD_EVENTS:
        assert_silent_or_valid(hooks.run(hook, remembering.home, bad), hook)


@pytest.mark.parametrize("hook", SPEAKING)
def test_a_damaged_render_is_not_shown(hooks, remembering, hook):
    files = [file for file in remembering.render.rglob("*") if file.is_file()]
    for damaged in DAMAGED:
        document = damaged.replace(b"%b", HOOKS[hook].encode())
        for file in files:
            file.write_bytes(b"git\t" + document if file.suffix == ".tsv" else document)
        assert hooks.run(hook, remembering.home, event(hook, prompt="git")).stdout == b"", damaged


@pytest.mark.parametrize("hook", HOOKS)
def test_whatever_the_data_folder_is_the_turn_goes_on(hooks, remembering, hook, tmp_path):
    a_file = tmp_path / "file"
    a_file.write_bytes(b"x")
    for data in (tmp_path / "missing", a_file, Path("relative/nowhere"), tmp_path / "n\nl" / ("x" * 300)):
        assert_silent_or_valid(hooks.run(hook, data), hook)
    shutil.rmtree(remembering.render)
    assert hooks.run(hook, remembering.home).stdout == b""
    remembering.store.write_bytes(b"no database at all" * 100)
    assert hooks.run(hook, remembering.home).stdout == b""
    for name in ("rules.json", "nudge.json", "reflexes.tsv", "project/default.json", "agent/default.json"):
        (remembering.render / name).mkdir(parents=True)
    assert hooks.run(hook, remembering.home).stdout == b""


@pytest.mark.parametrize("hook", SPEAKING)
def test_a_locked_store_keeps_no_hook_waiting(hooks, remembering, store, hook, project):
    with store.transaction():
        assert hooks.said(hook, remembering.home, cwd=project)


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
@pytest.mark.parametrize("hook", ["session_memory", "subagent_start"])
def test_a_session_in_a_folder_that_is_gone_is_told_what_holds_everywhere(hooks, remembering, hook, tmp_path):
    gone = tmp_path / "gone"
    script = f"import os, sys; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    script += "os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", script, *hooks.command(hook, remembering.home)]
    done = subprocess.run(command, input=event(hook), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "memory_search" in context(done.stdout)


@pytest.mark.skipif(os.name == "nt", reason="closes descriptors as POSIX does")
@pytest.mark.parametrize("hook", HOOKS)
def test_closed_streams_fail_no_hook(hooks, remembering, hook):
    for descriptors in [(0,), (1,), (0, 1), (0, 1, 2)]:
        closing = f"import os, sys; [os.close(n) for n in {descriptors}]; os.execv(sys.argv[1], sys.argv[1:])"
        command = [sys.executable, "-c", closing, *hooks.command(hook, remembering.home)]
        done = subprocess.run(command, input=b"", capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("hook", SPEAKING)
def test_a_reader_that_left_or_a_full_disk_fails_no_hook(hooks, remembering, hook):
    reader, writer = os.pipe()
    os.close(reader)
    targets = [writer] + ([os.open("/dev/full", os.O_WRONLY)] if os.path.exists("/dev/full") else [])
    for target in targets:
        command = hooks.command(hook, remembering.home)
        done = subprocess.run(command, input=event(hook), stdout=target, stderr=subprocess.PIPE)
        os.close(target)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("hook", HOOKS)
def test_a_child_of_ours_triggers_no_hook(hooks, remembering, hook):
    asked = event(hook, prompt="git", tool_name="mcp__plugin_hippo_memory__rules")
    assert hooks.run(hook, remembering.home, asked, HIPPO_CHILD="1").stdout == b""
    assert hooks.run(hook, None, asked, HIPPO_CHILD="1").stdout == b""
    assert not remembering.run.exists() or not list(remembering.run.iterdir())
