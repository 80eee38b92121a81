"""Memories: keeping, listing, reading, editing, relating, ending and forgetting them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal, cast

from fastapi import Query, Response
from pydantic import Field

from remembrancer.domain.listing import MemoryOrder, MemoryState
from remembrancer.domain.recall import RecallMode
from remembrancer.interfaces.http.access import Administering, ReadableMemory, WritableMemory
from remembrancer.interfaces.http.bodies import (
    FeedbackIn,
    InvalidateIn,
    MemoriesIn,
    MemoryChangesIn,
    MemoryIn,
    OutcomeIn,
    RelationIn,
    SupersedeIn,
)
from remembrancer.interfaces.http.given import OF_HITS, After, HowFar, Limit, MemoryFilters, MemoryId, Name, Text
from remembrancer.interfaces.http.idempotency import DerivedKey
from remembrancer.interfaces.http.v1 import LOCATED, MISSING, router_of
from remembrancer.interfaces.wire import memories as wire
from remembrancer.interfaces.wire.recall import WhyNotOut
from remembrancer.policies.admission.updating import Changes

router = router_of("memories")


@router.post(
    "/v1/memories",
    status_code=HTTPStatus.CREATED,
    summary="Store a memory",
    responses=MISSING | LOCATED,
)
async def remember(memory: WritableMemory, body: MemoryIn, written: DerivedKey, response: Response) -> wire.MemoryOut:
    """Store a memory. With a `topic_key` it replaces the text of this scope's memory on that topic; the previous text
    is kept as a revision. If the `key` is known, the existing memory is returned, or 409 if it differs.
    """
    offered: dict[str, Any] = {"key": written, **body.given()}
    kept = await memory.remember(**offered)
    response.headers["Location"] = f"/v1/memories/{kept.id}"
    return wire.MemoryOut.of(kept)


@router.post("/v1/memories/batch", status_code=HTTPStatus.CREATED, summary="Store several memories", responses=MISSING)
async def remember_many(memory: WritableMemory, body: MemoriesIn, written: DerivedKey) -> wire.MemoriesOut:
    """Store memories in the given order, all or none. The response has them in the order of the request.

    A memory with a `topic_key` is refused, because it replaces a text: store it alone. Keys are as for one memory.
    """
    keys = [None if written is None else f"{written}:{place}" for place in range(len(body.memories))]
    given = [{"key": key, **one.given()} for key, one in zip(keys, body.memories, strict=True)]
    return wire.MemoriesOut.of(await memory.remember_many(given))


@router.get("/v1/memories", summary="List memories")
async def memories(
    filters: MemoryFilters,
    memory: ReadableMemory,
    *,
    limit: Limit = 100,
    after: After = None,
    order: Annotated[
        MemoryOrder,
        Query(description="By time, by importance, or by last use, which leaves out memories that were never used."),
    ] = MemoryOrder.TIME,
    oldest_first: Annotated[bool, Query(description="In reverse order: oldest or least important first.")] = False,
    state: Annotated[
        MemoryState, Query(description="Current, retired, ended (superseded or expired) or any memories.")
    ] = MemoryState.CURRENT,
    query: Annotated[Text | None, Query(description="Only with all of these words in one passage.")] = None,
    speaker: Annotated[
        Name | None, Query(description="Only by this speaker: a name, or a role for speakers without a name.")
    ] = None,
) -> wire.MemoryPageOut:
    """Memories, a page at a time: current ones by when they happened, newest first, unless the parameters say
    otherwise.

    `next` is the cursor of the next page of the same listing. Memories stored or forgotten in the meantime do not shift
    the pages. Episodes are listed in addition to their turns only if `kinds` includes them.
    """
    page = await memory.memories(
        after=after,
        limit=limit,
        order=order,
        oldest_first=oldest_first,
        state=state,
        query=query,
        speaker=speaker,
        **filters,
    )
    return wire.MemoryPageOut.of(page)


@router.get("/v1/preferences", summary="List preferences")
async def preferences(
    memory: ReadableMemory,
    *,
    limit: Limit = 100,
    ended: Annotated[bool, Query(description="Also those that were contradicted or superseded, or expired.")] = False,
) -> wire.MemoriesOut:
    """Stated preferences and lasting instructions, newest first: memories with the tag `preference`, and those of the
    kinds preference, directive, instruction, guideline and rule.

    The tag `instruction` marks one that tells the assistant what to do; `always`, one about the language, tone or form
    of every answer.
    """
    return wire.MemoriesOut.of(await memory.preferences(limit, ended=ended))


@router.get("/v1/memories/{memory_id}", summary="Read a memory", responses=MISSING)
async def show(memory: ReadableMemory, memory_id: MemoryId) -> wire.MemoryDetailsOut:
    """One memory, whatever its status, with everything that belongs to it: the indexed passages, the events it came
    from, its revisions, relations, audit and reviews.
    """
    return wire.MemoryDetailsOut.of(await memory.show(memory_id))


@router.patch("/v1/memories/{memory_id}", summary="Edit a memory", responses=MISSING)
async def update(memory: WritableMemory, memory_id: MemoryId, body: MemoryChangesIn) -> wire.MemoryOut:
    """Change the given fields. The previous text is kept as a revision, unless nothing changes. What was formed from
    the memory, such as episodes and facts, stays as it is, and so does the journal.

    With `expected_revision`: 409 if the memory was changed since that revision.
    """
    changes = body.given()
    expected = changes.pop("expected_revision", None)
    return wire.MemoryOut.of(await memory.update(memory_id, expected_revision=expected, **cast("Changes", changes)))


@router.delete("/v1/memories/{memory_id}", summary="Forget a memory", responses=MISSING)
async def forget(memory: WritableMemory, memory_id: MemoryId) -> wire.MemoryOut:
    """Retire a memory: it is kept but not recalled, until `restore` undoes it. `/v1/erasures` removes a memory for
    good.

    An episode that contains the memory's turn is formed again without it.
    """
    return wire.MemoryOut.of(await memory.forget(memory_id))


@router.post("/v1/memories/{memory_id}/restore", summary="Restore a memory", responses=MISSING)
async def restore(memory: WritableMemory, memory_id: MemoryId) -> wire.MemoryOut:
    """Undo `forget`. 409 if another memory has taken its topic since."""
    return wire.MemoryOut.of(await memory.restore(memory_id))


@router.post("/v1/memories/{memory_id}/pin", summary="Pin a memory", responses=MISSING)
async def pin(memory: WritableMemory, memory_id: MemoryId) -> wire.MemoryOut:
    """Pin a memory: it is in every answer, as `pinned`, separate from the hits, and does not fade. 409 if it is
    superseded, 501 if the preset has no pinned memories.
    """
    return wire.MemoryOut.of(await memory.pin(memory_id))


@router.post("/v1/memories/{memory_id}/unpin", summary="Unpin a memory", responses=MISSING)
async def unpin(memory: WritableMemory, memory_id: MemoryId) -> wire.MemoryOut:
    """Undo `pin`."""
    return wire.MemoryOut.of(await memory.unpin(memory_id))


@router.post("/v1/memories/{memory_id}/release", summary="Release a flagged memory", responses=MISSING)
async def release(memory: Administering, memory_id: MemoryId) -> wire.MemoryOut:
    """Remove the flag of an instruction-like memory that somebody has read and found harmless. Needs the right
    `admin`, because an agent that reads such a text must not release it. 409 if it is superseded.
    """
    return wire.MemoryOut.of(await memory.release(memory_id))


@router.post("/v1/memories/{memory_id}/supersede", summary="Supersede a memory", responses=MISSING)
async def supersede(memory: WritableMemory, memory_id: MemoryId, body: SupersedeIn) -> wire.MemoryOut:
    """Replace a memory with another one. It is kept and shown with its successor, but not recalled.

    409 if it has another successor, or if it was itself to replace that one. The response is the superseded memory.
    """
    return wire.MemoryOut.of(await memory.supersede(memory_id, body.by))


@router.post("/v1/memories/{memory_id}/invalidate", summary="End a memory's validity", responses=MISSING)
async def invalidate(memory: WritableMemory, memory_id: MemoryId, body: InvalidateIn) -> wire.MemoryOut:
    """End a memory's validity now, in favour of a `replacement` if one is given."""
    return wire.MemoryOut.of(await memory.invalidate(memory_id, body.replacement))


