"""Which project a message belongs to: its folder's; where that is gone, or a sub-agent's, its session's."""

from collections.abc import Iterable
from os.path import exists

from hippo_core.model.message import Message
from hippo_core.model.scope import GLOBAL_SCOPE, Scope, joined_projects, scope_of
from hippo_core.store import Store


class Places:
    """Remembers the folders and sessions of one step, those that are not stored yet among them."""

    def __init__(self, store: Store, expected: Iterable[str] = ()):
        """expected: sessions that are likely to speak, which are looked up together."""
        self._store = store
        sessions = set(expected)
        with store.reading():
            found = store.archive.session_places(sessions)
        self._looked_up = {session: found.get(session) for session in sessions}
        self._moved = joined_projects()
        self._folders: dict[str, tuple[Scope, bool]] = {}
        self._sessions: dict[str, tuple[Scope, str | None]] = {}

    def scope(self, message: Message) -> Scope:
        session = self._sessions.get(message.session_id)
        if session is None:
            session = self._look_up(message.session_id)
        own, there = self._folder(message.cwd)
        if session is None:
            session = own, message.cwd
        self._sessions[message.session_id] = session
        scope, cwd = session
        if message.cwd is None or message.agent_id is not None or (not there and _below(message.cwd, cwd)):
            return scope
        return own

    def _look_up(self, session_id: str) -> tuple[Scope, str | None] | None:
        if session_id not in self._looked_up:
            with self._store.reading():
                self._looked_up[session_id] = self._store.archive.session_place(session_id)
        return self._looked_up[session_id]

    def _folder(self, cwd: str | None) -> tuple[Scope, bool]:
        if cwd is None:
            return GLOBAL_SCOPE, False
        if cwd not in self._folders:
            self._folders[cwd] = scope_of(cwd, self._moved), exists(cwd)
        return self._folders[cwd]


def _below(folder: str, parent: str | None) -> bool:
    return parent is not None and folder.startswith((parent.rstrip("/\\") + "/", parent.rstrip("/\\") + "\\"))
