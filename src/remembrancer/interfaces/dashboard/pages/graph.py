"""The graph around one speaker, name, conversation or memory, or an overview of what is newest and most connected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain import validation
from remembrancer.engine.graph import WINDOW, Graph, Link, Node, NodeKind
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.charts.graph import BACKWARDS, KINDS, WORDS, GraphNode, link_graph
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit
from remembrancer.interfaces.text import one_line

router = APIRouter(route_class=PageRoute)

ROOM: Final = 40
"""The default number of nodes in the graph."""
MOST: Final = 120
_FIELDS: Final = {
    NodeKind.SPEAKER: "speaker",
    NodeKind.NAME: "name",
    NodeKind.CONVERSATION: "conversation",
    NodeKind.EPISODE: "memory",
    NodeKind.MEMORY: "memory",
}
"""The field of the query string that puts a node of this kind in the middle."""


@router.get("/graph")
async def graph(visit: ReadingVisit) -> HTMLResponse:
    """The graph. `find`: the name of a speaker, any other name, or the id of a memory."""
    asked = QueryFields(visit.request.query_params)
    limit = asked.whole("limit", ROOM, 2, MOST)
    found = await _found(visit.memory, asked, limit)
    nodes = {node.id: node for node in found.nodes}
    pages = {node.id: _around(visit, node) for node in found.nodes}
    focus = found.focus
    return page(
        visit,
        "graph.html",
        title="Graph" if focus is None else f"Graph: {one_line(focus.label)[:80]}",
        here="graph",
        picture=link_graph(
            [GraphNode(node.id, one_line(node.label), node.kind, pages[node.id]) for node in found.nodes],
            found.links,
            focus=None if focus is None else focus.id,
        ),
        found=found,
        focus=focus,
        own_page=None if focus is None else _own_page(visit, focus),
        nodes=nodes,
        pages=pages,
        kinds=KINDS,
        words=WORDS,
        groups=list(_groups(found)),
        left_out={KINDS[kind]: count for kind, count in found.left_out.items()},
        window=WINDOW,
        asked=asked,
        limit=limit,
        most=MOST,
    )


async def _found(memory: AsyncRemembrancer, asked: QueryFields, limit: int) -> Graph:
    wanted = asked.text("find")
    if wanted is None:
        return await memory.graph(
            asked.identifier("memory"),
            speaker=asked.text("speaker"),
            name=asked.text("name"),
            conversation=asked.identifier("conversation"),
            limit=limit,
        )
    validation.name("find", wanted)
    try:
        return await memory.graph(UUID(wanted), limit=limit)
    except ValueError:
        spoken = await memory.graph(speaker=wanted, limit=limit)
        return spoken if spoken.turns else await memory.graph(name=wanted, limit=limit)


def _around(visit: Visit, node: Node) -> str:
    return visit.link("/graph", **{_FIELDS[node.kind]: node.key})


def _own_page(visit: Visit, node: Node) -> tuple[str, str]:
    """The address of the page about a node, and what it is."""
    match node.kind:
        case NodeKind.SPEAKER:
            return visit.link("/journal", actor=node.key), "everything said, in the journal"
        case NodeKind.NAME:
            return visit.link("/search", q=node.key), "search for it"
        case NodeKind.CONVERSATION:
            return visit.link(f"/conversations/{node.key}"), "read it"
        case NodeKind.EPISODE | NodeKind.MEMORY:
            return visit.link(f"/memories/{node.key}"), "its page"


def _groups(found: Graph) -> Iterator[tuple[str, Sequence[tuple[Node, Link | None]]]]:
    """The nodes in words. Around a node: those linked to it, by the words of their link. Otherwise by kind."""
    nodes = {node.id: node for node in found.nodes}
    if found.focus is None:
        for kind, words in KINDS.items():
            if some := [(node, None) for node in found.nodes if node.kind is kind]:
                yield words, some
        return
    near: dict[str, list[tuple[Node, Link | None]]] = {}
    for link in found.links:
        if link.source == found.focus.id:
            near.setdefault(WORDS[link.kind], []).append((nodes[link.target], link))
        elif link.target == found.focus.id:
            near.setdefault(BACKWARDS[link.kind], []).append((nodes[link.source], link))
    yield from near.items()
