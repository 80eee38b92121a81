"""The SQL clauses and the array masks keep exactly what `domain.selection` keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.adapters.relational import memories, schema
from remembrancer.adapters.relational.clauses import events_kept_by, kept_by, seen_by
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.adapters.relational.journal import add_events
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.event import Event, Priority, Role, Severity
from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see, excluded_by
from remembrancer.domain.strength import Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.index.columns import MemoryColumns
from remembrancer.ports.changes import ChangedMemory
from remembrancer.ports.journal import EventFilter
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, an_event, indexed

moments = st.integers(-1, 1).map(lambda hours: NOW + timedelta(hours=hours))
maybe_moments = st.none() | moments
CURRENT = Filter(current_at=NOW)
KEYS = ("colour", "a.b", 'the "key"', "größe")
NESTED: list[JsonValue] = [["blue"], {"colour": "blue"}, [], {}]
scalars = st.sampled_from(
    [None, True, False, 0, 1, 1.0, -1, -2, 0.1, 2**53 + 1, 2.0**53, "", "1", "true", "blue", "a'b"]
)
scopes = st.builds(
    Scope,
    workspace=st.sampled_from(["acme", "rival"]),
    project=st.sampled_from([None, "web", "ops"]),
    crew=st.sampled_from([None, "platform", "sales"]),
    agent=st.sampled_from([None, "ana", "bob"]),
    session=st.sampled_from([None, "monday", "tuesday"]),
)
spans = st.tuples(maybe_moments, maybe_moments).filter(lambda ends: not (ends[0] and ends[1]) or ends[0] < ends[1])


@st.composite
def event_filters(draw: st.DrawFn) -> EventFilter:
    since, until = draw(spans)
    return EventFilter(
        ids=draw(st.none() | st.frozensets(st.integers(0, 12).map(lambda n: UUID(int=n)))),
        agent=draw(st.sampled_from([None, None, "ana", "never"])),
        without_types=draw(st.frozensets(st.sampled_from(["message", "tool.call", "never"]), max_size=1)),
        recorded_after=draw(maybe_moments),
        recorded_by=draw(maybe_moments),
        session=draw(st.sampled_from([None, "monday", "never"])),
        types=draw(st.none() | st.frozensets(st.sampled_from(["message", "tool.call", "never"]), max_size=2)),
        since=since,
        until=until,
        project=draw(st.sampled_from([None, None, None, "web"])),
        crew=draw(st.sampled_from([None, None, None, "platform"])),
        severities=draw(st.none() | st.frozensets(st.sampled_from(Severity))),
        priorities=draw(st.none() | st.frozensets(st.sampled_from(Priority))),
        roles=draw(st.none() | st.frozensets(st.sampled_from(Role))),
        actor=draw(st.sampled_from([None, None, "Ana"])),
        words=draw(st.sampled_from([(), (frozenset({"owl"}),), (frozenset({"owl", "hawk"}), frozenset({"a"}))])),
    )


@st.composite
def events(draw: st.DrawFn) -> Event:
    at = draw(moments)
    event = an_event(draw(st.sampled_from(["an owl", "a hawk", "an owl, a hawk"])), scope=draw(scopes), at=at)
    return replace(
        event,
        type=draw(st.sampled_from(["message", "tool.call"])),
        severity=draw(st.sampled_from(Severity)),
        priority=draw(st.sampled_from(Priority)),
        role=draw(st.sampled_from(Role)),
        actor=draw(st.sampled_from([None, "Ana"])),
    )


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """Filters with few conditions, because all together would match nothing."""
    where = Filter(current_at=draw(moments))
    conditions = ("kinds", "tiers", "visibilities", "tags", "without tags", "metadata", "words", "crew", "times")
    for condition in draw(st.sets(st.sampled_from(conditions), max_size=2)):
        match condition:
            case "visibilities":
                where = replace(where, visibilities=draw(st.frozensets(st.sampled_from(Visibility))))
            case "without tags":
                unwanted = draw(st.frozensets(st.sampled_from(["deploy", "it's", "50%"]), max_size=2))
                where = replace(where, without_tags=unwanted)
            case "metadata":
                pairs = st.tuples(st.sampled_from(KEYS), scalars)
                where = replace(where, metadata=tuple(draw(st.lists(pairs, max_size=2))))
            case "kinds":
                where = replace(where, kinds=draw(st.frozensets(st.sampled_from(["note", "never"]))))
            case "tiers":
                where = replace(where, tiers=draw(st.frozensets(st.sampled_from(Tier))))
            case "tags":
                where = replace(where, tags=draw(st.frozensets(st.sampled_from(["deploy", "it's", "50%"]), max_size=2)))
            case "words":
                source, session = draw(st.sampled_from([(None, "monday"), ("mail", None), ("never", "never")]))
                where = replace(where, source=source, session=session)
            case "crew":
                where = replace(where, crew=draw(st.sampled_from(["platform", "never"])))
            case _:
                since, until = draw(spans)
                where = replace(where, since=since, until=until)
    return where


@st.composite
def readers(draw: st.DrawFn) -> Reader:
    scope = draw(scopes)
    parts = {Reach.SESSION: scope.session, Reach.OWN: scope.agent, Reach.CREW_SHARED: scope.crew}
    reach = draw(st.sampled_from([reach for reach in Reach if parts.get(reach, "") is not None]))
    return Reader(scope, reach, draw(st.sampled_from([0.0, 0.65, 1.0])))


@st.composite
def owned_memories(draw: st.DrawFn) -> list[Memory]:
    """Memories of any owner and visibility, otherwise equal."""
    return [
        replace(
            a_memory(memory_id=UUID(int=n), scope=draw(scopes)),
            visibility=draw(st.sampled_from(Visibility)),
            strength=Strength(importance=draw(st.sampled_from([0.0, 0.65, math.nextafter(0.65, 0), 1.0]))),
        )
        for n in range(draw(st.integers(1, 12)))
    ]


@st.composite
def various_memories(draw: st.DrawFn) -> list[Memory]:
    """Memories of one owner, with any values that a filter reads."""
    return [draw(_various(UUID(int=n))) for n in range(draw(st.integers(1, 8)))]


@st.composite
def _various(draw: st.DrawFn, memory_id: UUID) -> Memory:
    begin, end = sorted((draw(moments), draw(moments)))
    crew = draw(st.sampled_from([None, "platform", "sales"]))
    session = draw(st.sampled_from([None, "monday", "tuesday"]))
    memory = replace(
        a_memory(memory_id=memory_id, scope=replace(SCOPE, crew=crew, session=session)),
        tier=draw(st.sampled_from(Tier)),
        kind=draw(st.sampled_from(["note", "decision"])),
        source=draw(st.sampled_from([None, "mail"])),
        tags=tuple(draw(st.lists(st.sampled_from(["deploy", "it's", "50%"]), unique=True))),
        visibility=draw(st.sampled_from([Visibility.WORKSPACE, Visibility.SESSION])),
        metadata=draw(st.dictionaries(st.sampled_from(KEYS), scalars | st.sampled_from(NESTED))),
        occurred_from=begin,
        occurred_to=end,
        recorded_at=NOW - timedelta(hours=1),
    )
    # One reason at most to be left out of what is current: several would hide each other.
    match draw(st.sampled_from(["current", "recorded", "valid", "superseded", "retired"])):
        case "recorded":
            return replace(memory, recorded_at=draw(moments))
        case "valid":
            return replace(memory, valid_from=draw(maybe_moments), valid_until=draw(maybe_moments))
        case "superseded":
            return replace(memory, superseded_by=UUID(int=99), superseded_at=draw(maybe_moments))
        case "retired":
            return replace(memory, status=draw(st.sampled_from(Status)), retired_at=draw(maybe_moments))
        case _:
            return memory


def kept(rows: Sequence[Memory], reader: Reader, where: Filter) -> set[UUID]:
    """The memories that the policy selects."""
    return {
        memory.id
        for memory in rows
        if can_see(reader, memory.scope, memory.visibility, memory.strength.importance)
        and not excluded_by(memory, where)
    }


def holding(rows: Sequence[Memory]) -> Connection:
    connection = connect(":memory:")
    connection.execute(schema.schema_sql())
    for memory in rows:
        number = memories.insert_row(connection, memory, memory.recorded_at)
        added = memories.NewCue(number, indexed(memory).cues[0], revision=1)
        memories.add_cues(connection, memory.scope.workspace, [added], {})
    return connection


@settings(max_examples=80, deadline=None)
@given(owned_memories(), readers())
def test_the_clauses_show_the_same_rows_as_the_policy(rows: list[Memory], reader: Reader) -> None:
    assert kept_by_clauses(rows, reader, CURRENT) == kept(rows, reader, CURRENT)


@settings(max_examples=80, deadline=None)
@given(owned_memories(), readers())
def test_the_columns_show_the_same_rows_as_the_policy(rows: list[Memory], reader: Reader) -> None:
    # The resident index is one workspace's: rows of another never reach it.
    mine = [replace(row, scope=replace(row.scope, workspace=reader.scope.workspace)) for row in rows]
    assert kept_by_columns(loaded(mine), reader, CURRENT) == kept(mine, reader, CURRENT)


@settings(max_examples=80, deadline=None)
@given(various_memories(), filters())
def test_the_clauses_select_the_same_rows_as_the_policy(rows: list[Memory], where: Filter) -> None:
    assert kept_by_clauses(rows, READER, where) == kept(rows, READER, where)


@settings(max_examples=80, deadline=None)
@given(various_memories(), filters())
def test_the_columns_select_the_same_rows_as_the_policy(rows: list[Memory], where: Filter) -> None:
    assert kept_by_columns(loaded(rows), READER, where) == kept(rows, READER, where)


@settings(max_examples=50, deadline=None)
@given(various_memories(), st.data())
def test_updated_columns_select_the_same_rows_as_the_policy(rows: list[Memory], data: st.DataObject) -> None:
    columns = loaded(rows)
    later = [
        replace(memory, status=data.draw(st.sampled_from(Status)), retired_at=data.draw(maybe_moments))
        for memory in rows
    ]
    for slot, row in enumerate(memory_rows(holding(later))):
        columns.update(slot, row)
    assert kept_by_columns(columns, READER, CURRENT) == kept(later, READER, CURRENT)


@settings(max_examples=80, deadline=None)
@given(st.lists(events(), max_size=12), readers(), event_filters())
def test_the_clauses_select_the_same_rows_as_an_event_filter(
    given_rows: list[Event], reader: Reader, where: EventFilter
) -> None:
    rows = [replace(event, id=UUID(int=n)) for n, event in enumerate(given_rows)]
    connection = connect(":memory:")
    connection.execute(schema.schema_sql())
    for seq, event in enumerate(rows):
        add_events(connection, event.scope.workspace, [replace(event, seq=seq)], [event.text.replace(",", "").split()])
    conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), "events")
    found = connection.execute(f"SELECT e.id FROM events e WHERE {conditions.sql}", conditions.bindings)
    assert {UUID(bytes=identifier) for (identifier,) in found} == {
        event.id for event in rows if can_see(reader, event.scope, Visibility.WORKSPACE) and _keeps(where, event)
    }


def _keeps(where: EventFilter, event: Event) -> bool:
    return (
        (where.ids is None or event.id in where.ids)
        and where.project in (None, event.scope.project)
        and where.crew in (None, event.scope.crew)
        and where.agent in (None, event.scope.agent)
        and where.session in (None, event.scope.session)
        and where.actor in (None, event.actor)
        and event.type not in where.without_types
        and (where.severities is None or event.severity in where.severities)
        and (where.priorities is None or event.priority in where.priorities)
        and (where.roles is None or event.role in where.roles)
        and all(words & set(event.text.replace(",", "").split()) for words in where.words)
        and (where.recorded_after is None or where.recorded_after < event.recorded_at)
        and (where.recorded_by is None or event.recorded_at <= where.recorded_by)
        and (where.types is None or event.type in where.types)
        and (where.since is None or where.since <= event.occurred_at)
        and (where.until is None or event.occurred_at < where.until)
    )


def kept_by_clauses(rows: Sequence[Memory], reader: Reader, where: Filter) -> set[UUID]:
    connection = holding(rows)
    conditions = kept_by(connection.dialect, where, seen_by(reader, "m", visibility=True))
    found = connection.execute(f"SELECT m.id FROM memories m WHERE {conditions.sql}", conditions.bindings)
    return {UUID(bytes=identifier) for (identifier,) in found}


def loaded(rows: Sequence[Memory]) -> MemoryColumns:
    columns = MemoryColumns()
    columns.append(memory_rows(holding(rows)))
    return columns


def memory_rows(connection: Connection) -> list[ChangedMemory]:
    """All rows of every workspace, in the order of insertion."""
    workspaces = [name for (name,) in connection.execute("SELECT workspace FROM memories GROUP BY workspace")]
    rows = [
        row
        for name in workspaces
        for row in RelationalView(connection).changes(Scope(workspace=name), after=0, model=None)
    ]
    numbers: dict[bytes, int] = {row[0]: row[1] for row in connection.execute("SELECT id, n FROM memories")}
    return sorted(rows, key=lambda row: numbers[row.id.bytes])


def kept_by_columns(columns: MemoryColumns, reader: Reader, where: Filter) -> set[UUID]:
    mask = columns.mask(reader, where)
    return set(columns.ids(np.flatnonzero(mask)))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), json_values, min_size=1, max_size=3), st.data()
)
def test_any_metadata_is_selected_by_its_values(held: dict[str, JsonValue], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(held)))
    others = st.sampled_from(sorted((value for value in held.values() if not isinstance(value, dict | list)), key=repr))
    asked = data.draw(
        scalars | others if any(not isinstance(value, dict | list) for value in held.values()) else scalars
    )
    where = replace(CURRENT, metadata=((key, asked),))
    rows = [replace(a_memory(), metadata=held)]
    expected = kept(rows, READER, where)
    assert (kept_by_clauses(rows, READER, where), kept_by_columns(loaded(rows), READER, where)) == (expected, expected)


def test_tags_are_compared_whole() -> None:
    rows = [replace(a_memory(), tags=("deployment",))]
    assert kept_by_clauses(rows, READER, replace(CURRENT, tags=frozenset({"deploy"}))) == set()


VERY_MOMENT = {
    "recorded": replace(a_memory(), recorded_at=NOW),
    "valid from": replace(a_memory(), valid_from=NOW),
    "valid until": replace(a_memory(), valid_until=NOW),
    "superseded": replace(a_memory(), superseded_by=UUID(int=99), superseded_at=NOW),
    "retired": replace(a_memory(), status=Status.RETIRED, retired_at=NOW),
    "ended": replace(a_memory(), occurred_from=NOW - timedelta(hours=1), occurred_to=NOW),
    "began": replace(a_memory(), occurred_from=NOW, occurred_to=NOW + timedelta(hours=1)),
}


@pytest.mark.parametrize("what", VERY_MOMENT)
@pytest.mark.parametrize(
    "where", [CURRENT, replace(CURRENT, since=NOW), replace(CURRENT, until=NOW)], ids=["now", "since", "until"]
)
def test_at_the_very_moment_all_three_agree(what: str, where: Filter) -> None:
    rows = [VERY_MOMENT[what]]
    expected = kept(rows, READER, where)
    assert (kept_by_clauses(rows, READER, where), kept_by_columns(loaded(rows), READER, where)) == (expected, expected)


def test_an_event_at_the_very_end_is_left_out() -> None:
    connection = connect(":memory:")
    connection.execute(schema.schema_sql())
    add_events(connection, an_event().scope.workspace, [an_event(at=NOW)], [()])
    conditions = events_kept_by(
        connection.dialect, EventFilter(until=NOW), seen_by(READER, "e", visibility=False), "events"
    )
    assert list(connection.execute(f"SELECT e.id FROM events e WHERE {conditions.sql}", conditions.bindings)) == []
