"""The schema, as numbered migrations with a ledger. A migration that has been released is never edited.

Three table sets that share nothing but message uids: curated memories, the raw archive, and the pipeline's own state.
"""

import importlib.util
from collections.abc import Callable

import apsw

from hippo_core import clock
from hippo_core.store.connection import APPLICATION_ID, load_vectors

_OF_ACTIVE = "memory", "text, cjk, scope, status", "{row}.status = 'active'"
_OF_ALL = "message", "text, cjk, scope", "1"

Migration = Callable[[apsw.Connection], None]


def migrate(db: apsw.Connection) -> None:
    """Bring the file to the newest schema in one transaction; a failure leaves it as it was."""
    if db.pragma("user_version") == NEWEST:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        done = db.pragma("user_version")  # another process may have been first
        if done == 0:
            db.pragma("application_id", APPLICATION_ID)
            db.execute(
                "CREATE TABLE migration(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL)"
            )
        for number, migration in enumerate(MIGRATIONS, 1):
            if number > done:
                migration(db)
                db.execute("INSERT INTO migration VALUES (?, ?, ?)", (number, migration.__name__, clock.now()))
        db.pragma("user_version", NEWEST)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk has rolled it back already
            db.execute("ROLLBACK")
        raise


def m001_curated(db: apsw.Connection) -> None:
    """Memories, their exact and plain keyword indexes, their sources, vectors' bookkeeping, the journal."""
    db.execute(
        """
        CREATE TABLE memory_scope(
            key TEXT PRIMARY KEY, kind TEXT NOT NULL, label TEXT NOT NULL, identity TEXT NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE memory(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL,
            cjk TEXT,
            scope TEXT NOT NULL REFERENCES memory_scope(key),
            type TEXT NOT NULL,
            tier TEXT NOT NULL,
            author TEXT NOT NULL CHECK (author IN ('human', 'machine')),
            importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
            confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
            pinned INTEGER NOT NULL DEFAULT 0,
            always INTEGER NOT NULL DEFAULT 0,
            domain TEXT,
            created_at REAL NOT NULL,
            confirmed_at REAL NOT NULL,
            valid_from REAL,
            valid_until REAL,
            seen INTEGER NOT NULL DEFAULT 1,
            version INTEGER NOT NULL DEFAULT 1,
            status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'retired')),
            superseded_by INTEGER REFERENCES memory(id) ON DELETE SET NULL,
            digest BLOB NOT NULL
        );
        CREATE INDEX memory_by_scope ON memory(scope, status, type);
        CREATE INDEX memory_by_digest ON memory(digest);

        CREATE TABLE memory_source(
            memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
            message_uid TEXT NOT NULL,
            PRIMARY KEY (memory_id, message_uid)
        ) WITHOUT ROWID;
        CREATE INDEX memory_source_by_message ON memory_source(message_uid);

        CREATE VIEW memory_active AS SELECT id, text, cjk, scope FROM memory WHERE status = 'active';
        """
    )
    _keyword_index(db, "memory_exact", "memory_active", "unicode61 remove_diacritics 2 tokenchars ''_-./''")
    _keyword_index(db, "memory_plain", "memory_active", "porter unicode61 remove_diacritics 2")
    for index in ("memory_exact", "memory_plain"):
        _sync_index(db, index, *_OF_ACTIVE)
    db.execute(
        """
        CREATE TABLE embedding_model(
            id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL
        );
        CREATE TABLE memory_chunk(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memory(id) ON DELETE CASCADE,
            model_id INTEGER NOT NULL REFERENCES embedding_model(id),
            ordinal INTEGER NOT NULL,
            UNIQUE (memory_id, model_id, ordinal)
        );

        CREATE TABLE journal(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            actor TEXT NOT NULL,
            action TEXT NOT NULL,
            memory_id INTEGER,
            before TEXT
        );
        CREATE INDEX journal_by_memory ON journal(memory_id);
        """
    )


