"""The journal, newest first, a page at a time. A script adds new entries."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain.event import Priority, Role, Severity
from remembrancer.engine.journal import EventFilters
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, kept
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, address
from remembrancer.interfaces.wire.journal import JournalPageOut

router = APIRouter(route_class=PageRoute)

FILTERS: Final = ("q", "types", "severities", "priorities", "roles", "actor", "since", "until", "archived")
LIVE: Final = ("query", "types", "severities", "priorities", "roles", "actor")
"""The filters that the event stream also accepts."""
PAGE: Final = 50
STREAM: Final = "/v1/events/stream"


@router.get("/journal")
async def journal(visit: ReadingVisit) -> HTMLResponse:
    asked = QueryFields(visit.request.query_params)
    chosen: EventFilters = {
        "query": asked.text("q"),
        "types": asked.several("types") or None,
        "severities": asked.several("severities") or None,
        "priorities": asked.several("priorities") or None,
        "roles": asked.several("roles") or None,
        "actor": asked.text("actor"),
        "since": asked.moment("since"),
        "until": asked.moment("until", to_end_of_day=True),
        "archived": asked.flag("archived"),
    }
    after = asked.text("after")
    # Read before the page: an event recorded meanwhile may come twice (the script detects that) but is not missed.
    position = (await visit.memory.journal.recorded(limit=0)).position
    read = await visit.memory.journal.page(after=after, limit=PAGE, **chosen)
    found = JournalPageOut.of(read)
    carried = kept(visit.request.query_params, FILTERS)
    live = {name: chosen.get(name) for name in LIVE}
    is_live = after is None and chosen.get("until") is None
    return page(
        visit,
        "journal.html",
        title="Journal",
        here="journal",
        events=found.events,
        titles=await visit.memory.journal.titles(event.scope for event in read.events),
        next=found.next,
        after=after,
        asked=asked,
        severities=[one.value for one in Severity],
        priorities=[one.value for one in Priority],
        roles=[one.value for one in Role],
        carried=carried,
        stream=address(STREAM, visit.scope, live, {"after": position}) if is_live else None,
        page_size=PAGE,
    )
