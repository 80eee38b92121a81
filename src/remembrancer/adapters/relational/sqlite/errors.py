"""Convert apsw's errors to errors of this package. A test checks that every SQLite error is covered."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import apsw

from remembrancer.errors import Conflict, RemembrancerError, StoreUnavailable, Unsupported
from remembrancer.ports.changes import UnreadableRow

DAMAGED: Final = "the file is damaged or not a Remembrancer database; restore a backup or an export of it"
WRONG_CHECKSUM: Final = "a page does not match its checksum: the disk altered it, or another program wrote to it"

MEANINGS: Final[dict[type[apsw.Error], tuple[type[RemembrancerError], str]]] = {
    apsw.BusyError: (StoreUnavailable, "another process held the write lock for too long; try again"),
    apsw.LockedError: (StoreUnavailable, "another statement holds the table; try again"),
    apsw.CorruptError: (StoreUnavailable, DAMAGED),
    apsw.NotADBError: (StoreUnavailable, DAMAGED),
    apsw.FormatError: (StoreUnavailable, DAMAGED),
    apsw.FullError: (StoreUnavailable, "the disk (or the file's size limit) is full; this write was rolled back"),
    apsw.ReadOnlyError: (StoreUnavailable, "the file or its folder is read-only"),
    apsw.CantOpenError: (StoreUnavailable, "the file cannot be opened: missing folder, or no permission"),
    apsw.PermissionsError: (StoreUnavailable, "no permission to open the file"),
    apsw.AuthError: (StoreUnavailable, "no permission for this statement"),
    apsw.IOError: (StoreUnavailable, "reading or writing the file failed"),
    apsw.NoLFSError: (StoreUnavailable, "the file is too large for this system"),
    apsw.NoMemError: (StoreUnavailable, "out of memory"),
    apsw.ProtocolError: (StoreUnavailable, "file locking does not work here (a network file system?)"),
    apsw.InterruptError: (StoreUnavailable, "the statement was interrupted"),
    apsw.AbortError: (StoreUnavailable, "the statement was aborted"),
    apsw.SchemaChangeError: (StoreUnavailable, "the schema changed under a statement; try again"),
    apsw.ConstraintError: (Conflict, "the row already exists, or a row it refers to does not"),
    apsw.TooBigError: (Unsupported, "the value exceeds SQLite's limit"),
}
"""The messages for failures of the file and conflicts with other writers, by SQLite's error code.

Errors that only a defect in this package can cause (SQL errors, misuse, wrong bindings, a closed cursor) are not in the
table and are raised unchanged.
"""


_MISSING: Final = re.compile("no such (table|column)|has no column named|malformed database schema")
"""SQLite's messages if the tables differ from this package's schema."""


def is_wrong_checksum(error: apsw.Error) -> bool:
    return isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA


@contextmanager
def translated(path: str) -> Generator[None]:
    """Raise SQLite's errors as this package's, with the file's name; the original is the cause."""
    try:
        yield
    except apsw.Error as error:
        if is_wrong_checksum(error):
            raise StoreUnavailable(f"{path}: {DAMAGED} ({WRONG_CHECKSUM})") from error
        for kind, (ours, meaning) in MEANINGS.items():
            if isinstance(error, kind):
                raise ours(f"{path}: {meaning} ({error})") from error
        if _MISSING.search(str(error)):
            raise StoreUnavailable(f"{path}: {DAMAGED} ({error})") from error
        raise
    except (UnreadableRow, UnicodeDecodeError) as error:  # UnicodeDecodeError: from apsw for other texts
        raise StoreUnavailable(f"{path}: {DAMAGED} ({error})") from error
