"""The last run of each job, the items that wait to be retried, and the ledger of model calls."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.columns import TIME, Codec, Column, Columns, columns, insert_into, one_of, put_row
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.embeddings import wait_after
from remembrancer.domain.instants import micros
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import ModelCall, Outcome, Spent
from remembrancer.ports.jobs import MAX_ERROR_CHARS

_RUNS: Final = Columns[Run](
    "r",
    Run,
    (
        Column("job"),
        *columns("started_at ended_at", TIME),
        *columns("done failed"),
        Column("remaining", path="left"),
        *columns("reason error"),
    ),
)
_DEFERRALS: Final = Columns[Deferral](
    "d", Deferral, (*columns("job item attempts"), Column("retry_at", TIME), Column("error"))
)


def put_run(connection: Connection, scope: Scope, run: Run) -> None:
    put_row(connection, "runs", ("workspace", "job"), _RUNS.names[1:], (scope.workspace, *_RUNS.bindings(run)))


def runs(connection: Connection, scope: Scope) -> dict[str, Run]:
    rows = connection.execute(
        f"SELECT {_RUNS.select} FROM runs r WHERE r.workspace = ? ORDER BY r.job", (scope.workspace,)
    )
    return {run.job: run for run in map(_RUNS.value_of, rows)}


def defer(connection: Connection, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
    failed: int | None = connection.execute(
        "SELECT attempts FROM deferrals WHERE workspace = ? AND job = ? AND item = ?", (scope.workspace, job, item)
    ).get
    attempts = 1 if failed is None else failed + 1
    deferral = Deferral(
        job=job, item=item, attempts=attempts, retry_at=now + wait_after(attempts), error=error[:MAX_ERROR_CHARS]
    )
    put_row(
        connection,
        "deferrals",
        ("workspace", "job", "item"),
        _DEFERRALS.names[2:],
        (scope.workspace, *_DEFERRALS.bindings(deferral)),
    )
    return deferral


def settle(connection: Connection, scope: Scope, job: str, items: Sequence[str]) -> None:
    connection.executemany(
        "DELETE FROM deferrals WHERE workspace = ? AND job = ? AND item = ?",
        [(scope.workspace, job, item) for item in items],
    )


def deferrals(connection: Connection, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
    where = Where()
    where.add("d.workspace = ?", scope.workspace)
    if job is not None:
        where.add("d.job = ?", job)
    return _DEFERRALS.all(
        connection, f"deferrals d WHERE {where.sql} ORDER BY d.retry_at, d.job, d.item", where.bindings
    )


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
