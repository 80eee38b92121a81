"""Memories to read as candidates: by their cues, by the turns around them, by time, phrase or terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where, found_by
from remembrancer.adapters.relational.columns import as_written, turn_of
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.past import Then
from remembrancer.domain.instants import micros
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.ports.changes import AROUND, NEVER, CueWords

SHARES: Final = 65_536
_SPREAD: Final = 40_503
"""Odd, and about `SHARES` times the golden ratio: neighbouring numbers fall into distant shares."""


def in_sample(one_in: int) -> str:
    """A condition for the memories `m` of a sample of one in `one_in`."""
    return f"m.n % {SHARES} * {_SPREAD} % {SHARES} < {max(SHARES // one_in, 1)}"


def count_changed(connection: Connection, scope: Scope, after: int) -> int:
    return connection.execute(
        "SELECT count(*) FROM memories WHERE workspace = ? AND change > ?", (scope.workspace, after)
    ).get


def memories_of(connection: Connection, scope: Scope, refs: Sequence[int], then: Then) -> list[UUID]:
    dialect = connection.dialect
    return _ids(
        connection,
        f"SELECT DISTINCT m.id FROM cues c {dialect.then_join} {then.memories()} ON m.n = c.memory AND {then.cues}"
        f" WHERE m.workspace = ? AND {dialect.in_list('c.n')}",
        (scope.workspace, dialect.listed(refs)),
    )


def passages(connection: Connection, reader: Reader, where: Filter, ids: Sequence[UUID], then: Then) -> list[CueWords]:
    kept = found_by(connection.dialect, reader, where)
    return _passages(
        connection,
        f"SELECT {_passage(kept)}, 0 FROM {then.memories()} JOIN cues c ON c.memory = m.n AND {then.cues}"
        f" LEFT JOIN events e ON e.n = c.event WHERE m.workspace = ? AND {connection.dialect.in_ids('m.id')}",
        (*kept.bindings, reader.scope.workspace, connection.dialect.ids(ids)),
    )


def around(connection: Connection, reader: Reader, where: Filter, ids: Sequence[UUID], then: Then) -> list[CueWords]:
    dialect = connection.dialect
    kept = found_by(dialect, reader, where)
    held = f"{then.memories()} ON m.n = c.memory AND {then.cues}"
    in_use = f"cues c WHERE {then.cues}" if then.at is None else f"cues c JOIN {held} WHERE TRUE"
    columns = ", ".join(f"e.{part}" for part in Scope.__slots__)
    same = {other: " AND ".join(f"{other}.{part} = t.{part}" for part in Scope.__slots__) for other in ("p", "o")}

    def last(beyond: str, order: str) -> str:
        """The place of the last of the turns in one direction; NULL if there are fewer."""
        return (
            f"(SELECT p.seq FROM events p WHERE {same['p']} AND p.seq {beyond} t.seq"
            f" AND EXISTS (SELECT 1 FROM {in_use} AND c.event = p.n)"
            f" ORDER BY p.seq {order} LIMIT 1 OFFSET {AROUND - 1})"
        )

    # Materialised, or PostgreSQL would look for the places anew for each turn of the stream.
    return _passages(
        connection,
        f"WITH said AS MATERIALIZED (SELECT DISTINCT {columns}, e.seq"
        f" FROM {then.memories()} JOIN cues c ON c.memory = m.n AND {then.cues} JOIN events e ON e.n = c.event"
        f" WHERE m.workspace = ? AND {dialect.in_ids('m.id')}),"
        f" places AS MATERIALIZED (SELECT t.*, coalesce({last('<', 'DESC')}, 0) AS low,"
        f" coalesce({last('>', 'ASC')}, {NEVER}) AS high FROM said t),"
        f" near AS MATERIALIZED (SELECT o.n, max(t.high) AS read_to FROM places t"
        f" JOIN events o ON {same['o']} AND o.seq BETWEEN t.low AND t.high GROUP BY o.n)"
        f" SELECT {_passage(kept)}, near.read_to FROM near"
        f" JOIN events e ON e.n = near.n JOIN cues c ON c.event = e.n JOIN {held}",
        (reader.scope.workspace, dialect.ids(ids), *kept.bindings),
    )


def newest(
    connection: Connection,
    reader: Reader,
    where: Filter,
    limit: int,
    spans: Sequence[tuple[datetime, datetime]],
    phrase: Sequence[str],
    then: Then,
) -> list[UUID]:
    conditions = found_by(connection.dialect, reader, where)
    cues = Where([f"c.memory = m.n AND {then.cues}"])
    if spans:
        happened = " OR ".join(["(m.occurred_to >= ? AND m.occurred_from < ?)"] * len(spans))
        conditions.add(happened, *(micros(moment) for span in spans for moment in span))
    if phrase:
        cues.add(f"c.n IN {connection.dialect.matches('cues')}", connection.dialect.phrase(phrase))
    conditions.add(f"EXISTS (SELECT 1 FROM cues c WHERE {cues.sql})", *cues.bindings)
    return _ids(
        connection,
        f"SELECT m.id FROM {then.memories()} WHERE {conditions.sql} ORDER BY m.occurred_to DESC, m.id LIMIT ?",
        (*conditions.bindings, limit),
    )


def with_terms(
    connection: Connection, reader: Reader, where: Filter, weights: Mapping[str, float], limit: int, then: Then
) -> list[UUID]:
    if not weights:
        return []
    dialect, join = connection.dialect, connection.dialect.then_join
    conditions = found_by(dialect, reader, where)
    having = f"SELECT f.n, CAST(? AS REAL) AS weight FROM {dialect.matches('cues')} f"
    words = [(weight, dialect.all_of((frozenset({term}),))) for term, weight in weights.items()]
    found = _ids(
        connection,
        f"SELECT m.id FROM (SELECT n, sum(weight) AS score FROM ({' UNION ALL '.join([having] * len(words))}) x"
        f" GROUP BY n) w {join} cues c ON c.n = w.n {join} {then.memories()} ON m.n = c.memory AND {then.cues}"
        f" WHERE {conditions.sql} ORDER BY w.score DESC, m.occurred_to DESC, m.id LIMIT ?",
        (*(binding for pair in words for binding in pair), *conditions.bindings, limit),
    )
    return list(dict.fromkeys(found))


def _passage(kept: Where) -> str:
    """The columns of `_passages` but the last, `read_to`: of the memory `m`, its cue `c` and the event `e`."""
    stream = ", ".join(f"e.{part}" for part in Scope.__slots__)
    return (
        f"m.id, m.occurred_to, CASE WHEN {kept.sql} THEN 1 ELSE 0 END, c.n, c.terms, c.length, {stream},"
        " e.seq, e.occurred_at, e.role, coalesce(e.actor, '')"
    )


def _passages(connection: Connection, statement: str, bindings: Sequence[Binding]) -> list[CueWords]:
    with as_written():
        return [
            CueWords(
                UUID(bytes=identifier),
                occurred_to,
                bool(is_kept),
                read_to,
                ref,
                terms,
                length,
                turn_of(*turn),
            )
            for identifier, occurred_to, is_kept, ref, terms, length, *turn, read_to in connection.execute(
                statement, bindings
            )
        ]


def _ids(connection: Connection, statement: str, bindings: Sequence[Binding]) -> list[UUID]:
    return [UUID(bytes=identifier) for (identifier,) in connection.execute(statement, bindings)]
