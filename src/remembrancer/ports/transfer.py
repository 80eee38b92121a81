"""Export and import of every row of a workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Protocol

from remembrancer.domain.validation import JsonValue

if TYPE_CHECKING:
    from remembrancer.domain.scope import Scope

ExportRow = dict[str, JsonValue]
"""One row of an export: a JSON object. Its "record" field names the kind of row."""


class Transfer(Protocol):
    """Exports and imports every row of a workspace."""

    def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        """Every row of the workspace. The order depends only on the rows."""
        ...

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        """Write exported rows into this workspace, in one transaction; returns how many were new.

        Existing rows are not changed. `rows` is consumed once, inside the transaction. A dry run counts and rolls back.
        Raises InvalidInput or Conflict for a row that cannot be written; nothing is written then.
        """
        ...
