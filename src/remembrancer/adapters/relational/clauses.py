"""SQL conditions for the rows that a reader may see and a filter keeps.

They are equivalent to `domain.selection`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import TYPE_CHECKING

from remembrancer.adapters.relational.connection import Binding
from remembrancer.domain.event import MESSAGE, Priority, Severity
from remembrancer.domain.instants import micros
from remembrancer.domain.listing import MemoryOrder, MemoryState
from remembrancer.domain.memory import FLAGGED, PINNED, Status
from remembrancer.domain.names import ALIAS
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.dialect import Dialect
    from remembrancer.adapters.relational.rows import EventTable
    from remembrancer.domain.listing import MemoryListing
    from remembrancer.domain.query import Filter
    from remembrancer.ports.journal import EventFilter


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their bindings in order."""

    conditions: list[str] = field(default_factory=list[str])
    bindings: list[Binding] = field(default_factory=list[Binding])

    def add(self, condition: str, *bindings: Binding) -> None:
        self.conditions.append(condition)
        self.bindings.extend(bindings)

    def add_one_of(self, column: str, values: Collection[str], *, but: bool = False) -> None:
        """Add a condition: the column is one of the values, or with `but`, none of them."""
        if values:
            self.add(f"{column} {'NOT IN' if but else 'IN'} ({marks(values)})", *sorted(values))
        elif not but:
            self.add("FALSE")

    @property
    def sql(self) -> str:
        return " AND ".join(f"({condition})" for condition in self.conditions)


def seen_by(reader: Reader, table: str, *, visibility: bool) -> Where:
    """Conditions for the rows of `table` that the reader may see. `visibility`: the rows have that column."""
    mine = reader.scope
    where = Where()
    where.add(f"{table}.workspace = ?", mine.workspace)
    if mine.project is not None:
        where.add(f"{table}.project IN ('', ?)", mine.project)
    agent, crew, session = mine.agent or "", mine.crew or "", mine.session or ""
    if visibility:
        where.add(
            f"{table}.visibility = 'workspace' OR ({table}.visibility = 'crew' AND {table}.crew = ?)"
            f" OR ({table}.visibility = 'own' AND {table}.agent = ?)"
            f" OR ({table}.visibility = 'session' AND {table}.agent = ? AND {table}.session = ?)",
            crew,
            agent,
            agent,
            session,
        )
    # A reader without an agent binds NULL, which equals nothing: agentless rows of other crews are not its own.
    own = f"{table}.agent = ? OR ({table}.agent = '' AND {table}.crew IN ('', ?))"
    match reader.reach:
        case Reach.WORKSPACE:
            pass
        case Reach.CREW_SHARED:
            if visibility and reader.shared_from > 0:
                where.add(
                    f"({table}.crew = ? AND {table}.importance >= ?) OR {own}",
                    crew,
                    reader.shared_from,
                    mine.agent,
                    crew,
                )
            else:
                where.add(f"{table}.crew = ? OR {own}", crew, mine.agent, crew)
        case Reach.OWN:
            where.add(own, mine.agent, crew)
        case Reach.SESSION:
            where.add(f"{table}.session = ?", session)
            where.add(own, mine.agent, crew)
    return where


def found_by(dialect: Dialect, reader: Reader, where: Filter) -> Where:
    """The conditions for the memories (table `m`) that the reader may see and the filter keeps."""
    return kept_by(dialect, where, seen_by(reader, "m", visibility=True))


def kept_by(dialect: Dialect, where: Filter, conditions: Where, *, state: MemoryState = MemoryState.CURRENT) -> Where:
    """Add the conditions for the memories (table `m`) in that state that the filter keeps. Returns `conditions`."""
    conditions.add("m.recorded_at <= ?", micros(where.current_at))
    _in_state(state, micros(where.current_at), conditions)
    if where.kinds is not None and MESSAGE not in where.kinds:
        conditions.add(f"m.kind <> '{MESSAGE}'")  # lets the database use the index of kinds
    for column, values in (("kind", where.kinds), ("tier", where.tiers), ("visibility", where.visibilities)):
        if values is not None:
            conditions.add_one_of(f"m.{column}", values)
    conditions.add_one_of("m.kind", where.without_kinds, but=True)
    for condition, value in (
        ("m.source = ?", where.source),
        ("m.crew = ?", where.crew),
        ("m.session = ? AND m.session <> ''", where.session),  # the second lets the database use the index of sessions
    ):
        if value is not None:
            conditions.add(condition, value)
    _tagged(dialect, where, conditions)
    for key, value in where.metadata:
        condition, bindings = dialect.has_entry("m.metadata", key, value)
        conditions.add(condition, *bindings)
    if where.since is not None:
        conditions.add("m.occurred_to >= ?", micros(where.since))
    if where.until is not None:
        conditions.add("m.occurred_from < ?", micros(where.until))
    return conditions


