"""The archive's rows as the tests of it make them and look at them."""

from transcript_files import SESSION

from hippo_core.model.message import Message, Role
from hippo_core.model.scope import project_scope

API = project_scope("example.org/team/api", "api")


def append(store, *texts, session="s1", scope=API, role=Role.USER, agent=None, withheld=None, began=None, uid=None):
    """Their numbers. began: seconds, when the first was said, and each other a second later."""
    numbers = []
    for place, text in enumerate(texts):
        with store.transaction():
            source = store.progress.begin_source(f"/{session}.jsonl")
            number = store.episodes.newest() + 1
            at = 1.0 * number if began is None else began + place
            message = Message(uid or f"u{number}", session, role, text, at, "/srv", number, agent_id=agent)
            assert store.archive.append(message, scope=scope, source_id=source.id, withheld=withheld)
            numbers.append(number)
    return numbers


def rows(store):
    """Everything the archive holds, but for row numbers."""
    return store._db.execute(
        "SELECT uid, session_id, agent_id, scope, role, command, text, at, withheld, offset FROM message ORDER BY uid"
    ).fetchall()


def texts(store, session=SESSION):
    return [message.text for message in store.archive.session(session)]
