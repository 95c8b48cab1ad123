"""Which project an archived message belongs to."""

import pytest
from archive_rows import rows
from transcript_files import CWD, SESSION, assistant, user, write

from hippo_core.ingest import archive as step
from hippo_core.ingest.archive import archive_files
from hippo_core.model.scope import scope_of


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "projects" / "shop" / f"{SESSION}.jsonl", user("Use uv.", 1), assistant("Yes.", 2))


class TestPlaces:
    def scopes(self, store, session=SESSION):
        return [message.scope for message in store.archive.session(session)]

    def test_a_message_belongs_to_the_project_of_its_folder(self, store, tmp_path):
        shop, api = tmp_path / "shop", tmp_path / "api"
        for folder in (shop, api):
            (folder / ".git").mkdir(parents=True)
        (shop / "src").mkdir()
        path = write(
            tmp_path / "s.jsonl", *(user(str(f), n, cwd=str(f)) for n, f in enumerate([shop, shop / "src", api]))
        )
        archive_files(store, [path])
        assert self.scopes(store) == [scope_of(str(shop)).key] * 2 + [scope_of(str(api)).key]

    def test_a_folder_that_is_gone_belongs_to_the_session_it_lay_in(self, store, tmp_path):
        path = write(
            tmp_path / "s.jsonl", user("a", 1), user("b", 2, cwd=f"{CWD}/build/tmp"), user("c", 3, cwd="/elsewhere")
        )
        archive_files(store, [path])
        assert self.scopes(store) == [scope_of(CWD).key] * 2 + [scope_of("/elsewhere").key]

    def test_also_when_the_session_began_in_an_earlier_run(self, store, path):
        archive_files(store, [path])
        write(path, path.read_bytes(), user("c", 3, cwd=f"{CWD}/build"))
        archive_files(store, [path])
        assert self.scopes(store) == [scope_of(CWD).key] * 3

    def test_a_file_that_fails_teaches_nothing_and_costs_no_other_what_it_taught(self, store, path, monkeypatch):
        """The step reads ahead of what it writes; where a session belongs must be what the store says of it."""
        bad = write(path.with_name("bad.jsonl"), user("Well.", 5, sessionId="bad"), user("boom", 6, sessionId="bad"))
        real = step.guard
        monkeypatch.setattr(step, "guard", lambda m: 1 / 0 if m.text == "boom" else real(m))
        of_parent = write(
            path.with_name("agent-a1.jsonl"), user("Look.", 7, cwd="/gone", isSidechain=True, agentId="a1")
        )
        of_bad = write(path.with_name("agent-a2.jsonl"), user("See.", 8, cwd="/own", sessionId="bad", agentId="a2"))
        archive_files(store, [path, bad, of_parent, of_bad])
        scopes = {text: scope for _, _, _, scope, _, _, text, *_ in rows(store)}
        assert scopes["Look."] == scopes["Use uv."]
        assert scopes["See."] == scope_of("/own").key

    def test_sub_agents_belong_to_the_project_of_their_parent(self, store, path):
        agent = path.parent / SESSION / "subagents" / "agent-a1.jsonl"
        write(agent, user("Look.", 5, cwd="/gone/worktree", isSidechain=True, agentId="a1"))
        archive_files(store, [path, agent])
        assert self.scopes(store) == [scope_of(CWD).key] * 3
        assert store.archive.session(SESSION)[-1].agent_id == "a1"

    def test_a_record_without_a_folder_lies_where_its_session_does(self, store, path):
        write(path, path.read_bytes(), user("c", 3, cwd=None))
        archive_files(store, [path])
        assert self.scopes(store) == [scope_of(CWD).key] * 3

    def test_a_session_of_no_folder_is_global(self, store, tmp_path):
        archive_files(store, [write(tmp_path / "s.jsonl", user("a", 1, cwd=None))])
        assert self.scopes(store) == ["g"]
