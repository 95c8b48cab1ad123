"""Rules and the nudge, from the command to what the hooks read: only the user sets them, and nothing drops silently."""

import json
import os

import pytest
from click.testing import CliRunner

from hippo_core import config as settings
from hippo_core.cli.main import hippo
from hippo_core.errors import HippoError, NotFoundError, RefusedError, UsageError
from hippo_core.model.memory import Draft, Memory
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, scope_of
from hippo_core.model.types import Author, MemoryType
from hippo_core.render import budget
from hippo_core.render.rules import rules_for
from hippo_core.store import Store


@pytest.fixture
def run():
    """Runs `hippo ARGUMENTS` in this process; its output, or the error that it ends with."""

    def call(*arguments: str, **options: object) -> str:
        done = CliRunner().invoke(hippo, arguments, standalone_mode=False, **options)
        if isinstance(done.exception, HippoError):
            raise done.exception
        assert done.exception is None or "input" in options, repr(done.exception)
        return done.output

    return call


def all_memories(paths, **which: object) -> list[Memory]:
    with Store.open(paths.store, readonly=True) as store:
        return store.memories.select(**which)


def rendered(paths, name: str = "rules.json") -> str:
    document = (paths.render / name).read_bytes()
    return json.loads(document)["hookSpecificOutput"]["additionalContext"] if document else ""


@pytest.fixture
def heard(store) -> Memory:
    """A rule that a distiller took from a session."""
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        return store.memories.add(Draft("Always squash.", MemoryType.RULE, GLOBAL, Author.MACHINE), "distil")


# -- setting -----------------------------------------------------------------------------------------------------------


def test_a_standing_rule_is_a_frozen_human_memory_that_loads_at_once(run, paths):
    said = run("rules", "add", "Never", "commit a secret.", "--always")
    (rule,) = all_memories(paths)
    assert (rule.text, rule.type, rule.author, rule.always) == (
        "Never commit a secret.", MemoryType.RULE, Author.HUMAN, True,
    )  # fmt: skip
    assert rule.frozen and rule.scope == GLOBAL
    assert "1. Never commit a secret." in rendered(paths)
    assert rule.public_id in said and "1 of 1 load in every session" in said and "of 2,000 tokens" in said


def test_a_domain_s_rule_costs_a_session_only_its_name(run, paths):
    run("rules", "add", "Rebase before a push.", "--domain", " Git ")
    assert "Rebase" not in rendered(paths) and "git (1)" in rendered(paths)
    assert b"git\t{" in (paths.render / "reflexes.tsv").read_bytes()
    assert "1. Rebase before a push." in run("rules", "show", "GIT")


def test_a_project_s_rule_loads_in_that_project(run, paths, tmp_path):
    said = run("rules", "add", "Deploy from main.", "--always", "--project", str(tmp_path))
    key = scope_of(str(tmp_path)).key
    assert "Deploy from main." in rendered(paths, f"project/{key}.json") and "Deploy" not in rendered(paths)
    assert f"1 of 1 load in each session of {tmp_path.name}" in said


def test_editing_and_removing_are_rendered_at_once(run, paths):
    run("rules", "add", "Answer in French.", "--always")
    (rule,) = all_memories(paths)
    run("rules", "edit", rule.public_id, "Answer", "in English.")
    assert "English" in rendered(paths) and "French" not in rendered(paths)
    run("rules", "remove", rule.public_id, "--yes")
    assert rendered(paths) == ""
    with pytest.raises(NotFoundError, match="retired"):
        run("rules", "edit", rule.public_id, "Back again.")


def test_removing_asks_first(run, paths, monkeypatch):
    monkeypatch.setattr("hippo_core.cli.ask.on_terminal", lambda: True)
    run("rules", "add", "Answer in French.", "--always")
    (rule,) = all_memories(paths)
    assert "Answer in French." in run("rules", "remove", rule.public_id, input="n\n")
    assert "French" in rendered(paths)
    run("rules", "remove", rule.public_id, input="y\n")
    assert rendered(paths) == ""


def test_the_same_rule_again_is_one_rule(run, paths):
    run("rules", "add", "Mind the gap.", "--domain", "rail")
    run("rules", "add", "mind  the gap.", "--always")
    (rule,) = all_memories(paths)
    assert rule.always and rule.domain is None


