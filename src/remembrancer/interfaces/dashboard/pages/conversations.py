"""Conversations: a list of them, and one of them around a turn."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from remembrancer.errors import NotFound
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, kept
from remembrancer.interfaces.dashboard.pages.search import FIELDS
from remembrancer.interfaces.dashboard.rendering import conversation_title, page
from remembrancer.interfaces.dashboard.visit import ReadingVisit

router = APIRouter(route_class=PageRoute)

PAGE: Final = 30
AROUND: Final = 20
"""The turns shown before and after one turn."""


@router.get("/conversations")
async def conversations(visit: ReadingVisit) -> HTMLResponse:
    after = QueryFields(visit.request.query_params).text("after")
    found = await visit.memory.journal.conversations(after=after, limit=PAGE)
    return page(
        visit,
        "conversations.html",
        title="Conversations",
        here="conversations",
        conversations=found.conversations,
        after=after,
        next=found.next,
    )


@router.get("/conversations/{event_id}")
async def conversation(visit: ReadingVisit, event_id: str) -> HTMLResponse:
    """The turns around an event. `turn`: the id of the turn to highlight; the fields of a search lead back to it."""
    asked = QueryFields(visit.request.query_params)
    found = await visit.memory.journal.conversation(event_id, before=AROUND, after=AROUND)
    return page(
        visit,
        "conversation.html",
        title=conversation_title(found.conversation),
        here="conversations",
        found=found,
        turn=asked.identifier("turn"),
        carried=kept(visit.request.query_params, ("turn", *FIELDS)),
        question=asked.text("q"),
        search=visit.link("/search", **kept(visit.request.query_params, FIELDS)),
    )


@router.get("/memories/{memory_id}/conversation")
async def of_memory(visit: ReadingVisit, memory_id: str) -> RedirectResponse:
    """Redirect to the conversation that a memory was formed from, at the first of its turns. Raises NotFound."""
    details = await visit.memory.show(memory_id)
    if not details.events:
        raise NotFound("turn of memory", details.memory.id)
    turn = details.events[0].id
    return RedirectResponse(f"{visit.link(f'/conversations/{turn}', turn=turn)}#turn-{turn}", HTTPStatus.SEE_OTHER)
