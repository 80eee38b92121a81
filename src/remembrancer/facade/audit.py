"""`rem.audit`: who did what, when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.audit import AuditCheck, AuditHead
from remembrancer.errors import InvalidInput
from remembrancer.facade.view import View, listed, path_of

if TYPE_CHECKING:
    from remembrancer.engine.audit import AuditPage


class AsyncAuditApi(View):
    """The audit trail of the workspace: an entry for each change, in a chain of hashes that shows if entries were
    changed or removed.
    """

    async def list(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        actor: str | None = None,
        verb: str | None = None,
        row: UUID | str | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> AuditPage:
        """Entries, oldest first, one page at a time.

        `since`, `until`: entries of [since, until). `actor`: a principal (`process`, `key:ID`), or a name in the entry,
        such as an agent's. `verb`: the call, such as `erase` or `keys.create`, or the job. `row`: the id of a memory,
        an event, or any other row that the entry names. `after`: the `next` of the previous page, or the number of an
        entry. `limit`: 1 to 10,000. Raises InvalidInput.
        """
        where = engine.audit.AuditFilter(
            since=validation.optional_moment("since", since),
            until=validation.optional_moment("until", until),
            actor=validation.optional_name("actor", actor),
            verb=validation.optional_name("verb", verb),
            row=None if row is None else validation.identifier("row", row),
        )
        start = validation.whole("after", after, 0, 2**63 - 1)
        return await engine.audit.page(self._ctx, self._scope, where, after=start, limit=listed(limit))

    async def head(self) -> AuditHead:
        """The number and the hash of the last entry. Kept where nobody who can write to the store can change it, it
        lets `verify` detect a trail that was shortened or written anew.
        """
        return await self._ctx.store.trail_head(self._scope)

    async def verify(
        self, head: AuditHead | str | Iterable[AuditHead | str] = (), *, heads_file: str | Path | None = None
    ) -> AuditCheck:
        """Compute the whole chain again. `problem` of the result says what is wrong first, `broken_at` at which entry.

        `head`: one or several heads noted before, or texts SEQ:HASH; `heads_file`: a file with one a line. Without a
        head, a chain that was cut at its end, or computed again as a whole, is not detected. Raises InvalidInput.
        """
        given = [head] if isinstance(head, AuditHead | str) else list(validation.several("head", head))
        heads = [one if isinstance(one, AuditHead) else _head(one) for one in given]
        if heads_file is not None:
            heads += engine.audit.heads_in(path_of("heads_file", heads_file))
        return await engine.audit.check(self._ctx, self._scope, heads)

    async def export(self, path: str | Path) -> int:
        """Write the whole trail to a new file, a JSON object a line: `seq`, `entry` (the bytes that the hash covers),
        `hash`, and `names` by pseudonym. Returns the number of entries. Raises InvalidInput if the file exists.
        """
        return await engine.audit.export(self._ctx, self._scope, path_of("path", path))


def _head(value: object) -> AuditHead:
    if not isinstance(value, str):
        raise InvalidInput("head", value, "an AuditHead, or a text SEQ:HASH")
    return AuditHead.of(value)
