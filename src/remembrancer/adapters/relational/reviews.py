"""Reviews of memories, and the exposures that wait for one."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.columns import add_row, as_written
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.lookup import of_memory
from remembrancer.adapters.relational.memories import change_state, next_change
from remembrancer.adapters.relational.rows import REVIEWS
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Exposure
from remembrancer.errors import Conflict

_LEAST: Final = -(2**63) + 1
"""Earlier than any time that can be stored."""
_FRESH: Final = (
    "FROM exposures x WHERE x.memory = {memory} AND x.kind = ?"
    f" AND x.at > coalesce((SELECT max(r.evidence_until) FROM reviews r WHERE r.memory = {{memory}}), {_LEAST})"
)
"""Exposures of a memory, of one kind, newer than the evidence of its last review."""

_EXPOSED: Final = (
    "WITH RECURSIVE exposed (n) AS (SELECT min(memory) FROM exposures"
    " UNION ALL SELECT (SELECT min(memory) FROM exposures WHERE memory > exposed.n) FROM exposed"
    " WHERE exposed.n IS NOT NULL)"
)
"""SQL for the memories that have exposures. It reads one index entry per memory, because some have thousands of
exposures.
"""


def unreviewed(connection: Connection, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
    fresh = _FRESH.format(memory="m.n")
    waiting = list(
        connection.execute(
            f"{_EXPOSED} SELECT n, id FROM (SELECT m.n, m.id, (SELECT min(x.at) {fresh}) AS first"
            f" FROM exposed {connection.dialect.then_join} memories m ON m.n = exposed.n"
            " WHERE m.workspace = ? AND m.status = 'active' AND m.superseded_by IS NULL) AS waiting"
            " WHERE first IS NOT NULL ORDER BY first, id LIMIT ?",
            (exposure, scope.workspace, limit),
        )
    )
    return tuple(_evidence(connection, number, UUID(bytes=identifier), exposure) for number, identifier in waiting)


def exposed_in(connection: Connection, stream: Scope, exposure: Exposure) -> tuple[UUID, ...]:
    rows = connection.execute(
        "SELECT DISTINCT m.id FROM exposures x JOIN memories m ON m.n = x.memory"
        # The second condition lets the database use the index, which leaves out exposures without a session.
        " WHERE x.session = ? AND x.session <> '' AND x.kind = ? AND x.project = ? AND x.crew = ? AND x.agent = ?"
        " AND m.workspace = ? ORDER BY m.id",
        (
            *(stream.session or "", exposure, stream.project or "", stream.crew or "", stream.agent or ""),
            stream.workspace,
        ),
    )
    return tuple(UUID(bytes=identifier) for (identifier,) in rows)


def reviews(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
    return of_memory(connection, reader, memory_id, REVIEWS, "reviews", "r.at")


def add_review(connection: Connection, scope: Scope, review: Review) -> None:
    """Log the review and give the memory its state. Raises Conflict if the memory has a review of that time."""
    number: int = connection.execute(
        "SELECT n FROM memories WHERE workspace = ? AND id = ?", (scope.workspace, review.memory_id.bytes)
    ).get
    if not add_row(connection, "reviews", ("memory", *REVIEWS.names), (number, *REVIEWS.bindings(review))):
        raise Conflict(f"memory {review.memory_id} has a review of {review.at} already")
    state = {"stability": review.stability, "difficulty": review.difficulty, "last_reviewed_at": micros(review.at)}
    change_state(connection, scope, review.memory_id, review.at, next_change(connection, scope.workspace), **state)


def _evidence(connection: Connection, number: int, memory_id: UUID, exposure: Exposure) -> Evidence:
    rows = list(
        connection.execute(
            f"SELECT x.at, x.query, x.session {_FRESH.format(memory='?')} ORDER BY x.at", (number, exposure, number)
        )
    )
    with as_written():
        return Evidence(
            memory_id=memory_id,
            at=tuple(moment(at) for at, _, _ in rows),
            queries=tuple(query for _, query, _ in rows),
            session=rows[-1][2] or None,
        )