def m002_archive(db: apsw.Connection) -> None:
    """The raw archive: sessions and messages, append-only but for a door opened inside a transaction."""
    db.execute(
        """
        CREATE TABLE archive_project(
            key TEXT PRIMARY KEY, label TEXT NOT NULL, identity TEXT NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE archive_session(
            id TEXT PRIMARY KEY, scope TEXT NOT NULL, cwd TEXT, branch TEXT, started_at REAL
        ) WITHOUT ROWID;

        CREATE TABLE message(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uid TEXT NOT NULL UNIQUE,
            session_id TEXT NOT NULL REFERENCES archive_session(id),
            agent_id TEXT,
            scope TEXT NOT NULL,
            role TEXT NOT NULL,
            command TEXT,
            text TEXT NOT NULL,
            cjk TEXT,
            at REAL,
            withheld TEXT,
            source_id INTEGER NOT NULL,
            offset INTEGER NOT NULL
        );
        CREATE INDEX message_by_session ON message(session_id, id);

        CREATE TABLE archive_door(name TEXT NOT NULL);
        CREATE TABLE archive_door_record(
            at REAL NOT NULL, name TEXT NOT NULL, messages INTEGER NOT NULL, memories INTEGER NOT NULL
        );
        CREATE TABLE forgotten(uid_digest BLOB PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
        CREATE TABLE forgotten_text(words INTEGER NOT NULL, digest BLOB NOT NULL, until REAL NOT NULL);
        CREATE TABLE unfinished_forget(since REAL NOT NULL);

        CREATE TRIGGER message_no_update BEFORE UPDATE ON message WHEN NOT EXISTS (SELECT 1 FROM archive_door)
        BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
        CREATE TRIGGER message_no_delete BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM archive_door)
        BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
        CREATE TRIGGER archive_session_no_update BEFORE UPDATE ON archive_session
        WHEN NOT EXISTS (SELECT 1 FROM archive_door) BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
        CREATE TRIGGER archive_session_no_delete BEFORE DELETE ON archive_session
        WHEN NOT EXISTS (SELECT 1 FROM archive_door) BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END;
        """
    )
    _keyword_index(db, "message_plain", "message", "porter unicode61 remove_diacritics 2")
    _sync_index(db, "message_plain", *_OF_ALL)


def m003_pipeline(db: apsw.Connection) -> None:
    """Where ingestion stands: one watermark a file, one a session."""
    db.execute(
        """
        CREATE TABLE ingest_source(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL UNIQUE,
            size INTEGER NOT NULL DEFAULT 0,
            mtime_ns INTEGER NOT NULL DEFAULT 0,
            offset INTEGER NOT NULL DEFAULT 0,
            digest BLOB,
            bad_lines INTEGER NOT NULL DEFAULT 0,
            attempts INTEGER NOT NULL DEFAULT 0,
            error TEXT,
            updated_at REAL NOT NULL
        );
        CREATE TABLE ingest_session(
            session_id TEXT PRIMARY KEY, distilled_to INTEGER NOT NULL DEFAULT 0, distilled_at REAL
        ) WITHOUT ROWID;
        """
    )


def m004_nights(db: apsw.Connection) -> None:
    """What was shown and used of each memory, and the nights in which a job changed memories by itself."""
    db.execute(
        """
        CREATE TABLE memory_use(
            memory_id INTEGER PRIMARY KEY REFERENCES memory(id) ON DELETE CASCADE,
            shown INTEGER NOT NULL DEFAULT 0,
            used INTEGER NOT NULL DEFAULT 0,
            last_shown REAL,
            last_used REAL
        );
        CREATE TABLE folded_spool(name TEXT PRIMARY KEY) WITHOUT ROWID;

        CREATE TABLE rebuilt(journal_end INTEGER NOT NULL);

        CREATE TABLE night(id INTEGER PRIMARY KEY AUTOINCREMENT, began_at REAL NOT NULL);
        ALTER TABLE journal ADD COLUMN night INTEGER REFERENCES night(id);
        CREATE INDEX journal_by_night ON journal(night) WHERE night IS NOT NULL;
        """
    )


