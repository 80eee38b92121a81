"""Recall, kept answers, comparison of presets, and exposures."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import ValidationError

from remembrancer.domain.api_key import Right
from remembrancer.domain.recall import Detail, Recall
from remembrancer.errors import InvalidInput, NotFound, PermissionDenied
from remembrancer.interfaces.http.access import ReadableMemory, WritableMemory, allowed, authenticate_request
from remembrancer.interfaces.http.bodies import BLOCK_CHARS, MAX_BLOCK_CHARS, CompareIn, ExposuresIn, RecallIn
from remembrancer.interfaces.http.given import OF_FIELDS, RecallField, RecallId
from remembrancer.interfaces.http.idempotency import HEADER as IDEMPOTENCY_KEY
from remembrancer.interfaces.http.telemetry import observe_recall
from remembrancer.interfaces.http.v1 import MISSING, Route, parsed, router_of
from remembrancer.interfaces.wire.comparison import ComparisonOut
from remembrancer.interfaces.wire.recall_fields import RecallFieldsOut, recall_json
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.spec import Preset


def named_presets(in_use: Preset, names: Iterable[str]) -> list[Preset]:
    """The presets of these names, among the shipped ones and `in_use`. Raises InvalidInput for another name."""
    there = {**PRESETS, in_use.name: in_use}
    chosen: list[Preset] = []
    for name in names:
        if name not in there:
            raise InvalidInput("presets", name, "one of " + ", ".join(there))
        chosen.append(there[name])
    return chosen


class RecallRoute(Route):
    """Calls `recall` directly if a request has no parameters, as most have none. FastAPI would find the same memory and
    the same body, and takes a quarter of the server's share of a recall for that. It answers all other requests, also
    those with a body that is not valid.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def handler(request: Request) -> Response:
            principal = await authenticate_request(request)
            given = await request.body()
            if request.scope["query_string"] or not given or IDEMPOTENCY_KEY in request.headers:
                return await answer(request)
            try:
                body = RecallIn.model_validate(await parsed(given))
            except ValidationError:
                return await answer(request)
            return await recall(request, allowed(principal, Right.READ, None, {}), body)

        return handler


router = router_of("recall")
questions = router_of("recall", route_class=RecallRoute)


@questions.post("/v1/recall", summary="Recall memories", response_model=RecallFieldsOut)
async def recall(request: Request, memory: ReadableMemory, body: RecallIn) -> Response:
    """The memories that answer a question, best first; none if nothing passes the relevance threshold. With
    `explain`, every hit has the parts of its score.

    With `render` the response also has a prompt block of the hits, marked as untrusted, and one of the pinned memories.
    Unless `keep` stores the answer, or `mark` or the preset says that the hits count as retrieved, this only reads:
    report to `/v1/exposures` what was shown or used.
    """
    writes = (await authenticate_request(request)).right.allows(Right.WRITE)
    if body.mark and not writes:
        raise PermissionDenied(f"mark: only a key that may {Right.WRITE.value} can count a recall")
    if body.keep and not writes:
        raise PermissionDenied(f"keep: only a key that may {Right.WRITE.value} can keep an answer")
    answer = await memory.recall(body.query, mark=body.mark if writes else False, **body.arguments())
    observe_recall(request.app, answer)
    return _answered(
        answer, body.fields, explain=body.explain, render=body.render, max_chars=body.max_chars, detail=body.detail
    )


@router.get(
    "/v1/recalls/{recall_id}",
    summary="Get a stored answer again",
    responses=MISSING,
    response_model=RecallFieldsOut,
)
async def replay(
    memory: ReadableMemory,
    recall_id: RecallId,
    *,
    fields: Annotated[list[RecallField] | None, Query(description=OF_FIELDS)] = None,
    explain: Annotated[bool, Query(description="Also the parts of each hit's score.")] = False,
    render: Annotated[bool, Query(description="Also as prompt blocks.")] = False,
    max_chars: Annotated[
        int, Query(ge=1, le=MAX_BLOCK_CHARS, description="The maximum length of each block.")
    ] = BLOCK_CHARS,
    detail: Annotated[Detail, Query(description="How much of the transcripts the block includes.")] = Detail.AUTO,
) -> Response:
    """An answer that `/v1/recall` stored: the same hits with the same scores and, under the same preset, the same
    blocks, whatever was written since. The memories are as they were then.

    What was erased since, or what this caller may not see, is left out; `degraded.replay` says how much.
    `timings_ms`, `terms`, `legs` and `embedded` are empty, `kind` is null.
    """
    answer = await memory.recalls.replay(recall_id)
    return _answered(answer, fields, explain=explain, render=render, max_chars=max_chars, detail=detail)


@router.delete(
    "/v1/recalls/{recall_id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Delete a stored answer",
    responses=MISSING,
)
async def drop_recall(memory: WritableMemory, recall_id: RecallId) -> None:
    """Delete a stored answer. The memories in it stay."""
    if not await memory.recalls.drop(recall_id):
        raise NotFound("recall", recall_id)


def _answered(
    answer: Recall, fields: list[str] | None, *, explain: bool, render: bool, max_chars: int, detail: Detail
) -> Response:
    body = recall_json(
        answer,
        fields,
        explained=explain,
        rendered=answer.render(max_chars=max_chars, detail=detail) if render else None,
        rendered_pinned=answer.render_pinned(max_chars=max_chars) if render else None,
    )
    return Response(body, media_type="application/json")


@router.post(
    "/v1/exposures",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Record exposures",
    responses=MISSING,
)
async def expose(memory: WritableMemory, body: ExposuresIn) -> None:
    """Record that memories were retrieved, shown or used in the session of the query string. All are recorded, or none
    (404).
    """
    await memory.mark(body.memories, body.exposure, query=body.query)


@router.post("/v1/compare", summary="Compare presets")
async def compare(memory: ReadableMemory, body: CompareIn) -> ComparisonOut:
    """The results of each preset for a question over the existing memories, and the reasons for differences. Reads
    only.
    """
    chosen = None if body.presets is None else named_presets(memory.presets.in_use, body.presets)
    return ComparisonOut.of(await memory.presets.compare(body.query, chosen, limit=body.limit, as_of=body.as_of))
