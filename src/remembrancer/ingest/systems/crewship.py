"""Crewship: the journal in its SQLite file, also the part that was archived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from remembrancer.domain.event import Priority, Severity
from remembrancer.domain.validation import JsonValue, choice
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.record import ImportedRecord, identifier, key_of, optional_time, turns
from remembrancer.ingest.turn import Turn, label

NAME: Final = "crewship"
JOURNAL: Final = "journal_entries"
ARCHIVED: Final = "journal_entries_archived"
_ROLES: Final = {"agent": "assistant", "user": "user"}
"""The roles of Crewship's actors; all others are programs."""
_REFERENCES: Final = ("mission_id", "trace_id", "span_id", "run_id")


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The entries of the journal as events, archived ones first. Raises InvalidInput if the file cannot be read."""
    tables = database.columns(path)
    for table in (ARCHIVED, JOURNAL):
        if table not in tables:
            continue
        for row in database.rows(path, f"SELECT * FROM {table} ORDER BY ts, id"):
            place = RecordLocation(path, record=f"{table} {row.get('id')}")
            try:
                yield from _entry(row, place, archived=table == ARCHIVED)
            except InvalidInput as error:
                yield place.problem(error)


def _entry(row: Mapping[str, object], place: RecordLocation, *, archived: bool) -> Iterator[ImportedRecord | Problem]:
    payload = _json("payload", row.get("payload"), archived=archived)
    turn = Turn(
        text=fields.as_text("summary", row.get("summary")),
        key=key_of(NAME, identifier(row)),
        role=_ROLES.get(fields.optional_text(row, "actor_type") or "", "tool"),
        type=fields.as_text("entry_type", row.get("entry_type")),
        severity=choice("severity", fields.optional_text(row, "severity") or "info", Severity),
        priority=choice("priority", fields.optional_text(row, "priority") or "normal", Priority),
        actor=label(fields.optional_text(row, "actor_id")),
        occurred_at=optional_time(row, "ts"),
        payload=payload,
        refs={
            **_json("refs", row.get("refs"), archived=False),
            **{name: str(row[name]) for name in _REFERENCES if row.get(name)},
        },
    )
    crew, agent = (fields.optional_text(row, name) for name in ("crew_id", "agent_id"))
    yield from turns(turn, place, crew=crew, agent=agent)


def _json(argument: str, value: object, *, archived: bool) -> dict[str, JsonValue]:
    """The JSON of a column. The payload of an archived entry was cut after 400 characters, and may be none any more."""
    try:
        given = database.json_of(argument, value)
    except InvalidInput:
        if not archived:
            raise
        return {"cut": fields.clean(str(value))}
    return cast("dict[str, JsonValue]", fields.clean_json(argument, given if fields.is_object(given) else {}))
