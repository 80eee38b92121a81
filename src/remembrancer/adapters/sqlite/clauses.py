"""`policies.selection` as SQL: what a reader sees and a filter keeps, pushed down. A test compares the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from remembrancer.adapters.sqlite.connection import Binding
from remembrancer.adapters.sqlite.times import micros
from remembrancer.domain.memory import Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.ports.store import EventFilter


@dataclass(slots=True)
class Where:
    """Conditions that must all hold, with their bindings in order."""

    conditions: list[str] = field(default_factory=list[str])
    bindings: list[Binding] = field(default_factory=list[Binding])

    def add(self, condition: str, *bindings: Binding) -> None:
        self.conditions.append(condition)
        self.bindings.extend(bindings)

    @property
    def sql(self) -> str:
        return " AND ".join(f"({condition})" for condition in self.conditions)


def seen_by(reader: Reader, table: str, *, visibility: bool) -> Where:
    """Rows of `table` within the reader's sight; `visibility` where the rows have one of their own."""
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
    own = f"{table}.agent = ? OR ({table}.agent = '' AND {table}.crew IN ('', ?))"
    match reader.reach:
        case Reach.WORKSPACE:
            pass
        case Reach.CREW_SHARED:
            where.add(f"{table}.crew = ? OR {own}", crew, agent, crew)
        case Reach.OWN:
            where.add(own, agent, crew)
        case Reach.SESSION:
            where.add(f"{table}.session = ?", session)
            where.add(own, agent, crew)
    return where


def kept_by(where: Filter, conditions: Where) -> Where:
    """The conditions, narrowed to the memories (table `m`) that the filter keeps."""
    at = micros(where.current_at)
    conditions.add("m.recorded_at <= ?", at)
    conditions.add("m.superseded_by IS NULL OR m.superseded_at > ?", at)
    conditions.add(f"m.status = '{Status.ACTIVE}' OR m.retired_at > ?", at)
    conditions.add("m.valid_from IS NULL OR m.valid_from <= ?", at)
    conditions.add("m.valid_until IS NULL OR m.valid_until > ?", at)
    if where.kinds is not None:
        conditions.add(f"m.kind IN ({_marks(sorted(where.kinds))})", *sorted(where.kinds))
    if where.tiers is not None:
        conditions.add(f"m.tier IN ({_marks(sorted(where.tiers))})", *sorted(where.tiers))
    for tag in sorted(where.tags):
        conditions.add("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)", tag)
    if where.source is not None:
        conditions.add("m.source = ?", where.source)
    if where.session is not None:
        conditions.add("m.session = ?", where.session)
    if where.since is not None:
        conditions.add("m.occurred_to >= ?", micros(where.since))
    if where.until is not None:
        conditions.add("m.occurred_from < ?", micros(where.until))
    return conditions


def events_kept_by(where: EventFilter, conditions: Where) -> Where:
    """The conditions, narrowed to the events (table `e`) that the filter keeps."""
    if where.session is not None:
        conditions.add("e.session = ?", where.session)
    if where.types is not None:
        conditions.add(f"e.type IN ({_marks(sorted(where.types))})", *sorted(where.types))
    if where.since is not None:
        conditions.add("e.occurred_at >= ?", micros(where.since))
    if where.until is not None:
        conditions.add("e.occurred_at < ?", micros(where.until))
    return conditions


def owner(scope: Scope) -> tuple[str, str, str, str]:
    """workspace, project, crew, agent as the tables hold them: what keys and topic keys are unique within."""
    return scope.workspace, scope.project or "", scope.crew or "", scope.agent or ""


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
