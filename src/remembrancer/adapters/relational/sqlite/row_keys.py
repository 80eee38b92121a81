"""The keys of rows in sealed backups: a small encrypted file beside the store, which no backup contains.

Each memory and each event has a key of its own, made when the row first gets into a sealed backup. An erasure destroys
the keys of the rows that it erases, so that older backups hold nothing of them that can be read.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw

from remembrancer.adapters.relational.connection import LOCK_TIMEOUT_S, Connection
from remembrancer.adapters.relational.sqlite import ciphers
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.errors import translated
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import StoreUnavailable
from remembrancer.ports.receipts import erasure_of

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection
    from remembrancer.domain.erasure import Erasure

SUFFIX: Final = ".keys"
KEY_BYTES: Final = 32
PATIENCE_S: Final = 5.0
"""The time in seconds that an erasure waits for a backup that is being sealed."""
_SCHEMA: Final = """
CREATE TABLE row_keys (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT NOT NULL, id BLOB NOT NULL,
  project TEXT NOT NULL, crew TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
  past INTEGER NOT NULL, key BLOB NOT NULL,
  UNIQUE (workspace, id, project, crew, agent, session, past)
);
PRAGMA application_id = 0x52454d4b; -- "REMK"
PRAGMA user_version = 1;
"""


class RowOwner(NamedTuple):
    """Whose key seals a row: that of a memory or an event by its id, as it is in this scope. `past`: 1 for what a
    memory said in earlier revisions, which an erasure may remove from a memory that stays.
    """

    workspace: str
    id: bytes
    project: str = ""
    crew: str = ""
    agent: str = ""
    session: str = ""
    past: int = 0


LOGS: Final = bytes(16)
"""In place of an id: the key of a workspace's logs, which may quote any row. Every erasure destroys it."""
STREAM: Final = b"stream"
"""In place of an id: the key of what is known of the stream of a scope."""
NAME: Final = b"name"
"""The beginning of an id whose end is the pseudonym of a name in the audit trail."""
BACKUPS: Final = RowOwner("", b"backups")
"""The owner of the key that encrypts the files of sealed backups as a whole."""


class RowKeys:
    """The open file of the keys."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    def of(self, owner: RowOwner) -> tuple[int, bytes]:
        """The number and the key of an owner, made if there is none yet."""
        found = self._connection.execute(
            "SELECT n, key FROM row_keys WHERE workspace = ? AND id = ? AND project = ? AND crew = ? AND agent = ?"
            " AND session = ? AND past = ?",
            owner,
        ).fetchone()
        if found is not None:
            return found[0], found[1]
        key = os.urandom(KEY_BYTES)
        number = self._connection.number_of(
            "INSERT INTO row_keys (workspace, id, project, crew, agent, session, past, key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*owner, key),
        )
        return number, key

    def numbered(self, number: int) -> bytes | None:
        """A key by its number; None if it was destroyed."""
        return self._connection.execute("SELECT key FROM row_keys WHERE n = ?", (number,)).get

    def destroy(self, workspace: str, erased: Iterable[Erasure]) -> None:
        """Destroy the keys of all rows that these erasures removed or changed, whatever their scope.

        Of an erased scope, also those of rows that the store does not have any more. Of another selection within a
        scope, those of all earlier revisions there: a receipt does not name the memories that lost theirs.
        """
        self._connection.execute("DELETE FROM row_keys WHERE workspace = ? AND id = ?", (workspace, LOGS))
        for one in erased:
            self._connection.executemany(
                "DELETE FROM row_keys WHERE workspace = ? AND id = ?",
                [(workspace, gone.bytes) for gone in (*one.memories, *one.derived, *one.events, *one.rebuilt)],
            )
            if one.asked.parts:
                scope = {part: value for part, value in one.asked.parts.items() if part in SCOPE_PARTS}
                is_whole = one.asked.before is None and scope.keys() == one.asked.parts.keys()
                where = " AND ".join(["workspace = ?", *(f"{part} = ?" for part in scope)])
                self._connection.execute(
                    f"DELETE FROM row_keys WHERE {where}{'' if is_whole else ' AND past = 1'}",
                    (workspace, *scope.values()),
                )

    def keep_names(self, workspace: str, pseudonyms: Iterable[bytes]) -> None:
        """Destroy the keys of the audit trail's names, but those of these pseudonyms."""
        kept = {NAME + one for one in pseudonyms}
        known = self._connection.execute(
            "SELECT id FROM row_keys WHERE workspace = ? AND substr(id, 1, ?) = ?", (workspace, len(NAME), NAME)
        )
        self._connection.executemany(
            "DELETE FROM row_keys WHERE workspace = ? AND id = ?",
            [(workspace, one) for (one,) in list(known) if one not in kept],
        )


def destroy_erased(connection: Connection, store: str, encryption: EncryptionKey) -> None:
    """Destroy the keys with which sealed backups hold the rows that were erased and not purged yet. Raises
    StoreUnavailable if that cannot be done now.
    """
    if not path_of(store).exists():
        return
    due = list(connection.execute("SELECT workspace, receipt FROM erasures WHERE purged_at IS NULL"))
    with opened(store, encryption, patience_s=PATIENCE_S) as keys:
        for workspace, receipt in due:
            keys.destroy(workspace, [erasure_of(receipt, purged_at=None)])
        for workspace in {workspace for workspace, _ in due}:
            names = connection.execute("SELECT pseudonym FROM audit_names WHERE workspace = ?", (workspace,))
            keys.keep_names(workspace, [pseudonym for (pseudonym,) in names])


def path_of(store: str) -> Path:
    return Path(f"{store}{SUFFIX}")


@contextmanager
def opened(
    store: str, encryption: EncryptionKey, *, create: bool = False, patience_s: float = LOCK_TIMEOUT_S
) -> Generator[RowKeys]:
    """The keys of a store, in one transaction, which keeps others waiting. Nothing is kept if the block raises.

    Raises StoreUnavailable if the file is missing, and not created; and for a wrong key.
    """
    path = path_of(store)
    with translated(str(path)):
        if create and not path.exists():
            _create(path, encryption)
        key = ciphers.file_key(str(path), encryption, str(path))
        if key is None:
            raise StoreUnavailable(
                f"{path}: is missing; it has the keys of sealed backups, which nobody can open without"
            )
        with closing(connect(str(path), create=False, key=key)) as connection:
            connection.wait_for_locks(patience_s)
            connection.pragma("synchronous", "EXTRA")
            connection.pragma("secure_delete", True)
            connection.execute("BEGIN IMMEDIATE")
            yield RowKeys(connection)
            connection.execute("COMMIT")


def _create(path: Path, encryption: EncryptionKey) -> None:
    partial = Path(f"{path}.{os.urandom(4).hex()}.partial")
    try:
        with closing(connect(str(partial), key=encryption.of_file(ciphers.new_salt()))) as connection:
            connection.pragma("synchronous", "EXTRA")
            connection.execute(_SCHEMA)
        ciphers.name_once(partial, path)
    except (OSError, apsw.CantOpenError) as error:
        raise StoreUnavailable(f"{path}: cannot be created ({error})") from error
    finally:
        partial.unlink(missing_ok=True)
