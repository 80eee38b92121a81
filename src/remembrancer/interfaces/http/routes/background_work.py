"""Consolidation and other background work, run by request. A worker runs the same on its schedule."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Response

from remembrancer.interfaces.http.access import ReadableMemory, WritableMemory
from remembrancer.interfaces.http.bodies import ConsolidateIn, IntentIn, MaintainIn, PromotionIn, SleepIn
from remembrancer.interfaces.http.given import Name
from remembrancer.interfaces.http.v1 import LOCATED, MISSING, router_of
from remembrancer.interfaces.wire.jobs import DoneOut, MaintenanceOut, PromotableOut
from remembrancer.interfaces.wire.memories import MemoryOut

router = router_of("background work")

SessionName = Annotated[Name, Path(description="The session's name.", examples=["monday"])]


@router.post("/v1/sleep", summary="Promote working memory")
async def sleep(memory: WritableMemory, body: SleepIn) -> DoneOut:
    """Promote what has been in working memory for half of its lifetime, summarised by source.

    A dry run only reports what it would do.
    """
    return DoneOut.of(await memory.sleep(body.dry_run))


@router.post("/v1/consolidate", summary="Consolidate memories")
async def consolidate(memory: WritableMemory, body: ConsolidateIn) -> DoneOut:
    """Extract facts from episodes, derive rules from recent events, and merge similar memories, where the preset has
    these jobs. Replaced memories can still be reached.

    The request's time limit applies. If there is much to do, or the language model is slow, use a small `limit`, or
    leave it to a worker.
    """
    return DoneOut.of(await memory.consolidate(body.since, body.limit))


@router.post("/v1/maintain", summary="Run the jobs that are due")
async def maintain(memory: WritableMemory, body: MaintainIn) -> MaintenanceOut:
    """Run every job of the preset that is due, once, and return what each did, or why it did nothing.

    The request's time limit applies; usually a worker runs the jobs.
    """
    return MaintenanceOut.of(await memory.maintain(body.only, force=body.force))


@router.post("/v1/sessions/{ended:path}/end", summary="End a session")
async def end_session(memory: WritableMemory, ended: SessionName) -> DoneOut:
    """Form the session's last episode, extract its learnings, and count and review how it used memories, where the
    preset has these steps. Repeating it has no further effect.
    """
    return DoneOut.of(await memory.end_session(ended))


@router.post("/v1/stages", summary="Enter a stage of the project")
async def enter_stage(memory: WritableMemory, body: IntentIn) -> DoneOut:
    """Detect the project's stage in the text of its INTENT.md. If the stage is new, learnings for the tasks of the
    previous stage are retired.
    """
    return DoneOut.of(await memory.learnings.enter_stage(body.intent))


@router.get("/v1/promotions", summary="List memories that could be promoted")
async def promotable(memory: ReadableMemory) -> PromotableOut:
    """Memories that came up in enough jobs to be promoted to the whole workspace, most jobs first."""
    return PromotableOut.of(await memory.learnings.promotable())


@router.post(
    "/v1/promotions",
    status_code=HTTPStatus.CREATED,
    summary="Promote a memory",
    responses=MISSING | LOCATED,
)
async def promote(memory: WritableMemory, body: PromotionIn, response: Response) -> MemoryOut:
    """Approve the copying of a memory to the project or the workspace. The response is the copy."""
    promoted = await memory.learnings.promote(body.memory_id, body.to)
    response.headers["Location"] = f"/v1/memories/{promoted.id}"
    return MemoryOut.of(promoted)
