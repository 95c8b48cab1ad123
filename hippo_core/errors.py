"""Every error a user can meet. The message is one line: what happened, what it means, what to do.

The faces print it and exit with `exit_code`; hooks and jobs swallow it. Nothing here knows who raises what.
"""


class HippoError(Exception):
    """Base of all errors that are part of the product."""

    exit_code = 1


class UsageError(HippoError):
    """The request itself cannot be carried out as it was put."""

    exit_code = 2


class StoreError(HippoError):
    """The store cannot serve this request."""


class StoreMissingError(StoreError):
    """There is no store at that path."""


class StoreLockedError(StoreError):
    """Another process held the store for longer than the busy timeout."""


class StoreCorruptError(StoreError):
    """The file is damaged, or is no SQLite database."""


class StoreForeignError(StoreError):
    """The file is a database of another program."""


class StoreTooNewError(StoreError):
    """The file was written by a newer version."""


class StoreFullError(StoreError):
    """The disk is full."""


class StoreUnavailableError(StoreError):
    """The file cannot be opened, read or written."""


class BusyError(HippoError):
    """Another process does the same job right now."""


class TranscriptError(HippoError):
    """A transcript file cannot be read."""


class VectorsUnavailableError(HippoError):
    """The vector extension or the embedding model cannot be used here."""


class RerankerUnavailableError(HippoError):
    """The candidates cannot be ranked again; the order stays as it was."""


class NotFoundError(HippoError):
    """No memory or message has that id."""


class VersionConflictError(HippoError):
    """The memory changed since it was read; read it again."""


class FrozenMemoryError(HippoError):
    """A machine tried to change a memory that a human wrote."""


class RefusedError(HippoError):
    """The guard does not let this text become a memory."""


class SnapshotError(HippoError):
    """The repository of the snapshots cannot be used."""


class ScheduleError(HippoError):
    """A scheduler of this machine does not take our jobs."""


class InstallError(HippoError):
    """The installation cannot go on."""


class OfflineError(InstallError):
    """Packages could not be fetched; what arrived is kept."""


class WheelMissingError(InstallError):
    """A package has no ready-made build for this Python and system."""
