"""What jobs leave behind: their last runs, and what of their work waits to be tried again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.embeddings import wait_after
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.times import micros, moment
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.scope import Scope
from remembrancer.ports.jobs import MAX_ERROR_CHARS


def put_run(connection: Connection, scope: Scope, run: Run) -> None:
    connection.execute(
        "INSERT INTO runs (workspace, job, started_at, ended_at, done, failed, remaining, reason, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, job) DO UPDATE SET"
        " started_at = excluded.started_at, ended_at = excluded.ended_at, done = excluded.done,"
        " failed = excluded.failed, remaining = excluded.remaining, reason = excluded.reason, error = excluded.error",
        (
            scope.workspace,
            run.job,
            micros(run.started_at),
            micros(run.ended_at),
            run.done,
            run.failed,
            run.left,
            run.reason,
            run.error,
        ),
    )


def runs(connection: Connection, scope: Scope) -> dict[str, Run]:
    rows = connection.execute(
        "SELECT job, started_at, ended_at, done, failed, remaining, reason, error FROM runs WHERE workspace = ?"
        " ORDER BY job",
        (scope.workspace,),
    )
    with as_written():
        return {
            job: Run(
                job=job,
                started_at=moment(started_at),
                ended_at=moment(ended_at),
                done=done,
                failed=failed,
                left=left,
                reason=reason,
                error=error,
            )
            for job, started_at, ended_at, done, failed, left, reason, error in rows
        }


def defer(connection: Connection, scope: Scope, job: str, item: str, error: str, now: datetime) -> Deferral:
    failed: int | None = connection.execute(
        "SELECT attempts FROM deferrals WHERE workspace = ? AND job = ? AND item = ?", (scope.workspace, job, item)
    ).get
    attempts = 1 if failed is None else failed + 1
    deferral = Deferral(
        job=job, item=item, attempts=attempts, retry_at=now + wait_after(attempts), error=error[:MAX_ERROR_CHARS]
    )
    connection.execute(
        "INSERT INTO deferrals (workspace, job, item, attempts, retry_at, error) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, job, item) DO UPDATE SET attempts = excluded.attempts, retry_at = excluded.retry_at,"
        " error = excluded.error",
        (scope.workspace, job, item, attempts, micros(deferral.retry_at), deferral.error),
    )
    return deferral


def settle(connection: Connection, scope: Scope, job: str, items: Sequence[str]) -> None:
    connection.executemany(
        "DELETE FROM deferrals WHERE workspace = ? AND job = ? AND item = ?",
        [(scope.workspace, job, item) for item in items],
    )


def deferrals(connection: Connection, scope: Scope, job: str | None) -> tuple[Deferral, ...]:
    where = Where()
    where.add("workspace = ?", scope.workspace)
    if job is not None:
        where.add("job = ?", job)
    rows = connection.execute(
        f"SELECT job, item, attempts, retry_at, error FROM deferrals WHERE {where.sql} ORDER BY retry_at, job, item",
        where.bindings,
    )
    with as_written():
        return tuple(
            Deferral(job=name, item=item, attempts=attempts, retry_at=moment(retry_at), error=error)
            for name, item, attempts, retry_at, error in rows
        )