def m005_episodes(db: apsw.Connection) -> None:
    """Stretches of a session as one row for the words, and the archive by meaning. All of it derived from `message`.

    An existing archive is taken in afterwards, in portions (store/episodes.py): a migration may not take minutes.
    """
    db.execute(
        """
        CREATE TABLE episode(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session_id TEXT NOT NULL,
            agent_id TEXT,
            scope TEXT NOT NULL,
            first_id INTEGER NOT NULL,
            last_id INTEGER NOT NULL,
            size INTEGER NOT NULL
        );
        CREATE INDEX episode_by_session ON episode(session_id, first_id);
        CREATE INDEX episode_by_end ON episode(last_id);
        CREATE INDEX message_withheld ON message(id) WHERE withheld IS NOT NULL;

        CREATE VIEW episode_text AS SELECT id, scope,
            (SELECT group_concat(text || coalesce(char(10) || cjk, ''), char(10) ORDER BY m.id) FROM message m
             WHERE m.session_id = e.session_id AND m.id BETWEEN e.first_id AND e.last_id AND m.agent_id IS e.agent_id
             AND m.scope = e.scope AND m.withheld IS NULL AND m.role = 'user') AS user,
            (SELECT group_concat(text || coalesce(char(10) || cjk, ''), char(10) ORDER BY m.id) FROM message m
             WHERE m.session_id = e.session_id AND m.id BETWEEN e.first_id AND e.last_id AND m.agent_id IS e.agent_id
             AND m.scope = e.scope AND m.withheld IS NULL AND m.role <> 'user') AS other
        FROM episode e;

        CREATE VIRTUAL TABLE episode_plain USING fts5(user, other, scope, content='episode_text', content_rowid='id',
            tokenize='porter unicode61 remove_diacritics 2');
        INSERT INTO episode_plain(episode_plain, rank) VALUES ('secure-delete', 1);

        CREATE TABLE archive_model(
            id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL,
            lowest INTEGER NOT NULL, highest INTEGER NOT NULL
        );
        CREATE TABLE message_chunk(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            message_id INTEGER NOT NULL,
            model_id INTEGER NOT NULL REFERENCES archive_model(id)
        );
        CREATE INDEX message_chunk_by_message ON message_chunk(message_id);
        """
    )
    _sync_episodes(db)


def m006_frequencies(db: apsw.Connection) -> None:
    """How many messages hold each common word, and how many each project has, as of the last count."""
    db.execute(
        """
        CREATE TABLE archive_word(word TEXT PRIMARY KEY, messages INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE archive_counted(
            scope TEXT PRIMARY KEY, messages INTEGER NOT NULL, newest INTEGER NOT NULL
        ) WITHOUT ROWID;
        """
    )


def m007_message_times(db: apsw.Connection) -> None:
    """Messages by when they were said, for questions that name a time."""
    db.execute("CREATE INDEX message_by_time ON message(at)")


def m008_compact_vectors(db: apsw.Connection) -> None:
    """Messages' vectors as codes and bytes (store/compact.py); those that were float32 in vec0 tables move over."""
    db.execute(
        """
        CREATE TABLE message_vector(id INTEGER PRIMARY KEY, message_id INTEGER NOT NULL, vector BLOB NOT NULL);
        CREATE INDEX message_vector_by_message ON message_vector(message_id);
        -- The codes come last, so that what is before them is read without them.
        CREATE TABLE message_code(
            first INTEGER PRIMARY KEY, model_id INTEGER NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL,
            room INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0, codes BLOB NOT NULL
        );
        CREATE INDEX message_code_by_place ON message_code(model_id, kind, scope, first);
        """
    )
    from hippo_core.store.moved_vectors import move_message_vectors

    for model, size in db.execute("SELECT id, 4 * dimension FROM archive_model").fetchall():
        if not move_message_vectors(db, model, size):
            db.execute("DELETE FROM archive_model WHERE id = ?", (model,))
    db.execute("DROP TABLE message_chunk")


