"""The credit that memories get for the outcomes of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.adapters.relational.clauses import seen_by
from remembrancer.adapters.relational.memories import adjust_one, log, next_change, seen
from remembrancer.adapters.relational.rows import CREDITS, EXPOSURES
from remembrancer.domain.strength import Adjustment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.outcome import Credit
    from remembrancer.domain.scope import Reader
    from remembrancer.ports.outcomes import Judge


def add_credits(
    connection: Connection, reader: Reader, outcome: UUID, ids: Sequence[UUID], judge: Judge, *, at: datetime
) -> tuple[tuple[Credit, ...], bool]:
    # Takes the workspace's change number first: of two transactions with one outcome, the second sees the first's.
    number = next_change(connection, reader.scope.workspace)
    known = CREDITS.all(
        connection,
        "credits c JOIN memories m ON m.n = c.memory WHERE c.workspace = ? AND c.outcome = ? ORDER BY m.id",
        (reader.scope.workspace, outcome.bytes),
    )
    if known:
        return known, False
    added: list[Credit] = []
    found = seen(connection, reader, ids)
    for memory in (found[identifier] for identifier in sorted(found)):
        judged = judge(memory)
        adjustment = Adjustment(judged.strength)
        adjust_one(connection, reader.scope, memory, lambda _, made=adjustment: made, at, number)
        log(connection, reader.scope, "credits", CREDITS, [judged.credit])
        log(connection, reader.scope, "exposures", EXPOSURES, [] if judged.exposed is None else [judged.exposed])
        added.append(judged.credit)
    return tuple(added), True


def credits(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Credit, ...]:  # noqa: A001  as the port names it
    memory, reported = seen_by(reader, "m", visibility=True), seen_by(reader, "c", visibility=False)
    return CREDITS.all(
        connection,
        f"credits c JOIN memories m ON m.n = c.memory WHERE {memory.sql} AND {reported.sql} AND m.id = ?"
        " ORDER BY c.at, c.outcome",
        (*memory.bindings, *reported.bindings, memory_id.bytes),
    )
