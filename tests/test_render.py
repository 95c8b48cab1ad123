"""What is rendered for the hooks: within its budget, unable to break its fence, equal to the store."""

import itertools
import json
import os
import time
from pathlib import Path

import pytest
from hook_process import shared_by_hooks
from hypothesis import given, settings
from hypothesis import strategies as st

from hippo_core import clock
from hippo_core import config as user_settings
from hippo_core.config import NUDGE, Config
from hippo_core.model.memory import Draft, Memory
from hippo_core.model.scope import GLOBAL, GLOBAL_SCOPE, project_scope
from hippo_core.model.types import Author, MemoryType, Tier
from hippo_core.recall.score import Aging
from hippo_core.render import budget
from hippo_core.render import refresh as refreshing
from hippo_core.render.document import context_document
from hippo_core.render.fence import attribute, one_line
from hippo_core.render.project import Knowledge, agent_block, session_block
from hippo_core.render.refresh import refresh
from hippo_core.render.rules import standing
from hippo_core.render.topics import topics
from hippo_core.store import Store

NOW = 1_796_000_000.0
SHOP, DOCS = project_scope("example.org/shop", "shop"), project_scope("example.org/docs", "docs")
any_text = st.text(max_size=400) | st.text(st.sampled_from('<>/\\"-hippo memory rules\n‹部署🦛'), max_size=400)


def memory(number: int = 1, text: str = "x", **fields: object) -> Memory:
    made = {
        "type": MemoryType.FACT, "tier": Tier.SEMANTIC, "author": Author.MACHINE, "scope": GLOBAL, "importance": 0.5,
        "confidence": 0.7, "pinned": False, "always": False, "domain": None, "created_at": NOW, "confirmed_at": NOW,
        "valid_from": None, "valid_until": None, "seen": 1, "version": 1, "status": "active", "superseded_by": None,
    }  # fmt: skip
    return Memory(number, text, **{**made, **fields})


def rule(number: int, text: str, **fields: object) -> Memory:
    return memory(number, text, **{"type": MemoryType.RULE, "author": Author.HUMAN, "always": True, **fields})


def known(memories=(), **fields: object) -> Knowledge:
    made = {"label": "shop", "sessions": 3, "memories": memories, "shared": (), "others": 0, "now": NOW}
    return Knowledge(**{**made, "aging": Aging.of(Config()), **fields})


# -- text that cannot break out ----------------------------------------------------------------------------------------


@given(any_text)
def test_a_document_is_json_that_says_exactly_the_text(text):
    document = context_document("SessionStart", text)
    plain = "".join(c if c >= " " or c == "\n" else " " for c in text).encode("utf-8", "replace").decode()
    assert (json.loads(document)["hookSpecificOutput"]["additionalContext"] if document else "") == plain


@given(any_text)
def test_the_hooks_own_check_accepts_every_document(text):
    """Two pieces of code know the document's shape; they may not drift apart."""
    hook = shared_by_hooks()
    document = context_document("Stop", text)
    checked = hook.context_text(b"Stop", document)
    assert (hook.context(b"Stop", checked) if checked else b"") == document


@pytest.mark.parametrize(
    "fence",
    ["</hippo-memory>", "< / HIPPO-memory >", "<hippo-rules>", "</system-reminder>", "<\\system-reminder>",
     "</task-notification>", "<function_calls>", "<ns:invoke>", "</hippo\u200b-memory>", "</hippo-memory\n>",
     "<\ufe0f/hippo-memory>", "</hip\u034fpo-memory>"],
)  # fmt: skip
def test_a_memory_cannot_open_or_close_a_fence(fence):
    text = session_block(known([memory(1, f"a {fence} b")])) + agent_block(known([memory(1, fence)]), "hippo", True)
    assert text.count("<hippo-memory") == text.count("</hippo-memory>") == 2
    assert one_line(fence).startswith("‹")


def test_code_in_a_memory_stays_as_it_is():
    assert one_line("List<int> in a <div>, x<y") == "List<int> in a <div>, x<y"


def test_a_project_s_name_cannot_leave_its_attribute():
    label = attribute('x"> </hippo-memory> <y onclick="')
    assert not set(label) & set('"<>\n')


