"""How the memory is: its counts, its health, its jobs, what models cost, and its presets."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.http.access import Reading
from remembrancer.interfaces.http.given import Name, Since
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.health import MemoryHealthOut
from remembrancer.interfaces.wire.jobs import JobsOut, SpendingOut
from remembrancer.interfaces.wire.presets import PresetsOut
from remembrancer.interfaces.wire.state import StatsOut

router = router_of("state")


@router.get("/v1/stats", summary="Count what is kept")
async def stats(memory: Reading) -> StatsOut:
    """Counts of what this caller may see, and the size of the whole store."""
    return StatsOut.of(await memory.health.stats())


@router.get("/v1/health/memory", summary="Read the memory's health")
async def memory_health(
    memory: Reading,
    of_crew: Annotated[Name | None, Query(description="Of this crew; of the whole workspace, if not given.")] = None,
    history: Annotated[
        int, Query(ge=0, le=MAX_LISTED, description="Also so many snapshots, at most one a day, the newest day first.")
    ] = 0,
) -> MemoryHealthOut:
    """The last snapshot, which the health job takes each day: a score of 0 to 100, what it is made of, and what to do
    about the weakest part. `latest` is null while none was taken.
    """
    latest = await memory.health.latest(of_crew)
    past = await memory.health.history(of_crew, history) if history else None
    return MemoryHealthOut.of(of_crew, latest, past)


@router.get("/v1/jobs", summary="See how the jobs stand")
async def jobs(memory: Reading) -> JobsOut:
    """Each job of the preset: its last run, its next, what waits for it, and what failed."""
    return JobsOut.of(await memory.jobs.list())


@router.get("/v1/spending", summary="See what models cost")
async def spending(memory: Reading, since: Since = None) -> SpendingOut:
    """What language models were asked for this workspace, and what that cost in US dollars, by purpose and model."""
    return SpendingOut.of(await memory.jobs.spending(since), since)


@router.get("/v1/presets", summary="List the presets")
async def presets(memory: Reading) -> PresetsOut:
    """Those that are shipped, and the one in use."""
    return PresetsOut.of(memory.presets.in_use)
