from __future__ import annotations

from typing import Any, cast

from remembrancer.adapters.sqlite import schema
from remembrancer.adapters.sqlite.connection import Connection, connect
from remembrancer.adapters.sqlite.health import vitals
from remembrancer.domain.query import Filter
from remembrancer.testing.doubles import NOW, READER


def plans_of_vitals(connection: Connection) -> list[str]:
    """How SQLite goes about each statement of `vitals`."""
    asked: list[tuple[str, Any]] = []

    def trace(_: object, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    tracing = cast("Any", connection)
    tracing.exec_trace = trace
    vitals(connection, READER, Filter(current_at=NOW), "model-a", NOW)
    tracing.exec_trace = None
    return [row[-1] for sql, bindings in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)]


def test_a_memory_s_edges_are_looked_up_and_not_searched_for_among_all_memories() -> None:
    connection = connect(":memory:")
    connection.execute(schema.schema_sql())
    at_the_other_end = [step for step in plans_of_vitals(connection) if step.startswith(("SEARCH o ", "SCAN o"))]
    assert at_the_other_end == ["SEARCH o USING INTEGER PRIMARY KEY (rowid=?)"] * 2
