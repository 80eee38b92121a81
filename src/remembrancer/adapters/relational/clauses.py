"""`policies.ranking.selection` as SQL: what a reader sees and a filter keeps, pushed down. A test compares the two."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from remembrancer.adapters.relational.connection import Binding
from remembrancer.adapters.relational.full_text import all_of
from remembrancer.adapters.relational.rows import Table
from remembrancer.adapters.relational.times import micros
from remembrancer.domain.event import Priority, Severity
from remembrancer.domain.memory import Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.ports.journal import EventFilter


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
    # A reader without an agent binds NULL, which is nobody's name: other crews' rows without an agent are not its own.
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


def kept_by(where: Filter, conditions: Where) -> Where:
    """The conditions, narrowed to the memories (table `m`) that the filter keeps."""
    at = micros(where.current_at)
    conditions.add("m.recorded_at <= ?", at)
    conditions.add("m.superseded_by IS NULL OR m.superseded_at > ?", at)
    conditions.add(f"m.status = '{Status.ACTIVE}' OR m.retired_at > ?", at)
    conditions.add("m.valid_from IS NULL OR m.valid_from <= ?", at)
    conditions.add("m.valid_until IS NULL OR m.valid_until > ?", at)
    for condition, values in (
        ("m.kind IN", where.kinds),
        ("m.kind NOT IN", where.without_kinds or None),
        ("m.tier IN", where.tiers),
        ("m.visibility IN", where.visibilities),
    ):
        if values is not None:
            conditions.add(f"{condition} ({marks(values)})", *sorted(values))
    for condition, value in (
        ("m.source = ?", where.source),
        ("m.crew = ?", where.crew),
        ("m.session = ? AND m.session <> ''", where.session),  # the latter says that the index of sessions will do
    ):
        if value is not None:
            conditions.add(condition, value)
    for tag in sorted(where.tags):
        # What has no tags at all is passed over by an index of those that have.
        conditions.add("m.tags <> '[]' AND EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)", tag)
    if where.without_tags:
        conditions.add(
            f"NOT EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value IN ({marks(where.without_tags)}))",
            *sorted(where.without_tags),
        )
    for key, held in where.metadata:
        conditions.add(
            f"EXISTS (SELECT 1 FROM json_each(m.metadata) WHERE key = ? AND type IN ({_JSON_TYPES[type(held)]})"
            " AND atom IS ?)",
            key,
            held,
        )
    if where.since is not None:
        conditions.add("m.occurred_to >= ?", micros(where.since))
    if where.until is not None:
        conditions.add("m.occurred_from < ?", micros(where.until))
    return conditions


_JSON_TYPES: Final[dict[type, str]] = {
    str: "'text'",
    bool: "'true', 'false'",
    int: "'integer', 'real'",
    float: "'integer', 'real'",
    type(None): "'null'",
}
"""What SQLite calls values of a type: its 1 is a number and a truth value both."""


def events_kept_by(where: EventFilter, conditions: Where, table: Table) -> Where:
    """The conditions, narrowed to the events (`e`, rows of that table) that the filter keeps."""
    if where.ids is not None:
        ids = sorted(identifier.bytes for identifier in where.ids)
        conditions.add("e.id IN (SELECT unhex(value) FROM json_each(?))", json.dumps([each.hex() for each in ids]))
    for column, value in (
        ("project", where.project),
        ("crew", where.crew),
        ("agent", where.agent),
        ("session", where.session),
        ("actor", where.actor),
    ):
        if value is not None:
            conditions.add(f"e.{column} = ?", value)
    for condition, values in (
        ("e.crew IN", where.crews),
        ("e.agent IN", where.agents),
        ("e.type IN", where.types),
        ("e.type NOT IN", where.without_types or None),
        ("e.severity IN", where.severities),
        ("e.priority IN", where.priorities),
        ("e.role IN", where.roles),
    ):
        if values is not None:
            conditions.add(f"{condition} ({marks(values)})", *sorted(values))
    _add_what_indexes_need(where, conditions)
    if where.words:
        conditions.add(f"e.n IN (SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ?)", all_of(where.words))
    for condition, moment in (
        ("e.recorded_at > ?", where.recorded_after),
        ("e.occurred_at >= ?", where.since),
        ("e.occurred_at < ?", where.until),
    ):
        if moment is not None:
            conditions.add(condition, micros(moment))
    return conditions


def _add_what_indexes_need(where: EventFilter, conditions: Where) -> None:
    """What follows from the filter anyway, said so that an index of the few events that are so will do."""
    for column, usual, values in (
        ("severity", Severity.INFO, where.severities),
        ("priority", Priority.NORMAL, where.priorities),
    ):
        if values is not None and usual not in values:
            conditions.add(f"e.{column} <> '{usual}'")


def owner(scope: Scope) -> tuple[str, str, str, str]:
    """workspace, project, crew, agent as the tables hold them: what keys and topic keys are unique within."""
    return scope.workspace, scope.project or "", scope.crew or "", scope.agent or ""


def stream_of(scope: Scope) -> tuple[str, str, str, str, str]:
    """The same and the session: what the places of events are counted in."""
    return (*owner(scope), scope.session or "")


def marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
