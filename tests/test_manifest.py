"""The plugin's files as the client reads them: hooks that every client knows, commands that run no user text."""

import ast
import inspect
import json
import re
import subprocess
import sys

import pytest
from hook_process import HOOKS, ROOT

from hippo_core import __version__
from hippo_core.ops.stage import stage_plugin

# What clients of 2025 know; one of them rejects the whole file for a single event that it does not.
OLD_EVENTS = {
    "PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
    "SubagentStart", "SubagentStop", "PreCompact",
}  # fmt: skip
COMMANDS = ["forget", "memories", "recall", "remember", "rules"]
TEXTS = [*(f"commands/{name}.md" for name in COMMANDS), "skills/recall/SKILL.md", "skills/rules/SKILL.md"]


def read(name: str) -> dict:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def entries(manifest: dict) -> list[tuple[str, str | None, dict]]:
    """(event, matcher, hook) of every hook."""
    return [
        (event, group.get("matcher"), hook)
        for event, groups in manifest["hooks"].items()
        for group in groups
        for hook in group["hooks"]
    ]


HOOK_ENTRIES = [entry for entry in entries(read("hooks/hooks.json")) if entry[2]["type"] == "command"]
TOOL_ENTRIES = [entry for entry in entries(read("hooks/hooks.json")) if entry[2]["type"] == "mcp_tool"]


@pytest.fixture
def staged(paths):
    """The plugin as install.py stages it."""
    stage_plugin(ROOT, paths, sys.executable)
    return paths.plugin


# -- manifests ---------------------------------------------------------------------------------------------------------


def test_both_manifests_are_one_and_every_version_agrees():
    assert (ROOT / "plugin.json").read_bytes() == (ROOT / ".claude-plugin" / "plugin.json").read_bytes()
    manifest = read("plugin.json")
    assert (manifest["name"], manifest["version"]) == ("hippo", __version__)


def test_the_marketplace_offers_this_folder():
    marketplace = read(".claude-plugin/marketplace.json")
    assert marketplace["name"] == "hippocampus"
    assert [(plugin["name"], plugin["source"]) for plugin in marketplace["plugins"]] == [("hippo", "./")]


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_every_script_is_run_on_the_event_it_is_written_for():
    scripts = {hook["args"][-1].removeprefix("${CLAUDE_PLUGIN_ROOT}/hooks/"): event for event, _, hook in HOOK_ENTRIES}
    assert scripts == {f"{name}.py": event for name, event in HOOKS.items()}
    assert set(scripts.values()) <= OLD_EVENTS
    assert all((ROOT / "hooks" / name).is_file() for name in scripts)


@pytest.mark.parametrize(("event", "matcher", "hook"), HOOK_ENTRIES)
def test_hooks_are_started_without_a_shell_in_a_bare_interpreter(event, matcher, hook):
    assert set(hook) == {"type", "command", "args", "timeout"}
    assert (hook["type"], hook["command"], hook["args"][:2]) == ("command", "python3", ["-I", "-S"])


@pytest.mark.parametrize(("event", "matcher", "hook"), HOOK_ENTRIES)
def test_timeouts_are_few_seconds(event, matcher, hook):
    assert isinstance(hook["timeout"], int)
    assert 1 <= hook["timeout"] <= (3 if event == "UserPromptSubmit" else 5)


@pytest.mark.parametrize(("event", "matcher", "hook"), TOOL_ENTRIES)
def test_hooks_that_ask_the_tool_server_name_it_as_the_client_does_and_wait_a_second_or_two(event, matcher, hook):
    from hippo_core.server import NAME, Tools

    assert hook["server"] == f"plugin:{read('plugin.json')['name']}:{NAME}"
    given = set(inspect.signature(getattr(Tools, hook["tool"])).parameters) - {"self"}
    assert set(hook["input"]) == given and hook["tool"].startswith("hook_")
    assert 1 <= hook["timeout"] <= 2


def test_the_tool_server_is_asked_for_prompts_and_for_sub_agents():
    asked = {(event, matcher, hook["tool"]) for event, matcher, hook in TOOL_ENTRIES}
    assert asked == {("UserPromptSubmit", None, "hook_prompt"), ("PreToolUse", "Agent|Task", "hook_agent")}


def test_a_session_s_start_is_met_however_it_starts():
    matchers = {matcher for event, matcher, _ in HOOK_ENTRIES if event == "SessionStart"}
    assert matchers == {"startup|resume|clear|compact|fork"}


def test_only_our_read_only_tools_meet_the_permission_hook():
    (matcher,) = [matcher for event, matcher, _ in HOOK_ENTRIES if event == "PreToolUse"]
    reached = {name for name in ("memory_search", "archive_search", "rules", "memory_add", "x", "") if
               re.fullmatch(matcher, f"mcp__plugin_hippo_memory__{name}")}  # fmt: skip
    assert reached == {"memory_search", "archive_search", "rules"}
    assert not re.fullmatch(matcher, "Bash") and not re.fullmatch(matcher, "mcp__memory__rules")


