"""How memories stand to each other."""

from __future__ import annotations

from http import HTTPStatus

from remembrancer.interfaces.http.access import Writing
from remembrancer.interfaces.http.bodies import RelationIn
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.memories import RelationOut

router = router_of("memories")


@router.post("/v1/relations", status_code=HTTPStatus.CREATED, summary="Relate two memories", responses=MISSING)
async def link(memory: Writing, body: RelationIn) -> RelationOut:
    """Say how one memory relates to another; saying it again sets the weight anew.

    It changes nothing about which of them holds: for that there is `supersede`.
    """
    return RelationOut.of(await memory.link(body.source, body.target, body.kind, body.weight))
