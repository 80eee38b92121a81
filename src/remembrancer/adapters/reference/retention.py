"""Retention rules and legal holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, NotFound, OnHold


def put_rule(rows: Rows, scope: Scope, rule: RetentionRule) -> None:
    if rule.id in rows.rules:
        raise Conflict(f"there is a retention rule {rule.id}")
    rows.rules[rule.id] = rule


def rules(rows: Rows, scope: Scope) -> tuple[RetentionRule, ...]:
    return tuple(sorted(rows.rules.values(), key=lambda rule: (rule.created_at, rule.id)))


def drop_rule(rows: Rows, scope: Scope, rule_id: UUID) -> RetentionRule:
    if rule_id not in rows.rules:
        raise NotFound("retention rule", rule_id)
    return rows.rules.pop(rule_id)


def put_hold(rows: Rows, scope: Scope, hold: LegalHold) -> None:
    if hold.id in rows.holds:
        raise Conflict(f"there is a legal hold {hold.id}")
    rows.holds[hold.id] = hold


def holds(rows: Rows, scope: Scope) -> tuple[LegalHold, ...]:
    return tuple(sorted(rows.holds.values(), key=lambda hold: (hold.placed_at, hold.id), reverse=True))


def release_hold(rows: Rows, scope: Scope, hold_id: UUID, *, at: datetime) -> LegalHold:
    hold = rows.holds.get(hold_id)
    if hold is None:
        raise NotFound("legal hold", hold_id)
    if hold.released_at is None:
        rows.holds[hold_id] = replace(hold, released_at=at)
    return rows.holds[hold_id]


def is_held(rows: Rows, row: Event | Memory) -> bool:
    return any(hold.released_at is None and hold.matches(row) for hold in rows.holds.values())


def require_unheld(rows: Rows, going: Iterable[Event | Memory]) -> None:
    """Raises OnHold if one of these is on hold."""
    for row in going:
        if is_held(rows, row):
            what = "memory" if isinstance(row, Memory) else "event"
            raise OnHold(f"{what} {row.id} is on legal hold; release the hold first")
