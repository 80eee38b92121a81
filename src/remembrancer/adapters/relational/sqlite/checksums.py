"""Checksums of pages, by SQLite's checksum VFS: each page is checked when it is read from the file.

The VFS is a loadable extension, which the wheels of apsw contain and builds of some distributions do not. A file with
checksums reserves 8 bytes at the end of each page. Programs without the VFS can read it; what they write is reported as
damage. See https://sqlite.org/cksumvfs.html.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection

_VFS: Final = "cksmvfs"
_EXTENSION: Final = Path(apsw.__file__).with_name("sqlite_extra_binaries") / "cksumvfs"
_RESERVED: Final = 8
"""Bytes at the end of each page; the VFS takes no other number."""
ABSENT: Final = "this build of apsw has no checksum VFS (cksumvfs); install apsw-sqlite3mc from PyPI"


@cache
def vfs() -> str | None:
    """The name of the checksum VFS, which the first call loads into this process; None if apsw has none."""
    loading = apsw.Connection(":memory:")
    try:
        loading.enable_load_extension(True)
        loading.load_extension(str(_EXTENSION))
    except (apsw.Error, AttributeError):  # AttributeError: SQLite was built without extensions
        return None
    finally:
        loading.close()
    return _VFS


def are_on(connection: SqliteConnection) -> bool:
    """Whether the pages of the file have checksums, and this connection checks them. False for an empty file."""
    connection.pragma("schema_version")  # the VFS looks at the first page when it is read
    return connection.pragma("checksum_verification") in {1, "1"}


def reserved(connection: SqliteConnection, room: int = -1) -> int:
    """The bytes reserved in each page. `room`: reserve so many in an empty file, or at its next VACUUM."""
    from ctypes import addressof, c_int  # noqa: PLC0415  for new files only

    value = c_int(room)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, addressof(value))
    return value.value


def turn_on(connection: SqliteConnection) -> None:
    """Have the pages of an empty file, or of one without checksums, end with them.

    A file that is not empty is written anew, which needs as much space again; nobody else may have it open. Another
    connection is to be opened afterwards: this one may not compute checksums yet.
    """
    if connection.pragma("page_count"):
        connection.pragma("journal_mode", "delete")  # fails with BusyError where another connection is open
        reserved(connection, _RESERVED)
        connection.execute("VACUUM")
    else:
        reserved(connection, _RESERVED)
