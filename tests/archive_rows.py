"""What the tests of the archive step look at: the archive's rows and a session's texts."""

from transcript_files import SESSION


def rows(store):
    """Everything the archive holds, but for row numbers."""
    return store._db.execute(
        "SELECT uid, session_id, agent_id, scope, role, command, text, at, withheld, offset FROM message ORDER BY uid"
    ).fetchall()


def texts(store, session=SESSION):
    return [message.text for message in store.archive.session(session)]
