"""The graph of relations around one memory, or of the memories with the most relations."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.interfaces.charts.graph import GraphNode, relation_graph
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit
from remembrancer.interfaces.wire.memories import DecayForecastsOut, RelationOut

router = APIRouter(route_class=PageRoute)

ROOM: Final = 40
"""The default number of memories in the graph."""
MOST: Final = 120


@router.get("/graph")
async def graph(visit: ReadingVisit) -> HTMLResponse:
    asked = QueryFields(visit.request.query_params)
    around, limit = asked.identifier("memory"), asked.whole("limit", ROOM, 2, MOST)
    found = await visit.memory.graph(around, limit=limit)
    memories = DecayForecastsOut.of(found.memories).memories
    relations = [RelationOut.of(one) for one in found.relations]
    nodes = [GraphNode.of(one.memory) for one in memories]
    return page(
        visit,
        "graph.html",
        title="Graph",
        here="graph",
        picture=relation_graph(nodes, relations, focus=around, query=visit.query),
        around=next((one.memory for one in memories if one.memory.id == around), None),
        memories={one.memory.id: one.memory for one in memories},
        relations=relations,
        cut=found.cut,
        limit=limit,
        most=MOST,
        room=ROOM,
    )
