"""Which project a message belongs to: its folder's; where that is gone, or a sub-agent's, its session's."""

from os.path import exists

from hippo_core.model.message import Message
from hippo_core.model.scope import GLOBAL_SCOPE, Scope, scope_of
from hippo_core.store import Store


class Places:
    """Remembers the folders and sessions of one step, those that are not stored yet among them."""

    def __init__(self, store: Store):
        self._store = store
        self._folders: dict[str, tuple[Scope, bool]] = {}
        self._sessions: dict[str, tuple[Scope, str | None]] = {}

    def scope(self, message: Message) -> Scope:
        session = self._sessions.get(message.session_id)
        if session is None:
            with self._store.reading():
                session = self._store.archive.session_place(message.session_id)
        own, there = self._folder(message.cwd)
        if session is None:
            session = own, message.cwd
        self._sessions[message.session_id] = session
        scope, cwd = session
        if message.cwd is None or message.agent_id is not None or (not there and _below(message.cwd, cwd)):
            return scope
        return own

    def _folder(self, cwd: str | None) -> tuple[Scope, bool]:
        if cwd is None:
            return GLOBAL_SCOPE, False
        if cwd not in self._folders:
            self._folders[cwd] = scope_of(cwd), exists(cwd)
        return self._folders[cwd]


def _below(folder: str, parent: str | None) -> bool:
    return parent is not None and folder.startswith((parent.rstrip("/\\") + "/", parent.rstrip("/\\") + "\\"))
