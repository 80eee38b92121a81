"""The table of memories: filters, order, pages, and actions on the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import QueryParams

from remembrancer.domain import validation
from remembrancer.domain.listing import MemoryOrder, MemoryState
from remembrancer.domain.memory import Memory
from remembrancer.errors import Conflict, InvalidInput, NotFound, Unsupported
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, SubmittedLists, kept, selected_ids
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit, WritingVisit
from remembrancer.interfaces.text import counted
from remembrancer.interfaces.wire.memories import DecayForecastsOut, MemoriesOut
from remembrancer.values import dataclass

router = APIRouter(route_class=PageRoute)

PAGE: Final = 30
SELECTED: Final = 200
"""The most memories of one bulk action."""
FILTERS: Final = ("q", "kinds", "who", "state", "tags", "in_session", "since", "until", "sort")
PINNED: Final = "pinned"
STATES: Final = {
    MemoryState.CURRENT.value: ("current", MemoryState.CURRENT),
    PINNED: ("pinned", MemoryState.CURRENT),
    MemoryState.RETIRED.value: ("forgotten", MemoryState.RETIRED),
    MemoryState.ENDED.value: ("superseded or expired", MemoryState.ENDED),
    MemoryState.ANY.value: ("any", MemoryState.ANY),
}
"""The choices of the filter by state: the label, and the state that is listed."""
SORTS: Final = {
    "newest": ("newest first", MemoryOrder.TIME, False),
    "oldest": ("oldest first", MemoryOrder.TIME, True),
    "important": ("most important first", MemoryOrder.IMPORTANCE, False),
    "unimportant": ("least important first", MemoryOrder.IMPORTANCE, True),
    "used": ("last used first", MemoryOrder.USED, False),
}
"""The choices of the order: the label, the order, and whether it is reversed."""


class BulkAction(StrEnum):
    """An action on the selected memories."""

    TAG = "tag"
    PIN = "pin"
    UNPIN = "unpin"
    FORGET = "forget"
    RESTORE = "restore"
    ERASE = "erase"


DONE: Final[dict[str, str]] = {
    BulkAction.TAG: "tagged",
    BulkAction.PIN: "pinned",
    BulkAction.UNPIN: "unpinned",
    BulkAction.FORGET: "forgotten",
    BulkAction.RESTORE: "restored",
}
"""The word for a memory after each action. Erasing has a page of its own."""


@dataclass(frozen=True, slots=True)
class FailedAction:
    """A memory that a bulk action did not change, and why."""

    memory_id: UUID
    reason: str


@router.get("/memories")
async def memories(visit: ReadingVisit) -> HTMLResponse:
    asked = QueryFields(visit.request.query_params)
    state, (_, listed) = asked.choice("state", STATES, MemoryState.CURRENT.value)
    sort, (_, order, is_reversed) = asked.choice("sort", SORTS, "newest")
    tags = asked.several("tags")
    if state == PINNED:
        tags = [*tags, _pinned_tag(visit)]
    after = asked.text("after")
    found = await visit.memory.memories(
        query=asked.text("q"),
        kinds=asked.several("kinds") or None,
        speaker=asked.text("who"),
        state=listed,
        tags=tags,
        session=asked.text("in_session"),
        since=asked.moment("since"),
        until=asked.moment("until", to_end_of_day=True),
        order=order,
        oldest_first=is_reversed,
        after=after,
        limit=PAGE,
    )
    forecasts = await visit.memory.health.forecasts([one.id for one in found.memories])
    carried = kept(visit.request.query_params, FILTERS)
    done, number = asked.text("done"), asked.whole("count", 0, 0, SELECTED)
    return page(
        visit,
        "memories.html",
        title="Memories",
        here="memories",
        rows=DecayForecastsOut.of(forecasts).memories,
        titles=await visit.memory.journal.titles(one.scope for one in found.memories),
        next=found.next,
        after=after,
        asked=asked,
        states={name: label for name, (label, _) in STATES.items() if name != PINNED or visit.pinned_tag},
        state=state,
        sorts={name: label for name, (label, *_) in SORTS.items()},
        sort=sort,
        carried=carried,
        filtered=bool(kept(visit.request.query_params, [one for one in FILTERS if one != "sort"])),
        kinds=sorted({one.kind for one in found.memories} | set(visit.memory.presets.in_use.formation.kinds)),
        back=visit.request.url.query,
        done=f"{counted(number, 'memory')} {DONE[done]}." if done in DONE and number else None,
        selected_most=SELECTED,
    )


@router.post("/memories/selected")
async def selected(visit: WritingVisit, form: SubmittedLists) -> Response:
    """Do the chosen action to each selected memory. Doing it again changes nothing, so a form may be sent twice."""
    action = validation.choice("action", _last(form, "action"), BulkAction)
    ids = selected_ids(form.get("ids") or [], SELECTED)
    if action is BulkAction.ERASE:
        address = visit.link("/erasures/new", ids=[str(one) for one in ids])
        return RedirectResponse(address, HTTPStatus.SEE_OTHER)
    tag = "" if action is not BulkAction.TAG else validation.tags("tag", (_last(form, "tag"),))[0]
    failed: list[FailedAction] = []
    for one in ids:
        try:
            await _do(visit, action, one, tag)
        except (Conflict, InvalidInput, NotFound, Unsupported) as error:
            failed.append(FailedAction(one, str(error)))
    back = kept(QueryParams(_last(form, "back")), (*FILTERS, "after"))
    changed = len(ids) - len(failed)
    if not failed:
        return RedirectResponse(visit.link("/memories", **back, done=action.value, count=changed), HTTPStatus.SEE_OTHER)
    known = await _known(visit, [one.memory_id for one in failed])
    return page(
        visit,
        "selected.html",
        title="Not all could be changed",
        here="memories",
        failed=failed,
        known=known,
        changed=changed,
        done=DONE[action],
        back=visit.link("/memories", **back),
    )


async def _do(visit: Visit, action: BulkAction, memory_id: UUID, tag: str) -> None:
    memory = visit.memory
    match action:
        case BulkAction.PIN:
            await memory.pin(memory_id)
        case BulkAction.UNPIN:
            await memory.unpin(memory_id)
        case BulkAction.FORGET:
            await memory.forget(memory_id)
        case BulkAction.RESTORE:
            await memory.restore(memory_id)
        case _:
            known: Memory = await memory.get(memory_id)
            if tag not in known.tags:
                await memory.update(memory_id, expected_revision=known.revision, tags=[*known.tags, tag])


async def _known(visit: Visit, ids: Sequence[UUID]) -> dict[UUID, Any]:
    """The memories with these ids that are there, by id."""
    found = await visit.memory.health.forecasts(ids)
    return {one.id: one for one in MemoriesOut.of([one.memory for one in found]).memories}


def _last(form: SubmittedLists, name: str) -> str:
    return (form.get(name) or [""])[-1].strip()


def _pinned_tag(visit: Visit) -> str:
    tag = visit.pinned_tag
    if tag is None:
        raise InvalidInput("state", PINNED, "another state: this preset has no pinned memories")
    return tag
