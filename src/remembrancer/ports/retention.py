"""Rules for how long rows may live, and legal holds."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.retention import LegalHold, RetentionRule
    from remembrancer.domain.scope import Scope


class RetentionRecords(Protocol):
    """Keeps the retention rules and the legal holds of a workspace. Neither is exported or counted."""

    async def put_rule(self, scope: Scope, rule: RetentionRule) -> None:
        """Store a new rule. Raises Conflict if the workspace has a rule with its id."""
        ...

    async def rules(self, scope: Scope) -> tuple[RetentionRule, ...]:
        """The rules of the workspace, oldest first."""
        ...

    async def drop_rule(self, scope: Scope, rule_id: UUID) -> RetentionRule:
        """Remove a rule and return it. Raises NotFound."""
        ...

    async def put_hold(self, scope: Scope, hold: LegalHold) -> None:
        """Store a new hold. From then on `Erasures.erase` raises OnHold for the rows that match it, and
        `Journal.archive` leaves them out. Raises Conflict if the workspace has a hold with its id.
        """
        ...

    async def holds(self, scope: Scope) -> tuple[LegalHold, ...]:
        """All holds of the workspace, also released ones, newest first."""
        ...

    async def release_hold(self, scope: Scope, hold_id: UUID, *, at: datetime) -> LegalHold:
        """Release a hold; a released one stays unchanged. Raises NotFound."""
        ...