@pytest.mark.parametrize("place", [(), ("--always", "--domain", "git")])
def test_a_rule_has_exactly_one_place(run, place):
    with pytest.raises(UsageError, match="--always .* --domain git"):
        run("rules", "add", "Something.", *place)


@pytest.mark.parametrize("domain", ["", "  ", "--", "x" * 41, "\t\n"])
def test_a_domain_is_a_short_name(run, domain):
    with pytest.raises(UsageError, match="short name"):
        run("rules", "add", "Something.", "--domain", domain)


def test_a_rule_is_a_sentence_or_two(run):
    with pytest.raises(UsageError, match="too long"):
        run("rules", "add", "word " * 300, "--always")


def test_the_home_folder_is_no_project_to_have_rules(run, isolated):
    with pytest.raises(UsageError, match="home folder"):
        run("rules", "add", "Something.", "--always", "--project", str(isolated))


@pytest.mark.parametrize("text", ["<private>all of it</private>", "#skip this", "   "])
def test_what_is_private_or_empty_is_refused(run, paths, text):
    with pytest.raises(RefusedError):
        run("rules", "add", text, "--always")
    assert not paths.store.exists() or all_memories(paths) == []


def test_a_secret_in_a_rule_is_redacted_before_anything_is_written(run, paths):
    run("rules", "add", "Log in to the lab with https://lab:hunter2hunter2@lab.example.org only.", "--always")
    written = b"".join(path.read_bytes() for path in paths.home.rglob("*") if path.is_file())
    assert b"hunter2" not in written and b"lab.example.org" in written


def test_a_rule_of_many_lines_and_odd_characters_stays_one_line(run, paths):
    run("rules", "add", 'One\nline,\t"quoted" \\ and\u200b 部署 </hippo-rules>.', "--always")
    assert rendered(paths).count("\n") == 3
    assert '1. One line, "quoted" \\ and 部署 ‹/hippo-rules>.' in rendered(paths)


# -- whose words -------------------------------------------------------------------------------------------------------


def test_what_a_machine_heard_is_no_rule_until_the_user_accepts_it(run, paths, heard):
    run("nudge", "on")  # renders
    assert rendered(paths) == ""
    assert "Heard in sessions, not in force" in run("rules", "list") and "Always squash." in run("rules", "list")
    with pytest.raises(NotFoundError, match="no rule of yours"):
        run("rules", "edit", heard.public_id, "Never squash.")
    run("rules", "accept", heard.public_id, "--always")
    (rule,) = all_memories(paths)
    assert rule.frozen and rule.always and "1. Always squash." in rendered(paths)


def test_accepting_for_a_domain(run, paths, heard):
    run("rules", "accept", heard.public_id, "--domain", "git")
    assert "Always squash." in run("rules", "show", "git") and "squash" not in rendered(paths)


def test_an_archived_message_is_no_rule(run, store):
    with pytest.raises(UsageError, match="archived message"):
        run("rules", "accept", "a1", "--always")


def test_a_rule_that_was_remembered_without_a_place_is_listed_with_the_way_to_one(run, paths, store):
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        rule = store.memories.add(Draft("Never guess.", MemoryType.RULE, GLOBAL, Author.HUMAN), "user")
    assert "load nowhere yet" in run("rules", "list")
    run("rules", "accept", rule.public_id, "--always")
    assert "1. Never guess." in rendered(paths)


# -- showing -----------------------------------------------------------------------------------------------------------


def test_the_list_has_each_rule_under_its_place(run):
    run("rules", "add", "A.", "--always")
    run("rules", "add", "Rebase.", "--domain", "git")
    said = run("rules", "list")
    assert said.index("A.") < said.index('Rules for "git"') < said.index("Rebase.")
    assert "A." not in run("rules", "list", "--domain", "Git")
    rows = json.loads(run("rules", "list", "--json"))
    assert [(row["text"], row["always"], row["domain"]) for row in rows] == [
        ("A.", True, None),
        ("Rebase.", False, "git"),
    ]


def test_no_rules_is_said_with_the_way_to_set_one(run, store):
    assert "hippo rules add" in run("rules", "list")


def test_more_rules_than_fit_are_counted_for_the_user_and_for_the_model(run, paths, store):
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        for number in range(150):
            text = f"Rule {number} says to look twice before each of the {number} steps."
            store.memories.add(Draft(text, MemoryType.RULE, GLOBAL, Author.HUMAN, always=True), "user")
    said = run("rules", "add", "The last one.", "--always")
    omitted = int(said.partition("; ")[2].split()[0])
    assert 0 < omitted < 150
    assert f"(151; {omitted} did not fit here" in rendered(paths)
    assert budget.tokens(rendered(paths)) <= budget.STANDING_TOKENS
    assert "The last one." in run("rules", "show"), "the way that the block names shows all"


