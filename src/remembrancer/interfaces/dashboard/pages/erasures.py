"""Erasing memories for good: a preview, the confirmation, and the receipts."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from remembrancer.domain import validation
from remembrancer.errors import NotFound
from remembrancer.facade import MAX_LISTED, AsyncRemembrancer
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, SubmittedLists, selected_ids
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import AdministeringVisit, ReadingVisit
from remembrancer.interfaces.text import ERASED_ROWS
from remembrancer.interfaces.wire.erasures import ErasureOut, ErasuresOut
from remembrancer.interfaces.wire.memories import MemoriesOut

router = APIRouter(route_class=PageRoute)

MOST: Final = 200
"""The most memories of one erasure from the dashboard."""
LISTED: Final = 100
NAMED: Final = {
    "derived": "Derived from them, and erased too",
    "rebuilt": "Rewritten without them",
    "restored": "Recalled again, because what superseded them was erased",
    "requeued": "To be processed again",
    "kept_sources": "Kept: sources of what was erased, because they say something else",
    "repeated": "Kept, although they contain one of the texts word for word: erase them too if you mean it",
}
"""The lists of ids of a receipt that concern other memories."""


@router.get("/erasures")
async def receipts(visit: ReadingVisit) -> HTMLResponse:
    found = ErasuresOut.of(await visit.memory.erasures(limit=LISTED)).erasures
    return page(visit, "erasures.html", title="Erasures", here="erasures", receipts=found, most=LISTED)


@router.get("/erasures/new")
async def confirming(visit: ReadingVisit) -> HTMLResponse:
    """A preview of an erasure of the memories `ids`. It erases nothing."""
    asked = QueryFields(visit.request.query_params)
    ids = selected_ids(asked.several("ids"), MOST)
    known = [one.memory for one in await visit.memory.health.forecasts(ids)]
    told: dict[str, Any] = {"receipt": None, "others": {}}
    if known and visit.may_erase:
        preview = ErasureOut.of(await visit.memory.erase(ids=[one.id for one in known], dry_run=True))
        told = {"receipt": preview, "others": await _others(visit.memory, preview)}
    return page(
        visit,
        "erase.html",
        title="Erase memories",
        here="memories",
        memories=MemoriesOut.of(known).memories,
        gone=len(ids) - len(known),
        rows=ERASED_ROWS,
        named=NAMED,
        **told,
    )


@router.post("/erasures")
async def erase(visit: AdministeringVisit, form: SubmittedLists) -> RedirectResponse:
    """Erase the memories `ids`, and redirect to the receipt; for a form that is sent again, to the first receipt."""
    ids = selected_ids(form.get("ids") or [], MOST)
    try:
        receipt = await visit.memory.erase(ids=ids)
    except NotFound:
        earlier = [one for one in await visit.memory.erasures(limit=LISTED) if one.asked.ids == frozenset(ids)]
        if not earlier:
            raise
        receipt = earlier[0]
    return RedirectResponse(visit.link(f"/erasures/{receipt.id}"), HTTPStatus.SEE_OTHER)


@router.get("/erasures/{erasure_id}")
async def receipt(visit: ReadingVisit, erasure_id: str) -> HTMLResponse:
    identifier = validation.identifier("erasure_id", erasure_id)
    found = [one for one in await visit.memory.erasures(limit=MAX_LISTED) if one.id == identifier]
    if not found:
        raise NotFound("erasure", identifier)
    told = ErasureOut.of(found[0])
    return page(
        visit,
        "receipt.html",
        title="Receipt of an erasure",
        here="erasures",
        receipt=told,
        others=await _others(visit.memory, told),
        rows=ERASED_ROWS,
        named=NAMED,
    )


async def _others(memory: AsyncRemembrancer, receipt: ErasureOut) -> dict[UUID, Any]:
    """The other memories that the receipt names and that are still there, by id."""
    ids = [one for name in NAMED for one in getattr(receipt, name)]
    found = await memory.health.forecasts(ids[:MAX_LISTED])
    return {one.id: one for one in MemoriesOut.of([one.memory for one in found]).memories}
