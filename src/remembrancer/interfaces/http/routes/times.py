"""Memories by time: what happened in order, and what will fade."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query

from remembrancer.interfaces.http.access import ReadableMemory
from remembrancer.interfaces.http.given import InSession, Kinds, Limit, SinceQuery, UntilQuery
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.memories import DecayForecastsOut, MemoriesOut

router = router_of("time")


@router.get("/v1/timeline", summary="Read a timeline")
async def timeline(
    memory: ReadableMemory,
    since: SinceQuery = None,
    until: UntilQuery = None,
    limit: Limit = 100,
    kinds: Kinds = None,
    session: InSession = None,
) -> MemoriesOut:
    """Current memories of a period, oldest first. `kinds=episode` lists its episodes."""
    return MemoriesOut.of(await memory.timeline(since, until, limit=limit, kinds=kinds, session=session))


@router.get("/v1/fading", summary="List memories that will fade soon")
async def fading(
    memory: ReadableMemory,
    limit: Limit = 20,
    days: Annotated[float, Query(gt=0, le=36_500, description="How many days ahead.")] = 30,
) -> DecayForecastsOut:
    """Current memories that will fade within that time if nothing else happens, soonest first."""
    return DecayForecastsOut.of(await memory.health.fading(limit=limit, within=timedelta(days=days)))


@router.get("/v1/decay", summary="List memories by their strength")
async def decay(memory: ReadableMemory, limit: Limit = 20) -> DecayForecastsOut:
    """Current memories, weakest first, each with the time when it will fall below the threshold for faded memories."""
    return DecayForecastsOut.of(await memory.health.decay(limit=limit))
