"""`rem.retention`: rules for how long rows may live, and legal holds."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Unpack

from remembrancer import engine
from remembrancer.domain.erasure import RowParts
from remembrancer.facade.view import Identifier, View, one_listed

if TYPE_CHECKING:
    from remembrancer.domain.retention import LegalHold, RetentionRule
    from remembrancer.engine.retain import DueRows


class AsyncRetentionApi(View):
    """Sets how long rows may live, and places legal holds. Both are of the whole workspace."""

    async def add(self, after: timedelta, **rows: Unpack[RowParts]) -> RetentionRule:
        """Add a rule: rows that match every part given are erased once they happened longer ago than `after` (an hour
        to a hundred years), with everything that quotes them or was derived from them, as `rem.erase` does.

        `kind`: that of memories, and the type of events. The job `retain` applies the rules once a day; `rem.maintain`
        applies them now, and `due` says to how many rows. Raises InvalidInput if no part is given.
        """
        return await engine.retain.add_rule(self._ctx, self._caller, after=after, **rows)

    async def rules(self) -> tuple[RetentionRule, ...]:
        """The rules of the workspace, oldest first."""
        return await self._ctx.store.rules(self._scope)

    async def remove(self, rule_id: Identifier) -> RetentionRule:
        """Remove the rule with the id `rule_id`, and return it. What it erased stays erased. Raises NotFound."""
        chosen = one_listed("rule_id", rule_id, "retention rule", (rule.id for rule in await self.rules()))
        return await self._ctx.store.drop_rule(self._scope, chosen)

    async def due(self) -> tuple[DueRows, ...]:
        """The rows past the time of each rule, which the next run of the job `retain` erases, except those on hold.
        Writes nothing.
        """
        return await engine.retain.due(self._ctx, self._scope)

    async def hold(self, reason: str, **rows: Unpack[RowParts]) -> LegalHold:
        """Place a legal hold on the rows that match every part given: until it is released, they are neither erased,
        by a person or a rule, nor moved into the archive. It also holds rows that are recorded later.

        `reason`: up to 300 characters, such as the number of a case. Raises InvalidInput if no part is given.
        """
        return await engine.retain.place_hold(self._ctx, self._caller, reason=reason, **rows)

    async def holds(self) -> tuple[LegalHold, ...]:
        """The legal holds of the workspace, also released ones, newest first."""
        return await self._ctx.store.holds(self._scope)

    async def release(self, hold_id: Identifier) -> LegalHold:
        """Release the hold with the id `hold_id`. It stays in the list; releasing it again changes nothing.

        Raises NotFound.
        """
        chosen = one_listed("hold_id", hold_id, "legal hold", (hold.id for hold in await self.holds()))
        return await self._ctx.store.release_hold(self._scope, chosen, at=self._ctx.clock())