def m009_whole_files(db: apsw.Connection) -> None:
    """A file's digest is of all that was read of it. Older ones, of a file's two ends, say nothing about that."""
    if db.execute("SELECT 1 FROM pragma_table_info('ingest_source') WHERE name = 'head_digest'").fetchone():
        # Only where a store has it: to rename, SQLite goes through the whole schema, half of the time to make a store.
        db.execute("ALTER TABLE ingest_source RENAME COLUMN head_digest TO digest")
    db.execute("ALTER TABLE ingest_source ADD COLUMN identity TEXT")
    db.execute("UPDATE ingest_source SET digest = NULL")


def m010_few_segments(db: apsw.Connection) -> None:
    """Each new memory is a segment of its own in their indexes, and each word of a query is looked up in all segments:
    any two of a size become one at once, where up to fifteen waited for a sixteenth."""
    for index in ("memory_exact", "memory_plain"):
        db.execute(f"INSERT INTO {index}({index}, rank) VALUES ('crisismerge', 2)")


def m011_rest_of_replies(db: apsw.Connection) -> None:
    """Of which messages the rest is embedded as well, not the beginning alone (store/message_vectors.py)."""
    db.execute("ALTER TABLE archive_model ADD COLUMN rest_lowest INTEGER")
    db.execute("ALTER TABLE archive_model ADD COLUMN rest_highest INTEGER")


def m012_sketches(db: apsw.Connection) -> None:
    """Memories' vectors with their sketches beside them (store/vec0.py); 100,000 take some 2 s.

    Where they cannot be moved, because sqlite-vec or NumPy is missing here, the memories become due for new ones.
    """
    from hippo_core.store.moved_vectors import drop_vec0, sketch_memory_vectors

    models = db.execute("SELECT id, dimension FROM embedding_model").fetchall()
    movable = models and importlib.util.find_spec("numpy") is not None and load_vectors(db)
    for model, dimension in models:
        table = f"memory_vector_{model}"
        if movable:
            sketch_memory_vectors(db, table, dimension)
        else:
            drop_vec0(db, table)
            db.execute("DELETE FROM memory_chunk WHERE model_id = ?", (model,))
            db.execute("DELETE FROM embedding_model WHERE id = ?", (model,))


def m013_nothing_left_behind(db: apsw.Connection) -> None:
    """Triggers that write out what an index lets go before it takes anew (`_flush`), and episodes to be indexed again.

    What was left behind before is hidden, from the check of the index as well, until its row is changed once more. Only
    episodes are changed in the usual course. They are taken in afterwards, in portions, as by m005.
    """
    for index, of in (("memory_exact", _OF_ACTIVE), ("memory_plain", _OF_ACTIVE), ("message_plain", _OF_ALL)):
        db.execute(f"DROP TRIGGER {index}_update")
        _sync_updates(db, index, *of)
    for name in _EPISODE_TRIGGERS:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("INSERT INTO episode_plain(episode_plain) VALUES ('delete-all')")
    db.execute("DELETE FROM episode")
    _sync_episodes(db)


MIGRATIONS: tuple[Migration, ...] = (
    m001_curated,
    m002_archive,
    m003_pipeline,
    m004_nights,
    m005_episodes,
    m006_frequencies,
    m007_message_times,
    m008_compact_vectors,
    m009_whole_files,
    m010_few_segments,
    m011_rest_of_replies,
    m012_sketches,
    m013_nothing_left_behind,
)
NEWEST = len(MIGRATIONS)


def _keyword_index(db: apsw.Connection, name: str, content: str, tokenizer: str) -> None:
    """An FTS5 index over (text, cjk, scope) of `content`, which forgets for real and does not rank by scope."""
    db.execute(
        f"CREATE VIRTUAL TABLE {name} USING fts5(text, cjk, scope, content='{content}', content_rowid='id', "
        f"tokenize='{tokenizer}')"
    )
    db.execute(f"INSERT INTO {name}({name}, rank) VALUES ('secure-delete', 1)")
    db.execute(f"INSERT INTO {name}({name}, rank) VALUES ('rank', 'bm25(1.0, 1.0, 0.0)')")


