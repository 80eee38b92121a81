"""Erasure: what must be gone for good, and the receipts of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.http.access import Administering
from remembrancer.interfaces.http.bodies import ErasureIn
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.erasures import ErasureOut, ErasuresOut

router = router_of("erasures")


@router.post("/v1/erasures", summary="Erase for good", responses=MISSING)
async def erase(memory: Administering, body: ErasureIn) -> ErasureOut:
    """Let go of memories, of entries of the journal, or of all of a session, agent, crew or project, with all that
    quotes or was drawn from them. It cannot be undone: ask with `dry_run` first. The answer is the receipt, which says
    what went, and what could not be reached from here.
    """
    return ErasureOut.of(await memory.erase(**body.given()))


@router.get("/v1/erasures", summary="List the receipts of erasures")
async def erasures(
    memory: Administering,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED, description="How many at most.")] = 100,
) -> ErasuresOut:
    """Newest first. No receipt holds a word of what was erased."""
    return ErasuresOut.of(await memory.erasures(limit))
