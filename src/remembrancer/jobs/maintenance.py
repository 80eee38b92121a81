"""The jobs that keep a memory in order, run one after another: each does what is due, and says what that was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.engine.health import take_snapshots
from remembrancer.jobs.indexer import Indexer, IndexReport, OnIndexed


class Job(StrEnum):
    """In the order they run: what one leaves behind is there for those after it."""

    INDEX = "index"
    HEALTH = "health"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """The snapshots that were taken, the workspace's first. `reason` says why none; empty otherwise."""

    taken: tuple[HealthSnapshot, ...]
    reason: str = ""


Report = IndexReport | HealthReport
"""What a job did, with a `reason` where it did nothing or left something undone."""


async def maintain(
    ctx: Context,
    scope: Scope,
    indexer: Indexer,
    jobs: Collection[Job],
    *,
    force: bool = False,
    on_indexed: OnIndexed | None = None,
) -> dict[str, Report]:
    """Run each of `jobs` that is due, or all of them with `force`. Their reports, by name, in the order they ran."""
    reports: dict[str, Report] = {}
    for job in Job:
        if job not in jobs:
            continue
        match job:
            case Job.INDEX:
                reports[job.value] = await indexer.run(on_indexed)
            case Job.HEALTH:
                reports[job.value] = await _health(ctx, scope, force=force)
            case _:
                assert_never(job)
    return reports


async def _health(ctx: Context, scope: Scope, *, force: bool) -> HealthReport:
    taken = await take_snapshots(ctx, scope, force=force)
    return HealthReport(taken=taken, reason="" if taken else "taken today already")
