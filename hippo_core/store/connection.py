"""The one connection factory: pragmas, busy timeout, the vector extension, file modes, and errors in plain words.

Opening looks before it touches: a file that is newer, foreign or damaged is refused while it is still read-only.
Knows nothing of tables.
"""

import contextlib
import errno
import importlib.util
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw

from hippo_core import errors
from hippo_core.paths import ensure_private

APPLICATION_ID = 0x48495050  # "HIPP", in the file's header
BUSY_TIMEOUT_MS = 5_000
_MAPPED = 0x7FFF0000  # bytes of the file that are read without copying; SQLite's limit
_LEAST_ROOM = 64 * 1024  # bytes; the index of the write-ahead log alone takes half of it


def connect(path: Path, newest_schema: int, *, readonly: bool = False, create: bool = True) -> apsw.Connection:
    """Open the store at `path`; raises the StoreError that says why it cannot.

    newest_schema: the highest schema version this program can read.
    """
    exists = path.exists() and path.stat().st_size > 0
    if not exists and (readonly or not create):
        raise errors.StoreMissingError(f"There is no memory store at {path}. Run: hippo ingest")
    with translated(path):
        if exists:
            _refuse_unreadable(path, newest_schema)
        else:
            _create_private(path)
        writing = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        db = _open_for_reading(path) if readonly else apsw.Connection(str(path), flags=writing)
        try:
            db.set_busy_timeout(BUSY_TIMEOUT_MS)
            # Else a statement is planned anew for each value that a comparison gets, which takes as long as to run it.
            db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            if readonly:
                db.pragma("query_only", True)
                db.pragma("mmap_size", mapped_by_readers(os.name))  # a writer would keep all that it ever touched
            else:
                _configure_writer(db)
        except BaseException:
            db.close()
            raise
    return db


def mapped_by_readers(system: str) -> int:
    """How many bytes of the file a reader may map, on a system as os.name has it.

    None on Windows, which shortens no file that anybody maps: what was forgotten would stay behind the store's end.
    """
    return 0 if system == "nt" else _MAPPED


def load_vectors(db: apsw.Connection) -> bool:
    """Load sqlite-vec into `db`; False where this platform has none, so that the caller can do without.

    The package is only looked up, not imported: importing it brings in NumPy.
    """
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return False
    try:
        db.enable_load_extension(True)
        try:
            db.load_extension(os.path.join(spec.submodule_search_locations[0], "vec0"))
        finally:
            db.enable_load_extension(False)
    except apsw.Error:
        return False
    return True


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, each saying what it means and what to do."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise errors.StoreLockedError(
            f"The store {path} is locked by another process. Nothing was lost; try again in a moment."
        ) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise errors.StoreCorruptError(
            f"The store {path} is damaged or is no database ({error}). It was left untouched; move it aside or restore "
            "a copy, then run: hippo ingest"
        ) from error
    except apsw.FullError as error:
        raise _full(path) from error
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        if _has_no_room(path):  # for the log's index, too, whose failure SQLite calls by another name
            raise _full(path) from error
        raise errors.StoreUnavailableError(
            f"The store {path} cannot be opened or written ({error}). Check that its folder exists and can be written."
        ) from error
    except OSError as error:  # also of a file that is written beside the store, when the store is already changed
        if error.errno == errno.ENOSPC:
            raise _full(path) from error
        raise errors.StoreUnavailableError(
            f"{error.filename or path} cannot be read or written ({error.strerror or error}). Nothing stored was lost; "
            "check that it is in its place and yours."
        ) from error


def _full(path: Path) -> errors.StoreFullError:
    return errors.StoreFullError(
        f"The disk that holds {path} is full. Nothing stored before was lost; free some space and run it again."
    )


def _has_no_room(path: Path) -> bool:
    try:
        import shutil  # brings the compressors along

        return shutil.disk_usage(path.parent).free < _LEAST_ROOM
    except OSError:
        return False


def _open_for_reading(path: Path) -> apsw.Connection:
    """A read-only connection, also where the folder cannot be written, so that no log's index can be made there.

    That is a store at rest: without a log, the file by itself is all there is, and nobody here can change it.
    """
    if not os.access(path.parent, os.W_OK) and not _has_log(path):
        uri = f"{path.absolute().as_uri()}?immutable=1"
        return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _refuse_unreadable(path: Path, newest_schema: int) -> None:
    """Raise for a file that is not ours, is newer than we are, or is no database; reads its header alone."""
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or header[:16] != b"SQLite format 3\0":
        raise errors.StoreCorruptError(
            f"{path} is damaged or is no SQLite database. It was left untouched; move it aside, then run: hippo ingest"
        )
    probe = _open_for_reading(path)
    try:
        probe.set_busy_timeout(BUSY_TIMEOUT_MS)
        application, version = probe.pragma("application_id"), probe.pragma("user_version")
        # A process that died while creating the file leaves an empty one, which is nobody's.
        empty = not application and not probe.execute("SELECT count(*) FROM sqlite_schema").get
    finally:
        probe.close()
    if application != APPLICATION_ID and not empty:
        raise errors.StoreForeignError(f"{path} is a database of another program. It was left untouched.")
    if version > newest_schema:
        raise too_new(path, version, newest_schema)


def too_new(path: Path, version: int, newest_schema: int) -> errors.StoreTooNewError:
    from hippo_core.record import installer

    return errors.StoreTooNewError(
        f"{path} was written by a newer Hippocampus (schema {version}, this one reads up to {newest_schema}). "
        f"It was left untouched; upgrade with: {installer()}"
    )


def _create_private(path: Path) -> None:
    ensure_private(path.parent)
    # SQLite gives the write-ahead log and its index the mode of the database.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _configure_writer(db: apsw.Connection) -> None:
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")  # with a write-ahead log: never corrupt, at worst the last commit is lost
    db.pragma("secure_delete", True)
    db.pragma("foreign_keys", True)
    filename = db.filename
    if os.name == "posix" and stat.S_IMODE(os.stat(filename).st_mode) & 0o077:
        os.chmod(filename, 0o600)