def _in_state(state: MemoryState, at: int, conditions: Where) -> None:
    match state:
        case MemoryState.CURRENT:
            conditions.add("m.superseded_by IS NULL OR m.superseded_at > ?", at)
            conditions.add(f"m.status = '{Status.ACTIVE}' OR m.retired_at > ?", at)
            conditions.add("m.valid_from IS NULL OR m.valid_from <= ?", at)
            conditions.add("m.valid_until IS NULL OR m.valid_until > ?", at)
        case MemoryState.RETIRED:
            conditions.add(f"m.status <> '{Status.ACTIVE}' AND (m.retired_at IS NULL OR m.retired_at <= ?)", at)
        case MemoryState.ENDED:
            conditions.add(f"m.status = '{Status.ACTIVE}' OR m.retired_at > ?", at)
            superseded = "m.superseded_by IS NOT NULL AND (m.superseded_at IS NULL OR m.superseded_at <= ?)"
            conditions.add(f"({superseded}) OR m.valid_until <= ?", at, at)
        case MemoryState.ANY:
            pass


def _tagged(dialect: Dialect, where: Filter, conditions: Where) -> None:
    has_tag = dialect.has_tag("m.tags")
    for tag in sorted(where.tags):
        # The first condition lets the database use the index of memories with this tag, or of those that have tags.
        indexed = f"m.tags LIKE '%\"{tag}\"%'" if tag in (PINNED, FLAGGED, ALIAS) else "m.tags <> '[]'"
        conditions.add(f"{indexed} AND {has_tag}", tag)
    for tag in sorted(where.without_tags):
        conditions.add(f"NOT {has_tag}", tag)


def selected_by(dialect: Dialect, where: Filter, listing: MemoryListing, conditions: Where) -> Where:
    """Add the conditions for the memories (table `m`) that a listing contains. Returns `conditions`."""
    kept_by(dialect, where, conditions, state=listing.state)
    if listing.speaker is not None:
        conditions.add("m.actor = ? OR (coalesce(m.actor, '') = '' AND m.role = ?)", listing.speaker, listing.speaker)
    if listing.words:
        conditions.add(
            f"m.n IN (SELECT c.memory FROM {dialect.matches('cues')} f {dialect.then_join} cues c ON c.n = f.n"
            " WHERE c.last IS NULL)",
            dialect.all_of(listing.words),
        )
    if listing.order is MemoryOrder.USED:
        conditions.add("m.last_used_at IS NOT NULL")
    return conditions


def events_kept_by(dialect: Dialect, where: EventFilter, conditions: Where, table: EventTable) -> Where:
    """Add the conditions for the events (`e`, rows of that table) that the filter keeps. Returns `conditions`."""
    if where.ids is not None:
        conditions.add(dialect.in_ids("e.id"), dialect.ids(where.ids))
    for column, value in (
        ("e.project", where.project),
        ("e.crew", where.crew),
        ("e.agent", where.agent),
        ("e.session", where.session),
        ("e.actor", where.actor),
        ("coalesce(e.actor, e.role)", where.speaker),
    ):
        if value is not None:
            conditions.add(f"{column} = ?", value)
    for column, values in (
        ("crew", where.crews),
        ("agent", where.agents),
        ("type", where.types),
        ("severity", where.severities),
        ("priority", where.priorities),
        ("role", where.roles),
    ):
        if values is not None:
            conditions.add_one_of(f"e.{column}", values)
    conditions.add_one_of("e.type", where.without_types, but=True)
    _add_what_indexes_need(where, conditions)
    if where.words:
        conditions.add(f"e.n IN {dialect.matches(table)}", dialect.all_of(where.words))
    if where.unformed and table == "events":
        conditions.add("NOT EXISTS (SELECT 1 FROM memory_events l WHERE l.event = e.n)")
    for condition, moment in (
        ("e.recorded_at > ?", where.recorded_after),
        ("e.recorded_at <= ?", where.recorded_by),
        ("e.occurred_at >= ?", where.since),
        ("e.occurred_at < ?", where.until),
    ):
        if moment is not None:
            conditions.add(condition, micros(moment))
    return conditions


def _add_what_indexes_need(where: EventFilter, conditions: Where) -> None:
    """Add conditions that follow from the filter, so the database uses the indexes of severe and marked events."""
    for column, usual, values in (
        ("severity", Severity.INFO, where.severities),
        ("priority", Priority.NORMAL, where.priorities),
    ):
        if values is not None and usual not in values:
            conditions.add(f"e.{column} <> '{usual}'")


def owner(scope: Scope) -> tuple[str, str, str, str]:
    """Workspace, project, crew and agent, as stored. Keys and topic keys are unique within these."""
    return scope.workspace, scope.project or "", scope.crew or "", scope.agent or ""


def stream_of(scope: Scope) -> tuple[str, str, str, str, str]:
    """Workspace, project, crew, agent and session, as stored. Events are numbered within these."""
    return (*owner(scope), scope.session or "")


def marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