def test_hooks_import_only_what_a_bare_interpreter_has():
    for script in (ROOT / "hooks").glob("*.py"):
        imported = {
            name.split(".")[0]
            for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
        }
        assert imported <= {*sys.stdlib_module_names, "hippo_hook", "catch_up", "project", "awake"}, script.name


def test_the_guard_is_read_before_anything_of_ours_is_imported():
    for name in HOOKS:
        tree = ast.parse((ROOT / "hooks" / f"{name}.py").read_text(encoding="utf-8"))
        top = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
        assert top == {"os", "sys"}, "both are loaded already, or frozen into the interpreter"
        guarded = tree.body[-1]
        assert isinstance(guarded, ast.If) and "HIPPO_CHILD" in ast.unparse(guarded.test)


# -- the tool server ---------------------------------------------------------------------------------------------------


def test_the_stand_in_server_connects_and_offers_nothing():
    (server,) = read(".mcp.json")["mcpServers"].values()
    script = server["args"][-1].replace("${CLAUDE_PLUGIN_ROOT}", str(ROOT))
    requests = [
        {"jsonrpc": "2.0", "id": 0, "method": "server/discover"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "hook_prompt", "arguments": {}}},
    ]
    lines = [b"no json", b"[]", b"null", *(json.dumps(request).encode() for request in requests)]
    done = subprocess.run(
        [sys.executable, *server["args"][:-1], script], input=b"\n".join(lines), capture_output=True, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, b"")
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert set(replies) == {0, 1, 2, 3, 4}
    assert replies[0]["error"]["code"] == -32601
    assert replies[1]["result"]["protocolVersion"] == "2025-11-25"
    assert replies[2]["result"] == {"tools": []}
    assert replies[4]["result"] == {"content": []}, "the hooks get nothing, and the client no error to report"


# -- staged ------------------------------------------------------------------------------------------------------------


def test_staging_leaves_no_placeholder_and_no_guess_at_an_interpreter(staged, paths):
    manifest = json.loads((staged / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    for _, _, hook in (entry for entry in entries(manifest) if entry[2]["type"] == "command"):
        assert hook["command"] == sys.executable and hook["args"][-1] == str(paths.home)
        assert (staged / hook["args"][2].removeprefix("${CLAUDE_PLUGIN_ROOT}/")).is_file()
    server = json.loads((staged / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert server["command"] == sys.executable and server["args"][-1] == "serve" and server["alwaysLoad"] is True
    assert server["env"] == {"HIPPO_HOME": str(paths.home)}
    for name in TEXTS:
        assert not re.search(r"@[A-Z]+@", (staged / name).read_text(encoding="utf-8")), name


def test_a_staged_hook_finds_the_project_without_the_package(staged, paths):
    shared = {path.name: path.read_bytes() for path in (staged / "hippo_core").iterdir()}
    assert shared == {name: (ROOT / "hippo_core" / name).read_bytes() for name in ("project.py", "awake.py")}


# -- commands and skills -----------------------------------------------------------------------------------------------


def frontmatter(name: str) -> dict[str, str]:
    head = (ROOT / name).read_text(encoding="utf-8").split("---\n")[1]
    return dict(line.split(": ", 1) for line in head.splitlines())


def test_every_command_and_skill_answers_to_its_bare_name():
    assert sorted(path.stem for path in (ROOT / "commands").glob("*.md")) == COMMANDS
    for name in TEXTS:
        path = ROOT / name
        fields = frontmatter(name)
        assert fields["name"] == (path.parent.name if path.name == "SKILL.md" else path.stem)
        assert 20 < len(fields["description"]) < 1_024


@pytest.mark.parametrize("name", TEXTS)
def test_the_user_s_text_reaches_no_shell(name):
    """It stands between tags, as data; no line of the client's inline shell syntax is anywhere."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "!`" not in text and "```!" not in text
    assert "allowed-tools" not in frontmatter(name), "a skill with them is refused; a command would get a shell"
    for line in (line for line in text.splitlines() if "ARGUMENTS" in line or re.search(r"\$\d", line)):
        assert line == "$ARGUMENTS"
    for before, after in re.findall(r"(.*)\n\$ARGUMENTS\n(.*)", text):
        assert re.fullmatch("<[a-z]+>", before) and after == before.replace("<", "</")


def test_commands_name_only_tools_and_subcommands_that_exist():
    from hippo_core.cli.main import COMMANDS as SUBCOMMANDS

    for name in TEXTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"@HIPPO@ ([a-z-]+)", text)) <= set(SUBCOMMANDS), name
        tools = {"memory_search", "archive_search", "memory_add", "rules", "by_user"}
        assert set(re.findall(r"`([a-z]+_[a-z]+)`", text)) <= tools, name
