"""apsw's errors to ours: one table, checked by a test to be complete."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import apsw

from remembrancer.errors import Conflict, RemembrancerError, StoreUnavailable, Unsupported

DAMAGED: Final = "the file is damaged or not a Remembrancer database; restore a backup or an export of it"

MEANINGS: Final[dict[type[apsw.Error], tuple[type[RemembrancerError], str]]] = {
    apsw.BusyError: (StoreUnavailable, "another process held the write lock for too long; try again"),
    apsw.LockedError: (StoreUnavailable, "another statement holds the table; try again"),
    apsw.CorruptError: (StoreUnavailable, DAMAGED),
    apsw.NotADBError: (StoreUnavailable, DAMAGED),
    apsw.FormatError: (StoreUnavailable, DAMAGED),
    apsw.FullError: (StoreUnavailable, "the disk (or the file's size limit) is full; nothing of this write was kept"),
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
    apsw.ConstraintError: (Conflict, "the row is already there, or one it needs is not"),
    apsw.TooBigError: (Unsupported, "the value is larger than SQLite takes"),
}
"""What a failure of the file or of other writers means to a caller.

Errors that only a defect in our own code can cause (SQL errors, misuse, wrong bindings, a closed cursor) are not here:
they surface as they are.
"""


_MISSING: Final = re.compile("no such (table|column)|has no column named|malformed database schema")
"""What SQLite says when our tables are no longer there as we made them."""


@contextmanager
def translated(path: str) -> Generator[None]:
    """Raise apsw's errors as ours, with the file's name; the original stays as the cause."""
    try:
        yield
    except apsw.Error as error:
        for kind, (ours, meaning) in MEANINGS.items():
            if isinstance(error, kind):
                raise ours(f"{path}: {meaning} ({error})") from error
        if _MISSING.search(str(error)):
            raise StoreUnavailable(f"{path}: {DAMAGED} ({error})") from error
        raise
    except UnicodeDecodeError as error:  # apsw's own, of a text that is no Unicode any more
        raise StoreUnavailable(f"{path}: {DAMAGED} ({error})") from error


UNREADABLE: Final = (ValueError, TypeError, ArithmeticError)
"""What making a value of a row raises when its bytes are not those that were written."""


def unreadable(error: Exception) -> apsw.CorruptError:
    return apsw.CorruptError(f"a row holds what was never written to it: {error}")


@contextmanager
def as_written() -> Generator[None]:
    """Around the making of values from rows. Raises apsw.CorruptError for a row that was never written so."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(error) from error
