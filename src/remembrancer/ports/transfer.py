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
    """Exports every row of a workspace, and imports such rows."""

    def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        """Every row of the workspace, in an order that depends on the rows alone."""
        ...

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        """Write rows of an export into this workspace, in one transaction; returns how many were new.

        Rows that exist are left alone. `rows` is consumed once, while the transaction is open. A dry run counts and
        rolls back. Raises InvalidInput or Conflict for a row that cannot be written; nothing is written then.
        """
        ...
