"""Relations between memories."""

from __future__ import annotations

from http import HTTPStatus

from remembrancer.interfaces.http.access import WritableMemory
from remembrancer.interfaces.http.bodies import RelationIn
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.memories import RelationOut

router = router_of("memories")


@router.post("/v1/relations", status_code=HTTPStatus.CREATED, summary="Relate two memories", responses=MISSING)
async def link(memory: WritableMemory, body: RelationIn) -> RelationOut:
    """Relate one memory to another. Repeating it sets the weight again.

    It does not change which of the two is valid: `supersede` does.
    """
    return RelationOut.of(await memory.link(body.source, body.target, body.kind, body.weight))