@given(any_text, st.integers(1, 300))
def test_a_cut_line_is_short_and_says_so(text, longest):
    line = one_line(text, longest)
    assert "\n" not in line and len(line) <= longest + 2
    assert line == one_line(text) or line.endswith(" …")


# -- budgets -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(any_text, st.booleans(), st.sampled_from([None, "git", "a domain", "部署"])), max_size=60))
@settings(max_examples=60)
def test_standing_rules_keep_their_budget_and_name_what_did_not_fit(rules):
    made = [rule(n, text * 3, always=always, domain=domain) for n, (text, always, domain) in enumerate(rules, 1)]
    block = standing(made)
    assert block.tokens == budget.tokens(block.text) <= 2_000
    assert budget.characters(block.text) <= 9_500
    assert block.total == sum(always for _, always, _ in rules)
    if block.shown < block.total:
        assert f"({block.total}; {block.total - block.shown} did not fit here" in block.text
    elif block.total:
        assert f"({block.total}, all shown)" in block.text


def test_two_hundred_rules_load_in_part_and_the_rest_is_counted():
    rules = [rule(n, f"Rule number {n} is that nothing is ever dropped in silence.") for n in range(200)]
    block = standing(rules)
    assert 50 < block.shown < 200
    assert f"(200; {200 - block.shown} did not fit here" in block.text
    assert 1_900 < block.tokens <= 2_000
    # The client cuts what one hook says after 10,000 characters, whatever they cost.
    assert 9_300 < budget.characters(standing(rules, most_tokens=100_000).text) <= 9_500


def test_a_rule_too_long_for_the_budget_does_not_keep_the_others_out():
    block = standing([rule(1, "x" * 9_000), rule(2, "Short.")])
    assert (block.shown, block.total) == (1, 2) and "2. Short." in block.text


@given(st.lists(any_text, max_size=40), st.booleans())
@settings(max_examples=60)
def test_what_memory_exists_keeps_its_budget(texts, by_user):
    author = Author.HUMAN if by_user else Author.MACHINE
    facts = known([memory(n, text * 5, author=author) for n, text in enumerate(texts, 1)], label='"' + "n" * 200)
    session, agent = session_block(facts), agent_block(facts, "/a/b/hippo", True)
    assert budget.tokens(session) <= budget.MEMORY_TOKENS and budget.tokens(agent) <= budget.AGENT_TOKENS
    assert budget.characters(session) + budget.characters(agent) < budget.MOST_CHARACTERS