@router.post("/v1/memories/{memory_id}/feedback", summary="Give feedback on a memory", responses=MISSING)
async def feedback(memory: WritableMemory, memory_id: MemoryId, body: FeedbackIn) -> wire.FeedbackOut:
    """Rate a memory as helpful, unhelpful or harmful. Its confidence changes accordingly, and so does its rank in later
    answers.

    The response has its new strength and status. Repeated bad feedback retires a memory.
    """
    strength = await memory.feedback(memory_id, body.verdict)
    return wire.FeedbackOut.of(memory_id, strength, (await memory.get(memory_id)).status)


@router.post("/v1/outcomes", summary="Report the outcome of a task", responses=MISSING)
async def outcome(memory: WritableMemory, body: OutcomeIn) -> wire.TaskOutcomeOut:
    """Report how a task ended. The memories that it used share its credit, which changes their strength, and so their
    rank in later answers.

    Memories that are named or cited share all of it; if there are none, those in the blocks of the recalls share half.
    Repeating a `key` changes nothing. 409 if the key has another result.
    """
    return wire.TaskOutcomeOut.of(await memory.outcome(**dict(body)))


@router.get("/v1/memories/{memory_id}/curve", summary="Read a memory's strength over time", responses=MISSING)
async def curve(
    memory: ReadableMemory,
    memory_id: MemoryId,
    days: Annotated[float, Query(ge=0.01, le=36_500, description="How many days ahead, and at most back.")] = 180,
    points: Annotated[int, Query(ge=2, le=10_000, description="The number of evenly spaced points.")] = 181,
) -> wire.CurveOut:
    """A memory's strength over time by the preset's curve, and when it will fall below the threshold for faded
    memories.
    """
    return wire.CurveOut.of(await memory.health.curve(memory_id, days=days, points=points))


