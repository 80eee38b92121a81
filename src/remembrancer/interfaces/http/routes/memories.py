"""Memories: kept, listed, looked at, told otherwise, ended, forgotten."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import Query, Response

from remembrancer.interfaces.http.access import Reading, Writing
from remembrancer.interfaces.http.bodies import (
    FeedbackIn,
    InvalidateIn,
    MemoryChangesIn,
    MemoryIn,
    SupersedeIn,
)
from remembrancer.interfaces.http.filters import MemoryFilters
from remembrancer.interfaces.http.given import After, HowFar, Limit, MemoryId, Name, Text
from remembrancer.interfaces.http.idempotency import DerivedKey
from remembrancer.interfaces.http.v1 import LOCATED, MISSING, router_of
from remembrancer.interfaces.wire.fading import CurveOut
from remembrancer.interfaces.wire.memories import DossierOut, FeedbackOut, MemoryOut, MemoryPageOut
from remembrancer.interfaces.wire.recall import WhyNotOut
from remembrancer.policies.admission.updating import Changes
from remembrancer.presets.spec import MAX_LIMIT

router = router_of("memories")


@router.post(
    "/v1/memories",
    status_code=HTTPStatus.CREATED,
    summary="Keep a memory",
    responses=MISSING | LOCATED,
)
async def remember(memory: Writing, body: MemoryIn, written: DerivedKey, response: Response) -> MemoryOut:
    """Keep a memory. With a `topic_key` it replaces what this scope's memory of that topic said before, which stays as
    a revision. With a `key` that is known, the memory as it is; when that says something else, 409.
    """
    offered: dict[str, Any] = {"key": written, **body.given()}
    kept = await memory.remember(**offered)
    response.headers["Location"] = f"/v1/memories/{kept.id}"
    return MemoryOut.of(kept)


@router.get("/v1/memories", summary="List memories")
async def memories(
    filters: MemoryFilters,
    memory: Reading,
    *,
    limit: Limit = 100,
    after: After = None,
    oldest_first: Annotated[bool, Query(description="In the order it happened; else newest first.")] = False,
) -> MemoryPageOut:
    """Current memories by when they happened, a page at a time.

    `next` is the cursor of the page after: what is remembered or forgotten meanwhile moves nothing between pages.
    Episodes come beside their turns only where `kinds` names them.
    """
    page = await memory.memories(
        after=after,
        limit=limit,
        oldest_first=oldest_first,
        **filters,
    )
    return MemoryPageOut.of(page)


@router.get("/v1/memories/{memory_id}", summary="Read a memory", responses=MISSING)
async def show(memory: Reading, memory_id: MemoryId) -> DossierOut:
    """One memory, whatever its status, with all that belongs to it: the cues it is found by, the events it came from,
    what it said before, its relations, what was done to it, and how its use was rated.
    """
    return DossierOut.of(await memory.show(memory_id))


@router.patch("/v1/memories/{memory_id}", summary="Tell a memory otherwise", responses=MISSING)
async def update(memory: Writing, memory_id: MemoryId, body: MemoryChangesIn) -> MemoryOut:
    """Change what is sent and leave the rest. What it said before is kept as a revision; what changes nothing makes
    none. What was formed from it, such as episodes and facts, stays, and so does the journal.

    With `expected_revision`, 409 when others have changed it since it was read.
    """
    changes = body.given()
    expected = changes.pop("expected_revision", None)
    return MemoryOut.of(await memory.update(memory_id, expected_revision=expected, **cast("Changes", changes)))


@router.delete("/v1/memories/{memory_id}", summary="Forget a memory", responses=MISSING)
async def forget(memory: Writing, memory_id: MemoryId) -> MemoryOut:
    """Retire it: kept and not recalled, until `restore` undoes that. To be rid of it for good there is `/v1/erasures`.

    An episode that its turn is in is told anew without it.
    """
    return MemoryOut.of(await memory.forget(memory_id))


@router.post("/v1/memories/{memory_id}/restore", summary="Bring a memory back", responses=MISSING)
async def restore(memory: Writing, memory_id: MemoryId) -> MemoryOut:
    """Undo `forget`. 409 when another memory has taken its topic since."""
    return MemoryOut.of(await memory.restore(memory_id))


@router.post("/v1/memories/{memory_id}/supersede", summary="Put a memory in another's place", responses=MISSING)
async def supersede(memory: Writing, memory_id: MemoryId, body: SupersedeIn) -> MemoryOut:
    """Let another memory stand in the place of this one, which is kept, shown with its successor, and not recalled.

    409 when it has another successor, or was to replace that one. The answer is the memory whose place was taken.
    """
    return MemoryOut.of(await memory.supersede(memory_id, body.by))


@router.post("/v1/memories/{memory_id}/invalidate", summary="End a memory's validity", responses=MISSING)
async def invalidate(memory: Writing, memory_id: MemoryId, body: InvalidateIn) -> MemoryOut:
    """It holds no longer from now on, in favour of a `replacement` where there is one."""
    return MemoryOut.of(await memory.invalidate(memory_id, body.replacement))


@router.post("/v1/memories/{memory_id}/feedback", summary="Say how a memory served", responses=MISSING)
async def feedback(memory: Writing, memory_id: MemoryId, body: FeedbackIn) -> FeedbackOut:
    """Say that it was helpful, unhelpful or harmful: its confidence moves, and its place in later answers with it.

    The answer is its strength after that, and its status: too many bad words may have retired it.
    """
    strength = await memory.feedback(memory_id, body.said)
    return FeedbackOut.of(memory_id, strength, (await memory.get(memory_id)).status)


@router.get("/v1/memories/{memory_id}/curve", summary="Draw a memory's strength over time", responses=MISSING)
async def curve(
    memory: Reading,
    memory_id: MemoryId,
    days: Annotated[float, Query(ge=0.01, le=36_500, description="How far ahead, and at most back.")] = 180,
    points: Annotated[int, Query(ge=2, le=10_000, description="At so many points, evenly.")] = 181,
) -> CurveOut:
    """Its strength by the preset's own curve, and when that falls below what counts as faded."""
    return CurveOut.of(await memory.health.curve(memory_id, days=days, points=points))


@router.get("/v1/memories/{memory_id}/why-not", summary="Say why a memory does not answer", responses=MISSING)
async def why_not(
    filters: MemoryFilters,
    memory: Reading,
    memory_id: MemoryId,
    *,
    query: Annotated[Text, Query(description="The question.")],
    limit: Annotated[
        int | None, Query(ge=1, le=MAX_LIMIT, description="How many hits at most; the preset's usual number.")
    ] = None,
    reach: HowFar = None,
    ranking: Annotated[Name | None, Query(description="One of the preset's rankings.")] = None,
    walk_depth: Annotated[int, Query(ge=0, le=1, description="1: also along the edges of the hits.")] = 0,
    min_score: Annotated[float, Query(ge=0, le=1, description="No hit below this score.")] = 0.0,
) -> WhyNotOut:
    """Ask the question as recall would, and say at which step this memory dropped out, or its rank where it did not."""
    found = await memory.why_not(
        memory_id,
        query,
        limit=limit,
        reach=reach,
        ranking=ranking,
        walk_depth=walk_depth,
        min_score=min_score,
        **filters,
    )
    return WhyNotOut.of(found)
