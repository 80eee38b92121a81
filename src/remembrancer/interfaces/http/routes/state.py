"""The state of the memory: counts, health, jobs, costs and presets."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from remembrancer.errors import InvalidInput
from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.http.access import Administering, ReadableMemory
from remembrancer.interfaces.http.given import Name, SinceQuery
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.comparison import PresetOut, PresetsOut
from remembrancer.interfaces.wire.embedder import EmbedderOut
from remembrancer.interfaces.wire.jobs import JobsOut, SpendingOut
from remembrancer.interfaces.wire.state import DoctorOut, MemoryHealthOut, StatsOut
from remembrancer.presets.catalogue import PRESETS

router = router_of("state")


@router.get("/v1/stats", summary="Read counts")
async def stats(memory: ReadableMemory) -> StatsOut:
    """Counts of what this caller may see, and the size of the whole store."""
    return StatsOut.of(await memory.health.stats())


@router.get("/v1/health/memory", summary="Read the memory's health")
async def memory_health(
    memory: ReadableMemory,
    of_crew: Annotated[Name | None, Query(description="The crew. Default: the whole workspace.")] = None,
    history: Annotated[
        int, Query(ge=0, le=MAX_LISTED, description="The number of daily snapshots to include, newest first.")
    ] = 0,
) -> MemoryHealthOut:
    """The latest snapshot, which the health job takes daily: a score from 0 to 100, its metrics, and how to improve the
    weakest metric. `latest` is null if no snapshot has been taken yet.
    """
    latest = await memory.health.latest(of_crew)
    past = await memory.health.history(of_crew, history) if history else None
    return MemoryHealthOut.of(of_crew, latest, past)


@router.get("/v1/jobs", summary="List the jobs")
async def jobs(memory: ReadableMemory) -> JobsOut:
    """Each job of the preset: its last and next run, its backlog, and its failures."""
    return JobsOut.of(await memory.jobs.list())


@router.get("/v1/embedder", summary="Read the state of a change of embedder")
async def embedder(memory: ReadableMemory) -> EmbedderOut:
    """Which model answers, the vectors of each model, and how far a change of embedder is. Counts all vectors.

    The command line begins, ends and undoes a change.
    """
    return EmbedderOut.of(await memory.embedder.status())


@router.get("/v1/spending", summary="Read the cost of language models")
async def spending(memory: ReadableMemory, since: SinceQuery = None) -> SpendingOut:
    """Requests to language models for this workspace, and their cost in US dollars, by purpose and model."""
    return SpendingOut.of(await memory.jobs.spending(since), since)


@router.get("/v1/doctor", summary="Check the store and the models")
async def doctor(memory: Administering) -> DoctorOut:
    """Check the file, its indexes, the embedder and the reranker. Each finding says how to fix it.

    It reads the whole store, and the request's time limit applies.
    """
    return DoctorOut.of(await memory.health.doctor())


@router.get("/v1/presets/{name}", summary="Read a preset")
async def preset(
    memory: ReadableMemory, name: Annotated[str, Path(description="Its name.", examples=sorted(PRESETS))]
) -> PresetOut:
    """A shipped preset, or the one in use: its choices, and the meaning of each signal that its scores read."""
    known = {**PRESETS, memory.presets.in_use.name: memory.presets.in_use}
    if name not in known:
        raise InvalidInput("name", name, "one of " + ", ".join(sorted(known)))
    return PresetOut.of(known[name], in_use=name == memory.presets.in_use.name)


@router.get("/v1/presets", summary="List the presets")
async def presets(memory: ReadableMemory) -> PresetsOut:
    """The shipped presets, and the one in use."""
    return PresetsOut.of(memory.presets.in_use)
