"""What the memory makes of what it holds, asked for by hand; a worker does the same on its own schedule."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Path, Response

from remembrancer.interfaces.http.access import Reading, Writing
from remembrancer.interfaces.http.bodies import ConsolidateIn, MaintainIn, PromotionIn, SleepIn
from remembrancer.interfaces.http.given import Name
from remembrancer.interfaces.http.v1 import LOCATED, MISSING, router_of
from remembrancer.interfaces.wire.jobs import DoneOut, MaintenanceOut, PromotableOut
from remembrancer.interfaces.wire.memories import MemoryOut

router = router_of("mind")

Session = Annotated[Name, Path(description="The session's name.", examples=["monday"])]


@router.post("/v1/sleep", summary="Sleep on what is new")
async def sleep(memory: Writing, body: SleepIn) -> DoneOut:
    """Promote what has been in working memory for half of its time, summed up by where it came from.

    A dry run only says what it would do.
    """
    return DoneOut.of(await memory.sleep(body.dry_run))


@router.post("/v1/consolidate", summary="Make little of much")
async def consolidate(memory: Writing, body: ConsolidateIn) -> DoneOut:
    """Facts from episodes, rules from what happened since a time, one memory of many alike, as far as the preset has
    each. What it replaces stays reachable.

    It runs within the time that the server lets a request take: with much to do, or a slow language model, ask for
    little at a time (`limit`), or leave it to a worker.
    """
    return DoneOut.of(await memory.consolidate(body.since, body.limit))


@router.post("/v1/maintain", summary="Run the jobs that are due")
async def maintain(memory: Writing, body: MaintainIn) -> MaintenanceOut:
    """Run every job of the preset that is due, once, and tell what each did, or why it did nothing.

    It runs within the time that the server lets a request take: a worker is the usual way.
    """
    return MaintenanceOut.of(await memory.maintain(body.only, force=body.force))


@router.post("/v1/sessions/{ended:path}/end", summary="End a session")
async def end_session(memory: Writing, ended: Session) -> DoneOut:
    """Its last episode is formed, what it taught is learned, and its use of memories is counted and reviewed, as far as
    the preset has each of these. Doing it twice changes nothing.
    """
    return DoneOut.of(await memory.end_session(ended))


@router.get("/v1/promotions", summary="List what a wider scope could be told")
async def promotable(memory: Reading) -> PromotableOut:
    """What came up in so many jobs that the whole workspace could be told, those of most jobs first."""
    return PromotableOut.of(await memory.learnings.promotable())


@router.post(
    "/v1/promotions",
    status_code=HTTPStatus.CREATED,
    summary="Tell a wider scope",
    responses=MISSING | LOCATED,
)
async def promote(memory: Writing, body: PromotionIn, response: Response) -> MemoryOut:
    """Approve that the project or the workspace is told what a memory says. The answer is its own memory of it."""
    promoted = await memory.learnings.promote(body.memory_id, body.to)
    response.headers["Location"] = f"/v1/memories/{promoted.id}"
    return MemoryOut.of(promoted)
