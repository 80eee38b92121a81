"""Crewship's journal routes: listing, counting, following and marking entries."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus
from typing import Annotated, Final, TypeVar, get_args

from fastapi import Depends, Header, Query
from pydantic import Field

from remembrancer.domain import validation
from remembrancer.domain.event import Priority, Role, Severity
from remembrancer.domain.journal import PriorityChange, Recorded
from remembrancer.engine.journal import MAX_REASON_BYTES, EventFilters
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http import streams
from remembrancer.interfaces.http.access import Administering, ReadableMemory
from remembrancer.interfaces.http.dropin.router import ForeignBody, foreign_router, in_its_words
from remembrancer.interfaces.http.given import EventId, SinceQuery, UntilQuery
from remembrancer.interfaces.http.routes.events import streamed
from remembrancer.interfaces.http.v1 import MISSING
from remembrancer.interfaces.wire import crewship

MAX_QUERY_CHARS: Final = 200
SEED: Final = 50
"""The number of past entries at the beginning of a stream."""
PRIORITY_CHANGED: Final = "memory.priority_changed"
_THEIR_WORDS: Final = {
    "query": "q",
    "after": "cursor",
    "crew": "crew_id",
    "agent": "agent_id",
    "project": "mission_id",
    "session": "trace_id",
    "actor": "actor_id",
}

router = foreign_router("Crewship")

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


_ActorType = StrEnum("_ActorType", get_args(crewship.ActorType))


class CrewshipPriorityIn(ForeignBody):
    """A new priority for an entry. `reason`: why, which is kept with the change."""

    priority: Priority
    reason: Annotated[str, Field(max_length=MAX_REASON_BYTES)] = ""


def _several(of: str) -> str:
    return f"Only {of}, separated by commas: any of them."


def chosen_entries(
    *,
    crew_id: Annotated[str | None, Query(description="Only this crew.")] = None,
    crew_ids: Annotated[str | None, Query(description=_several("these crews") + " It overrides `crew_id`.")] = None,
    agent_id: Annotated[str | None, Query(description="Only this agent.")] = None,
    agent_ids: Annotated[str | None, Query(description=_several("these agents") + " It overrides `agent_id`.")] = None,
    mission_id: Annotated[str | None, Query(description="Only this mission, which is a project here.")] = None,
    trace_id: Annotated[str | None, Query(description="Only this run, which is a session here.")] = None,
    run_id: Annotated[str | None, Query(description="The same as `trace_id`.")] = None,
    actor_id: Annotated[str | None, Query(description="Only by the actor with this name.")] = None,
    entry_type: Annotated[str | None, Query(description=_several("these types"))] = None,
    exclude_entry_type: Annotated[str | None, Query(description="Not these types.")] = None,
    severity: Annotated[str | None, Query(description=_several("info, notice, warn or error"))] = None,
    actor_type: Annotated[str | None, Query(description=_several(", ".join(_ActorType)))] = None,
    priority: Annotated[str | None, Query(description=_several("normal, high, pin or permanent"))] = None,
    since: SinceQuery = None,
    until: UntilQuery = None,
    q: Annotated[
        str | None, Query(max_length=MAX_QUERY_CHARS, description="Only with all of these words, in any order.")
    ] = None,
) -> EventFilters:
    if None not in (trace_id, run_id) and trace_id != run_id:
        raise InvalidInput("run_id", run_id, "the same as trace_id: both are the session")
    chosen: EventFilters = {
        "crew": None if crew_ids else crew_id or None,
        "crews": _parts("crew_ids", crew_ids, validation.name),
        "agent": None if agent_ids else agent_id or None,
        "agents": _parts("agent_ids", agent_ids, validation.name),
        "project": mission_id or None,
        "session": trace_id or run_id or None,
        "actor": actor_id or None,
        "types": _parts("entry_type", entry_type, validation.slug),
        "without_types": _parts("exclude_entry_type", exclude_entry_type, validation.slug),
        "severities": _parts("severity", severity, _choice(Severity)),
        "priorities": _parts("priority", priority, _choice(Priority)),
        "roles": _roles(actor_type),
        "since": since,
        "until": until,
        "query": q if q and q.strip() else None,
    }
    return chosen


ChosenEntries = Annotated[EventFilters, Depends(chosen_entries)]
Archive = Annotated[bool, Query(description="Also entries in the archive, as shortened there.")]


@router.get(
    "/api/v1/journal",
    summary="List the journal",
    response_model_exclude_unset=True,
)
async def journal(
    memory: ReadableMemory,
    entries: ChosenEntries,
    limit: Annotated[int, Query(ge=1, le=500, description="ChosenEntries per page.")] = 100,
    cursor: Annotated[str | None, Query(description="The `next_cursor` of the previous page.")] = None,
    include_archive: Archive = False,
) -> crewship.CrewshipJournalOut:
    """Entries by when they happened, newest first, a page at a time."""
    with in_its_words(_THEIR_WORDS):
        page = await memory.journal.page(after=cursor or None, limit=limit, **{**entries, "archived": include_archive})
    return crewship.CrewshipJournalOut.of(page)


@router.get("/api/v1/journal/count", summary="Count entries of the journal")
async def count(
    memory: ReadableMemory, entries: ChosenEntries, include_archive: Archive = False
) -> crewship.CrewshipCountOut:
    """The number of entries that match the filters."""
    with in_its_words(_THEIR_WORDS):
        return crewship.CrewshipCountOut(total=await memory.journal.count(**{**entries, "archived": include_archive}))


@router.get(
    "/api/v1/journal/stream",
    summary="Follow the journal",
    status_code=HTTPStatus.OK,
    response_class=streams.EventStream,
    response_model=None,
    responses=streamed("`data`: one line of CrewshipEntryOut as JSON. `id`: its position in the order of recording."),
)
async def stream(
    memory: ReadableMemory,
    entries: ChosenEntries,
    slot: Annotated[streams.StreamSlot, Depends(streams.stream_slot)],
    last_event_id: Annotated[
        streams.LastEventId | None, Header(alias="Last-Event-ID", description="The last `id` received.")
    ] = None,
) -> streams.EventStream:
    """The last 50 entries, or all after `Last-Event-ID`, and then each new one as it is recorded."""
    after = streams.position_of(last_event_id)
    with in_its_words(_THEIR_WORDS):
        return await streams.followed(memory, slot, _message, entries, after=after, last=SEED)


@router.get("/api/v1/journal/{id}", summary="Read an entry of the journal", responses=MISSING)
async def entry(memory: ReadableMemory, id: EventId) -> crewship.CrewshipEntryOut:  # noqa: A002  the field's own name
    """One entry, also from the archive."""
    return crewship.CrewshipEntryOut.of(await memory.journal.get(id))


@router.post("/api/v1/journal/{id}/priority", summary="Set an entry's priority", responses=MISSING)
async def set_priority(memory: Administering, id: EventId, body: CrewshipPriorityIn) -> crewship.CrewshipPriorityOut:  # noqa: A002
    """Change the priority of an entry. Only for operators, which are keys with the right to administer.

    The change is also recorded in the journal, as an entry of the type `memory.priority_changed`.
    """
    change = await _as_operator(memory).journal.set_priority(id, body.priority, body.reason.strip())
    if change.is_change:
        await _log_change(memory, change)
    return crewship.CrewshipPriorityOut.of(change)


def _as_operator(memory: AsyncRemembrancer) -> AsyncRemembrancer:
    """The memory in the role of an operator. A key with the right to administer may choose its role."""
    operators = memory.presets.in_use.access_policy.operators
    return memory.scoped(role=operators[0]) if operators else memory


async def _log_change(memory: AsyncRemembrancer, change: PriorityChange) -> None:
    await memory.journal.log(
        PRIORITY_CHANGED,
        f"The priority of an entry was changed from {change.previous} to {change.priority}.",
        severity=Severity.NOTICE,
        payload={
            "entry_id": str(change.event_id),
            "previous": change.previous.value,
            "priority": change.priority.value,
            "reason": change.reason,
            "by": change.by,
        },
        refs={"parent_entry_id": str(change.event_id)},
        key=f"{PRIORITY_CHANGED}:{change.event_id}:{change.at.isoformat()}",
    )


def _message(one: Recorded) -> str:
    return streams.message(data=crewship.CrewshipEntryOut.of(one.event).model_dump_json(), position=one.position)


def _parts(argument: str, value: str | None, check: Callable[[str, object], T]) -> list[T] | None:
    """The checked values of a comma-separated list; None if there is none."""
    parts = [part.strip() for part in (value or "").split(",")]
    return [check(argument, part) for part in parts if part] or None


def _choice(options: type[E]) -> Callable[[str, object], E]:
    return lambda argument, value: validation.choice(argument, value, options)


def _roles(actor_type: str | None) -> list[Role] | None:
    """The roles of those actor types. Keepers and orchestrators have none, because no entry is by them."""
    named = _parts("actor_type", actor_type, _choice(_ActorType))
    return None if named is None else [role for role, known in crewship.ACTOR_TYPES.items() if known in named]
