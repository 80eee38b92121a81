"""Export and import of every row of a workspace, and backups of a whole store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from remembrancer.domain.scope import Scope

ExportRow = dict[str, JsonValue]
"""One row of an export: a JSON object. Its "record" field names the kind of row."""


OnPages = Callable[[int, int], None]
"""Called with the number of parts (pages of a file) copied so far, and of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """The file of a backup: its path, how many rows it holds, of all workspaces, and its size. `sealed`: each row is
    encrypted under a key of its own, which an erasure destroys.
    """

    path: str
    rows: int
    bytes: int
    sealed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The restored store. `set_aside`: the new path of the store that was there before; None if there was none.
    `unreadable`: the rows of a sealed backup whose keys erasures have destroyed, with the rows that refer to them.
    """

    path: str
    rows: int
    bytes: int
    set_aside: str | None
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionStatus:
    """Whether a store's file is encrypted. `cipher`: None if it is not. `plain_copies`: the names of copies beside it,
    made by migrations and restorations, which are not encrypted.
    """

    path: str
    cipher: str | None
    plain_copies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionReport(EncryptionStatus):
    """A store that was written anew, and its size."""

    rows: int
    bytes: int


OnMoved = Callable[[str, int, int], None]
"""Called with the phase of a move ("copying", "verifying"), the number of its rows done so far, and of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRows:
    """The rows of one table and workspace in both databases: how many, and the SHA-256 of their contents."""

    table: str
    workspace: str
    rows: int
    digest: str
    target_rows: int
    target_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveReport:
    """A move of a whole store into another database. `rows`: of the source's snapshot; `copied_rows`, `removed_rows`:
    by this run, in a dry run those that would be.

    `tables`: empty in a dry run. `difference`: the first one, by table and key; "" if there is none. `written`: the
    tables of the source that were written to since the snapshot; `written_memories`: how many memories.
    """

    source: str
    target: str
    rows: int
    copied_rows: int
    removed_rows: int
    tables: tuple[MovedRows, ...]
    difference: str
    written: tuple[str, ...]
    written_memories: int

    @property
    def is_whole(self) -> bool:
        """Whether the target has every row of the source as it is now."""
        return not self.difference and not self.written


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """A question to compare two stores by. `scope`: who asks. `recall_id`: of its kept answer, if there is one."""

    scope: Scope
    query: str
    recall_id: UUID | None = None


class Transfer(Protocol):
    """Exports and imports every row of a workspace, and backs up the whole store."""

    def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        """Every row of the workspace. The order depends only on the rows."""
        ...

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        """Write exported rows into this workspace, in one transaction; returns how many were new.

        Existing rows are not changed, except a memory that the rows have in a later form: at a later revision, or
        written later (`MemoryRecord`). If the older form is an earlier state of the newer one, as in two exports of one
        workspace, the memory and its past are the same afterwards whichever is imported first; else the form that is
        here stays. Rows of one kind may come in any order.

        `rows` is consumed once, inside the transaction. A dry run counts and rolls back. Raises InvalidInput or
        Conflict for a row that cannot be written; nothing is written then.
        """
        ...

    async def backup(self, path: Path, *, on_pages: OnPages | None = None) -> BackupReport:
        """Write one state of the whole store, with all workspaces, to a new file, and check that it is equal.

        The store stays open for readers and writers. Raises InvalidInput if the file exists, StoreUnavailable if it
        cannot be written, Unsupported if the store has no backups of its own.
        """
        ...
