"""Recall: questions answered, by one preset or several, and what became of the answers."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request

from remembrancer.interfaces.http.access import Reading, Writing
from remembrancer.interfaces.http.bodies import CompareIn, ExposuresIn, RecallIn
from remembrancer.interfaces.http.named_presets import named_presets
from remembrancer.interfaces.http.observing import observe_recall
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.comparison import ComparisonOut
from remembrancer.interfaces.wire.recall import RecallOut

router = router_of("recall")


@router.post("/v1/recall", summary="Answer a question")
async def recall(request: Request, memory: Reading, body: RecallIn) -> RecallOut:
    """The memories that answer, best first; none when nothing does. Every hit carries the parts of its score.

    With `render` also a block for a prompt, in which memories are marked as untrusted, and one of the memories that
    the preset puts into every answer. Reads only: what was shown or used is told to `/v1/exposures`.
    """
    answer = await memory.recall(body.query, **body.arguments())
    observe_recall(request.app, answer)
    if not body.render:
        return RecallOut.of(answer)
    return RecallOut.of(
        answer,
        rendered=answer.render(max_chars=body.max_chars, detail=body.detail),
        rendered_standing=answer.render_standing(max_chars=body.max_chars),
    )


@router.post(
    "/v1/exposures",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Count what was shown or used",
    responses=MISSING,
)
async def expose(memory: Writing, body: ExposuresIn) -> None:
    """Count that memories were retrieved, shown or used, in the address's session. All are counted, or none (404)."""
    await memory.mark(body.memories, body.exposure, query=body.query)


@router.post("/v1/compare", summary="Ask several presets the same question")
async def compare(memory: Reading, body: CompareIn) -> ComparisonOut:
    """What each preset returns for a question, over the memories that are here, and why they differ. Reads only."""
    chosen = None if body.presets is None else named_presets(memory.presets.in_use, body.presets)
    return ComparisonOut.of(await memory.presets.compare(body.query, chosen, limit=body.limit, as_of=body.as_of))
