"""Rules for how long rows may live, and legal holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import ID, TIME, Codec, Column, Columns, columns, insert_into, one_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.domain.erasure import PARTS
from remembrancer.domain.event import Origin
from remembrancer.domain.instants import MICROSECOND, micros
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.scope import Scope
from remembrancer.errors import NotFound, OnHold

_PARTS: Final = (*columns(" ".join(part for part in PARTS if part != "origin")), Column("origin", one_of(Origin)))
_LENGTH: Final = Codec(lambda length: length // MICROSECOND, lambda value: timedelta(microseconds=value))
_RULES: Final = Columns[RetentionRule](
    "r",
    RetentionRule,
    (
        Column("id", ID),
        *_PARTS,
        Column("after", _LENGTH),
        Column("created_by", path="by"),
        Column("created_at", TIME),
    ),
)
_HOLDS: Final = Columns[LegalHold](
    "h",
    LegalHold,
    (
        Column("id", ID),
        *_PARTS,
        Column("reason"),
        Column("placed_by", path="by"),
        *columns("placed_at released_at", TIME),
    ),
)


def put_rule(connection: Connection, scope: Scope, rule: RetentionRule) -> None:
    connection.execute(
        insert_into("retention_rules", ("workspace", *_RULES.names)), (scope.workspace, *_RULES.bindings(rule))
    )


def rules(connection: Connection, scope: Scope) -> tuple[RetentionRule, ...]:
    return _RULES.all(connection, "retention_rules r WHERE workspace = ? ORDER BY created_at, id", (scope.workspace,))


def drop_rule(connection: Connection, scope: Scope, rule_id: UUID) -> RetentionRule:
    one = (scope.workspace, rule_id.bytes)
    rule = _RULES.first(connection, "retention_rules r WHERE workspace = ? AND id = ?", one)
    if rule is None:
        raise NotFound("retention rule", rule_id)
    connection.execute("DELETE FROM retention_rules WHERE workspace = ? AND id = ?", one)
    return rule


def put_hold(connection: Connection, scope: Scope, hold: LegalHold) -> None:
    connection.execute(
        insert_into("legal_holds", ("workspace", *_HOLDS.names)), (scope.workspace, *_HOLDS.bindings(hold))
    )


def holds(connection: Connection, scope: Scope) -> tuple[LegalHold, ...]:
    return _HOLDS.all(
        connection, "legal_holds h WHERE workspace = ? ORDER BY placed_at DESC, id DESC", (scope.workspace,)
    )


def release_hold(connection: Connection, scope: Scope, hold_id: UUID, *, at: datetime) -> LegalHold:
    one = (scope.workspace, hold_id.bytes)
    connection.execute(
        "UPDATE legal_holds SET released_at = ? WHERE workspace = ? AND id = ? AND released_at IS NULL",
        (micros(at), *one),
    )
    hold = _HOLDS.first(connection, "legal_holds h WHERE workspace = ? AND id = ?", one)
    if hold is None:
        raise NotFound("legal hold", hold_id)
    return hold


def held(table: str, alias: str) -> str:
    """The condition that a row of `memories`, `events` or `archive` is on hold."""
    names = {part: part for part in PARTS} | ({} if table == "memories" else {"kind": "type"})
    matching = " AND ".join(f"(h.{part} IS NULL OR h.{part} = {alias}.{column})" for part, column in names.items())
    return (
        f"EXISTS (SELECT 1 FROM legal_holds h WHERE h.workspace = {alias}.workspace AND h.released_at IS NULL"
        f" AND {matching})"
    )


def require_unheld(connection: Connection, table: str, numbers: Sequence[int]) -> None:
    """Raises OnHold if one of these rows is on hold."""
    dialect = connection.dialect
    found = connection.execute(
        f"SELECT id FROM {table} o WHERE {dialect.in_list('o.n')} AND {held(table, 'o')} ORDER BY id LIMIT 1",
        (dialect.listed(numbers),),
    ).fetchone()
    if found is not None:
        what = "memory" if table == "memories" else "event"
        raise OnHold(f"{what} {UUID(bytes=found[0])} is on legal hold; release the hold first")
