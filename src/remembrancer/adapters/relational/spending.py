"""The log of calls to language models, and what they cost."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.columns import TIME, Codec, Column, Columns, columns, insert_into, one_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.domain.instants import micros
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import ModelCall, Outcome, Spent

_MICROSECOND: Final = timedelta(microseconds=1)


def _micros_of(span: timedelta) -> int:
    return span // _MICROSECOND


_CALLS: Final = Columns[ModelCall](
    "c",
    ModelCall,
    (
        Column("at", TIME),
        *columns("purpose model"),
        Column("outcome", one_of(Outcome)),
        *columns("requests input_tokens output_tokens"),
        Column("took", Codec(_micros_of)),
        *columns("cost error"),
    ),
)


def log_call(connection: Connection, scope: Scope, call: ModelCall) -> None:
    connection.execute(
        insert_into("model_calls", ("workspace", *_CALLS.names)), (scope.workspace, *_CALLS.bindings(call))
    )


def spending(connection: Connection, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
    where = Where()
    where.add("workspace = ?", scope.workspace)
    if since is not None:
        where.add("at >= ?", micros(since))
    rows = connection.execute(
        "SELECT purpose, model, count(*), sum(CASE WHEN outcome <> ? THEN 1 ELSE 0 END), sum(requests),"
        " sum(input_tokens), sum(output_tokens), coalesce(sum(cost), 0.0), count(*) - count(cost) FROM model_calls"
        f" WHERE {where.sql} GROUP BY purpose, model ORDER BY purpose, model",
        (Outcome.ANSWERED, *where.bindings),
    )
    return tuple(
        Spent(
            purpose=purpose,
            model=model,
            calls=calls,
            failed=failed,
            requests=requests,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost=cost,
            unpriced=unpriced,
        )
        for purpose, model, calls, failed, requests, input_tokens, output_tokens, cost, unpriced in rows
    )