def test_whoever_asks_for_a_domain_gets_its_rules_within_reach_alone(run, paths, tmp_path):
    run("rules", "add", "Everywhere.", "--domain", "git")
    run("rules", "add", "Here.", "--domain", "git", "--project", str(tmp_path))
    here = scope_of(str(tmp_path)).key
    with Store.open(paths.store, readonly=True) as store:
        assert "Here." not in rules_for(store, "git", [GLOBAL])
        assert "Here." in rules_for(store, "Git ", [GLOBAL, here])
        assert 'no rules for "sql"' in rules_for(store, "sql", [GLOBAL]) and "git (1)" in rules_for(
            store, "sql", [GLOBAL]
        )
        assert "There are no standing rules." in rules_for(store, None, [GLOBAL])
        assert "‹/x-y>" not in rules_for(store, '"><x-y', None)


# -- the nudge ---------------------------------------------------------------------------------------------------------


def test_the_nudge_is_shown_set_switched_off_and_on(run, paths, store):
    assert "memory_search" in run("nudge", "show")
    run("nudge", "set", "Be", "brief.")
    assert rendered(paths, "nudge.json") == "Be brief." and "Be brief." in run("nudge", "show")
    run("nudge", "off")
    assert rendered(paths, "nudge.json") == "" and "off" in run("nudge", "show")
    run("nudge", "on")
    assert rendered(paths, "nudge.json") == "Be brief."
    assert "About 1 token a turn" in run("nudge", "set", "x")


@pytest.mark.parametrize("offs", [1, 2])
def test_off_is_a_switch_and_on_says_whose_line_is_back(run, paths, store, offs):
    run("nudge", "set", "Be", "brief.")
    for _ in range(offs):
        assert "with your own line (Be brief.): hippo nudge on" in run("nudge", "off")
    assert "with your own line (Be brief.): hippo nudge on" in run("nudge", "show")
    said = run("nudge", "on")
    assert "with your own line: Be brief.\n" in said and "hippo nudge reset" in said
    assert run("nudge", "on") == said, "it is on already"


def test_the_standard_line_can_be_had_back_and_own_words_are_dropped_then(run, paths, store):
    run("nudge", "set", "Be", "brief.")
    assert f"with the standard line: {settings.NUDGE}\n" in run("nudge", "reset")
    assert rendered(paths, "nudge.json") == settings.NUDGE
    run("nudge", "off")
    said = run("nudge", "on")
    assert f"with the standard line: {settings.NUDGE}\n" in said and "reset" not in said


def test_a_line_that_is_set_while_it_is_off_is_in_force(run, paths, store):
    run("nudge", "set", "Be", "brief.")
    run("nudge", "off")
    run("nudge", "set", "Be", "kind.")
    assert rendered(paths, "nudge.json") == "Be kind."
    run("nudge", "off")
    assert "Be kind." in run("nudge", "on")


def test_a_line_emptied_in_the_settings_file_is_off_and_the_standard_one_comes_back(run, paths, store):
    settings.save(paths, nudge="")
    assert "with the standard line" in run("nudge", "off")
    assert settings.NUDGE in run("nudge", "on") and rendered(paths, "nudge.json") == settings.NUDGE


def test_a_nudge_longer_than_every_turn_can_bear_is_refused(run, paths, store):
    with pytest.raises(UsageError, match="too long for every turn"):
        run("nudge", "set", "word " * 60)
    assert "memory_search" in run("nudge", "show")


def test_a_nudge_is_kept_for_the_store_to_come(run, paths):
    run("nudge", "set", "Be brief.")
    assert not paths.store.exists(), "a store made here would pass for an installation"
    run("rules", "add", "A.", "--always")
    assert rendered(paths, "nudge.json") == "Be brief."


@pytest.mark.parametrize("arguments", [("rules", "list"), ("rules", "show")])
def test_without_a_store_the_way_to_one_is_said(run, arguments):
    with pytest.raises(HippoError, match="no memory store"):
        run(*arguments)
    assert os.listdir(os.environ["HOME"]) == []
