"""Export and import of every row of a workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Protocol

from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


ExportRow = dict[str, JsonValue]
"""One row of an export: a JSON object whose "record" key names what it is."""


class Transfer(Protocol):
    """Gives every row of a workspace, and takes such rows in."""

    def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        """Every row of the workspace, in an order that depends on the rows alone."""
        ...

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        """Write rows of an export into this workspace, in one transaction. Rows already there are left alone.

        `rows` is read once, while the transaction is open. Returns how many were new; a dry run then undoes them.
        Raises InvalidInput or Conflict for a row that cannot be; nothing is written then.
        """
        ...