@router.get("/v1/memories/{memory_id}/why-not", summary="Explain why a memory was not returned", responses=MISSING)
async def why_not(
    filters: MemoryFilters,
    memory: ReadableMemory,
    memory_id: MemoryId,
    *,
    query: Annotated[Text, Query(description="The question.")],
    mode: Annotated[
        RecallMode, Query(description="message: the query is a turn of a conversation.")
    ] = RecallMode.QUESTION,
    limit: Annotated[
        int | None, Query(json_schema_extra=OF_HITS, description="The maximum number of hits. Default: the preset's.")
    ] = None,
    reach: HowFar = None,
    ranking: Annotated[Name | None, Query(description="One of the preset's rankings. Default: the preset's.")] = None,
    walk_depth: Annotated[
        int | None, Query(ge=0, le=1, description="1: also along the `similar` edges of hits. Default: the agent's.")
    ] = None,
    floor: Annotated[
        Annotated[float, Field(ge=0, le=1)] | Literal["off"] | None,
        Query(description="No hit below this probability, in place of the preset's threshold; off: none."),
    ] = None,
    min_score: Annotated[float, Query(ge=0, le=1, description="No hit below this score, besides the threshold.")] = 0.0,
) -> WhyNotOut:
    """Run the recall, and report the stage at which this memory dropped out, or its rank if it did not."""
    found = await memory.why_not(
        memory_id,
        query,
        limit=limit,
        reach=reach,
        ranking=ranking,
        walk_depth=walk_depth,
        mode=mode,
        floor=floor,
        min_score=min_score,
        **filters,
    )
    return WhyNotOut.of(found)


@router.post("/v1/relations", status_code=HTTPStatus.CREATED, summary="Relate two memories", responses=MISSING)
async def link(memory: WritableMemory, body: RelationIn) -> wire.RelationOut:
    """Relate one memory to another. Repeating it sets the weight again.

    It does not change which of the two is valid; `supersede` does.
    """
    return wire.RelationOut.of(await memory.link(body.source, body.target, body.kind, body.weight))
