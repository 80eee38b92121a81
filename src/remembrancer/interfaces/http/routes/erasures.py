"""Erasure: removing data for good, and its receipts."""

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
    """Erase memories, journal entries, or everything of a session, agent, crew or project, together with everything
    that quotes them or was derived from them. This cannot be undone: try it with `dry_run` first. The response is the
    receipt. It lists what was erased, and where copies may remain out of reach.
    """
    return ErasureOut.of(await memory.erase(**body.given()))


@router.get("/v1/erasures", summary="List the receipts of erasures")
async def erasures(
    memory: Administering,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED, description="The maximum number.")] = 100,
) -> ErasuresOut:
    """The receipts of erasures, newest first. A receipt contains no text of what was erased."""
    return ErasuresOut.of(await memory.erasures(limit))