def _sync_index(db: apsw.Connection, index: str, table: str, columns: str, condition: str) -> None:
    """Triggers that keep `index` equal to the rows of `table` that meet `condition` ({row} is the row)."""
    take, let_go = _take(index, condition), _let_go(index, condition)
    db.execute(f"CREATE TRIGGER {index}_insert AFTER INSERT ON {table} BEGIN {take}; END")
    db.execute(f"CREATE TRIGGER {index}_delete AFTER DELETE ON {table} BEGIN {let_go}; END")
    _sync_updates(db, index, table, columns, condition)


def _sync_updates(db: apsw.Connection, index: str, table: str, columns: str, condition: str) -> None:
    """One trigger, because the order of two is not defined and an index must let go before it takes."""
    actions = "; ".join([_let_go(index, condition), _flush(index), _take(index, condition)])
    db.execute(f"CREATE TRIGGER {index}_update AFTER UPDATE OF {columns} ON {table} BEGIN {actions}; END")


def _take(index: str, condition: str) -> str:
    return (
        f"INSERT INTO {index}(rowid, text, cjk, scope) "
        f"SELECT new.id, new.text, new.cjk, new.scope WHERE {condition.format(row='new')}"
    )


def _let_go(index: str, condition: str) -> str:
    return (
        f"INSERT INTO {index}({index}, rowid, text, cjk, scope) "
        f"SELECT 'delete', old.id, old.text, old.cjk, old.scope WHERE {condition.format(row='old')}"
    )


def _flush(index: str) -> str:
    """Write out what `index` has let go. A row's entry for a word is let go and taken at once otherwise, and where the
    word is there 128 to 191 times, or 256 to 319, SQLite (3.50 to 3.54) takes one for the other and keeps both.
    """
    return f"INSERT INTO {index}({index}) VALUES ('flush')"


_EPISODE_TRIGGERS = (
    *("episode_added", "episode_grows", "episode_grew", "episode_goes"),
    *("episode_loses", "episode_lost", "episode_changes", "episode_changed"),
)


def _sync_episodes(db: apsw.Connection) -> None:
    """Triggers that keep the episodes' index equal to what their messages say, whatever changes either.

    The text is a view, so an entry is dropped before the change, while the view still gives what was indexed.
    """
    holding = (
        "(SELECT id FROM episode WHERE session_id = old.session_id AND agent_id IS old.agent_id "
        "AND scope = old.scope AND old.id BETWEEN first_id AND last_id)"
    )

    def drop(episode: str) -> str:
        return (
            "INSERT INTO episode_plain(episode_plain, rowid, user, other, scope) "
            f"SELECT 'delete', id, user, other, scope FROM episode_text WHERE id = {episode}"
        )

    def add(episode: str) -> str:
        return (
            "INSERT INTO episode_plain(rowid, user, other, scope) "
            f"SELECT id, user, other, scope FROM episode_text WHERE id = {episode}"
        )

    message, flush = "text, cjk, withheld, role", _flush("episode_plain")
    actions = (
        ("AFTER INSERT ON episode", [add("new.id")]),
        ("BEFORE UPDATE OF last_id ON episode", [drop("old.id"), flush]),
        ("AFTER UPDATE OF last_id ON episode", [add("new.id")]),
        ("BEFORE DELETE ON episode", [drop("old.id")]),
        ("BEFORE DELETE ON message", [drop(holding), flush]),
        ("AFTER DELETE ON message", [add(holding)]),
        (f"BEFORE UPDATE OF {message} ON message", [drop(holding), flush]),
        (f"AFTER UPDATE OF {message} ON message", [add(holding)]),
    )
    for name, (event, statements) in zip(_EPISODE_TRIGGERS, actions, strict=True):
        db.execute(f"CREATE TRIGGER {name} {event} BEGIN {'; '.join(statements)}; END")