def test_of_more_than_there_is_room_for_as_much_is_told_as_900_tokens_take_and_350_for_a_sub_agent():
    kinds = [MemoryType.FACT, MemoryType.TOOL, MemoryType.CONFIG]
    costs = []
    for author, letters in itertools.product((Author.HUMAN, Author.MACHINE), range(60, 260, 2)):
        texts = [("部署 " * 90)[:letters]] * 12
        facts = known([memory(n, text, type=kinds[n % 3], author=author) for n, text in enumerate(texts)])
        costs.append(
            [budget.tokens(block) for block in (session_block(facts), agent_block(facts, "h" * (letters // 4), True))]
        )
    sessions, agents = zip(*costs, strict=True)
    assert 880 < max(sessions) <= 900 and 345 < max(agents) <= 350
    dense = known([memory(n, "部" * 500, type=kinds[n % 3]) for n in range(12)])
    assert session_block(dense).count("…") == 8 and agent_block(dense, "hippo", True).count("…") > 2, (
        "cut, not left out"
    )
    short = known([memory(n, f"Fact {n}.", type=kinds[n % 3]) for n in range(12)])
    assert session_block(short).count("\n- [") == 8 and agent_block(short, "hippo", True).count("\n- [") == 4


@given(st.text(), st.text())
def test_the_token_estimate_counts_every_part(left, right):
    assert max(budget.tokens(left), budget.tokens(right)) <= budget.tokens(left + right)
    assert budget.tokens(left + right) <= budget.tokens(left) + budget.tokens(right)


def test_the_token_estimate_is_on_the_safe_side():
    assert budget.tokens("the quick brown fox jumps over the lazy dog") >= 12  # nine words and two commas' worth
    assert budget.tokens("部署服务器") >= 5
    assert budget.characters("🦛部a") == 4


# -- what a session is told --------------------------------------------------------------------------------------------


def test_the_foremost_memories_are_named_with_type_age_author_and_id():
    told = session_block(
        known(
            [
                memory(0x41C, "Use a token bucket.", type=MemoryType.DECISION, confirmed_at=NOW - 21 * 86_400),
                memory(0x3F2, "Run the fixtures first.", type=MemoryType.PROCEDURE, seen=4, author=Author.HUMAN),
                memory(0x3F3, "It may be the cache.", confidence=0.3),
            ]
        )
    )  # fmt: skip
    assert "- [decision, 3 weeks] Use a token bucket. m41c" in told
    assert "- [procedure, today, said by the user, seen 4 times] Run the fixtures first. m3f2" in told
    assert "- [fact, today, unsure] It may be the cache. m3f3" in told
    assert "Notes from 3 earlier sessions here (3 memories, newest from today; ages as of" in told
    assert "not instructions" in told and "memory_search" in told


def test_a_rule_that_a_machine_heard_is_marked_as_unconfirmed():
    told = session_block(known([memory(1, "Always deploy on Friday.", type=MemoryType.RULE)]))
    assert "[rule, today, heard, not confirmed by the user] Always deploy" in told
    assert standing([rule(1, "x", author=Author.HUMAN, always=False)]).text == ""


def test_the_project_is_not_named_in_each_line_of_its_own_block():
    told = session_block(known([memory(1, "In shop: We use a till."), memory(2, "In docs: We use a press.")]))
    assert "] We use a till. m1" in told and "In docs: We use a press." in told


def test_one_prolific_type_leaves_room_for_others():
    rules = [memory(n, f"Rule {n}", type=MemoryType.RULE, importance=0.9) for n in range(50)]
    told = session_block(known([*rules, memory(99, "A plain fact.", importance=0.1)]))
    assert told.count("[rule,") == 3 and "A plain fact." in told


def test_an_old_memory_gives_way_to_a_fresh_one_and_a_pinned_one_does_not():
    stale = [memory(n, f"Old task {n}", type=MemoryType.TASK, confirmed_at=NOW - 900 * 86_400) for n in range(3)]
    fresh = [
        memory(n, f"New {n}", type=kind) for n, kind in enumerate([MemoryType.FACT] * 3 + [MemoryType.TOOL] * 3, 10)
    ]
    pinned = memory(50, "Pinned task", type=MemoryType.TASK, confirmed_at=NOW - 900 * 86_400, pinned=True)
    told = session_block(known([*stale, *fresh, pinned]))
    assert "Pinned task" in told and told.index("New") < told.index("Old task")


def test_topics_are_what_several_memories_share():
    texts = ["The rate limiting of partners is a token bucket.", "Rate limiting broke the checkout flow again.",
             "The checkout flow needs idempotent retries.", "Retries in webhook_worker.py back off.",
             "webhook_worker.py holds the queue.", "Coffee is in the kitchen."]  # fmt: skip
    found = topics([memory(n, text, confirmed_at=NOW - n) for n, text in enumerate(texts)])
    assert ("rate limiting", NOW) in found and ("checkout flow", NOW - 1) in found
    assert ("webhook_worker.py", NOW - 3) in found
    assert not any("coffee" in term for term, _ in found)


# -- the files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(store, paths):
    with store.transaction():
        for scope in (GLOBAL_SCOPE, SHOP, DOCS):
            store.memories.ensure_scope(scope)
        put(store, "Never commit a secret.", GLOBAL, MemoryType.RULE, always=True)
        put(store, "Rebase before a push.", GLOBAL, MemoryType.RULE, domain="git")
        put(store, "Payments go through the ledger.", SHOP.key)
        put(store, "The docs are built nightly.", DOCS.key)
    refresh(store, paths)
    return store


def put(store: Store, text: str, scope: str, kind=MemoryType.DECISION, author=Author.HUMAN, **fields: object) -> Memory:
    return store.memories.add(Draft(text, kind, scope, author, **fields), "test")


def told(paths, name: str) -> str:
    document = (paths.render / name).read_bytes()
    return json.loads(document)["hookSpecificOutput"]["additionalContext"] if document else ""


def state_of(folder: Path) -> dict[str, tuple[int, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def test_no_other_projects_are_named_where_there_are_none(store, paths):
    with store.transaction():
        store.memories.ensure_scope(GLOBAL_SCOPE)
        put(store, "The user writes British English.", GLOBAL, MemoryType.PREFERENCE)
    refresh(store, paths)
    assert "British English" in (default := told(paths, "project/default.json")) and "Other projects" not in default


def test_each_project_is_told_of_its_own_memories_and_what_holds_everywhere(filled, paths):
    with filled.transaction():
        put(filled, "The user writes British English.", GLOBAL, MemoryType.PREFERENCE)
    refresh(filled, paths)
    shop, docs, other = (told(paths, f"project/{key}.json") for key in (SHOP.key, DOCS.key, "default"))
    assert "ledger" in shop and "nightly" not in shop
    assert "nightly" in docs and "ledger" not in docs
    assert "ledger" not in other and "nightly" not in other and "Other projects: 2 memories" in other
    for text in (shop, docs, other):
        assert "British English" in text and "Never commit" not in text
    assert "Never commit" in told(paths, "rules.json") and "git (1)" in told(paths, "rules.json")


def test_a_second_refresh_writes_nothing(filled, paths):
    before = state_of(paths.render)
    refresh(filled, paths)
    assert state_of(paths.render) == before


def test_a_change_in_one_project_rewrites_that_project_alone(filled, paths):
    before = state_of(paths.render)
    with filled.transaction():
        put(filled, "Refunds are exact.", SHOP.key)
    refresh(filled, paths)
    after = state_of(paths.render)
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {f"project/{SHOP.key}.json", f"agent/{SHOP.key}.json", "state.json", "project/default.json"}
    assert "Refunds are exact." in told(paths, f"project/{SHOP.key}.json")


def test_a_forgotten_memory_leaves_no_render(filled, paths):
    (doomed,) = filled.memories.select(scopes=[SHOP.key])
    with filled.transaction():
        filled.memories.erase([doomed.id])
    refresh(filled, paths)
    assert not (paths.render / "project" / f"{SHOP.key}.json").exists()
    assert not (paths.render / "agent" / f"{SHOP.key}.json").exists()
    assert all(b"ledger" not in path.read_bytes() for path in paths.render.rglob("*") if path.is_file())


def test_superseded_and_retired_memories_are_not_told(filled, paths):
    (old,) = filled.memories.select(scopes=[SHOP.key])
    with filled.transaction():
        new = put(filled, "Payments go through the vault.", SHOP.key)
        filled.memories.supersede(old.id, new.id, "test", Author.HUMAN, NOW)
    refresh(filled, paths)
    assert "vault" in told(paths, f"project/{SHOP.key}.json") and "ledger" not in told(
        paths, f"project/{SHOP.key}.json"
    )


def test_a_writer_that_comes_in_between_is_not_overwritten_with_old_text(filled, paths, monkeypatch):
    """The memory is forgotten, and rendered without, after we have read it and before we write."""
    with filled.transaction():
        put(filled, "Refunds are exact.", SHOP.key)
    write, raced = refreshing._write, []

    def write_after_the_other(path: Path, data: bytes, sizes: dict[str, int]) -> None:
        if not raced:
            raced.append(path)
            with Store.open(paths.store) as other:
                with other.transaction():
                    other.memories.erase([memory.id for memory in other.memories.select(scopes=[SHOP.key])])
                refresh(other, paths)
        write(path, data, sizes)

    monkeypatch.setattr(refreshing, "_write", write_after_the_other)
    refresh(filled, paths)
    assert raced
    assert all(b"ledger" not in path.read_bytes() for path in paths.render.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "damage", [b"", b"no json", b"[]", b"5", b'{"default": 5}', b"[[], {}]", b'{"state": {}, "sizes": []}']
)
def test_a_damaged_record_of_what_was_rendered_renders_all_again(filled, paths, damage):
    for path in [*paths.render.glob("project/*"), *paths.render.glob("agent/*")]:
        path.write_bytes(b"x")
    (paths.render / "state.json").write_bytes(damage)
    refresh(filled, paths)
    assert "ledger" in told(paths, f"project/{SHOP.key}.json")
    assert "memory_search" in told(paths, "agent/default.json")


@pytest.mark.parametrize("name", [f"agent/{SHOP.key}.json", f"project/{SHOP.key}.json", "rules.json", "nudge.json"])
def test_a_lost_file_comes_back(filled, paths, name):
    before = (paths.render / name).read_bytes()
    (paths.render / name).unlink()
    refresh(filled, paths)
    assert (paths.render / name).read_bytes() == before


@pytest.mark.parametrize("name", [f"agent/{SHOP.key}.json", f"project/{SHOP.key}.json", "rules.json", "nudge.json"])
def test_a_file_that_lost_its_end_is_made_whole(filled, paths, name):
    """They are not synchronized, so that is how a power failure may leave them."""
    before = (paths.render / name).read_bytes()
    (paths.render / name).write_bytes(before[: len(before) // 2] if before else b"x")
    assert not refreshing.is_current(filled, paths)
    refresh(filled, paths)
    assert (paths.render / name).read_bytes() == before


def test_ages_move_on_with_the_days(filled, paths, monkeypatch):
    assert "today" in told(paths, f"project/{SHOP.key}.json")
    monkeypatch.setenv("HIPPO_NOW", str(clock.now() + 21 * clock.DAY))
    refresh(filled, paths)
    assert "[decision, 3 weeks, said by the user]" in told(paths, f"project/{SHOP.key}.json")


def test_a_project_s_own_standing_rules_load_there_alone(filled, paths):
    with filled.transaction():
        put(filled, "Deploy from main.", SHOP.key, MemoryType.RULE, always=True)
    refresh(filled, paths)
    shop = told(paths, f"project/{SHOP.key}.json")
    assert shop.startswith('<hippo-rules project="shop">') and "1. Deploy from main." in shop
    assert "Deploy" not in told(paths, "rules.json") + told(paths, f"project/{DOCS.key}.json")


def test_all_standing_rules_of_a_session_together_keep_the_budget(filled, paths):
    with filled.transaction():
        for scope in (GLOBAL, SHOP.key):
            for number in range(100):
                put(
                    filled,
                    f"Rule {number} of {scope} says to mind each of the steps.",
                    scope,
                    MemoryType.RULE,
                    always=True,
                )
    refresh(filled, paths)
    rules, shop = told(paths, "rules.json"), told(paths, f"project/{SHOP.key}.json").split("<hippo-memory")[0]
    assert budget.tokens(rules) + budget.tokens(shop) <= 2_000
    for block in (rules, shop):
        assert "did not fit here" in block and "\n1. " in block


def test_the_nudge_is_the_user_s_and_a_damaged_setting_costs_nothing_else(filled, paths):
    assert told(paths, "nudge.json") == NUDGE and budget.tokens(NUDGE) <= budget.NUDGE_TOKENS
    user_settings.save(paths, nudge='Be "brief".')
    refresh(filled, paths)
    assert told(paths, "nudge.json") == 'Be "brief".'
    user_settings.save(paths, nudge="")
    refresh(filled, paths)
    assert (paths.render / "nudge.json").read_bytes() == b""
    paths.config.write_bytes(b"{broken")
    refresh(filled, paths)
    assert (paths.render / "nudge.json").read_bytes() == b"", "as it was"
    (paths.render / "nudge.json").unlink()
    refresh(filled, paths)
    assert told(paths, "nudge.json") == NUDGE


def test_an_empty_store_tells_nothing(store, paths):
    refresh(store, paths)
    for name in ("rules.json", "project/default.json", "agent/default.json", "reflexes.tsv"):
        assert (paths.render / name).read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_what_is_rendered_is_the_owner_s_alone(filled, paths):
    for path in [paths.render, *paths.render.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_what_dead_sessions_were_told_is_dropped(filled, paths):
    folder = paths.run / "reflexes"
    folder.mkdir(parents=True)
    for name, age in (("old", 8), ("young", 1)):
        folder.joinpath(name).write_bytes(b"git\n")
        os.utime(folder / name, (time.time() - age * 86_400,) * 2)
    refresh(filled, paths)
    assert [path.name for path in folder.iterdir()] == ["young"]
