"""mem0: what `get_all` or an export returned as JSON, and history.db, its SQLite file of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.document import records
from remembrancer.ingest.systems.record import (
    ForeignMemory,
    ImportedRecord,
    identifier,
    memories,
    optional_time,
    texts,
    time,
)

NAME: Final = "mem0"
_HISTORY: Final = (
    "SELECT memory_id, new_memory, event, created_at, updated_at, is_deleted, actor_id, role FROM history"
    " ORDER BY memory_id, created_at, DATETIME(updated_at), rowid"
)


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The memories of a file of mem0. Raises InvalidInput if it is neither JSON nor a readable SQLite file."""
    if database.is_database(path):
        yield from _history(path)
        return
    for place, record in records(path, "memory", "results", "memories"):
        try:
            yield from memories(_memory(fields.as_object("memory", record)), place)
        except InvalidInput as error:
            yield place.problem(error)


def _memory(record: Mapping[str, object]) -> ForeignMemory:
    metadata = {name: record.get(name) for name in ("user_id", "actor_id", "role", "app_id", "attributed_to")}
    created, changed = optional_time(record, "created_at"), optional_time(record, "updated_at")
    return ForeignMemory(
        source=NAME,
        identifier=identifier(record),
        text=fields.as_text("memory", record.get("memory", record.get("data"))),
        tags=texts("categories", record.get("categories")),
        metadata={
            **fields.optional_object(record, "metadata"),
            **metadata,
            "updated_at": None if changed is None or changed == created else changed.isoformat(),
        },
        occurred_at=created or changed,
        valid_until=_expiry(record.get("expiration_date")),
        agent=fields.optional_text(record, "agent_id"),
        session=fields.optional_text(record, "run_id"),
    )


def _expiry(value: object) -> datetime | None:
    """The end of the day of expiry, through which mem0 still recalls the memory; a time of day is taken as it is."""
    if value is None or value == "":
        return None
    end = time("expiration_date", value)
    return end + timedelta(days=1) if isinstance(value, str) and len(value) == len("2026-03-04") else end


def _history(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The versions of each memory: all but the last have ended, and the last is their successor."""
    versions: list[dict[str, object]] = []
    for row in database.rows(path, _HISTORY):
        if versions and versions[0]["memory_id"] != row["memory_id"]:
            yield from _versions(path, versions)
            versions = []
        versions.append(row)
    if versions:
        yield from _versions(path, versions)


def _versions(path: Path, rows: list[dict[str, object]]) -> Iterator[ImportedRecord | Problem]:
    place = RecordLocation(path, record=f"memory {rows[0]['memory_id']}")
    if rows[-1]["is_deleted"] or rows[-1]["event"] == "DELETE":
        yield place.problem("it was deleted in mem0; it is left out")
        return
    try:
        name = identifier(rows[0], "memory_id")
        times = [optional_time(row, "updated_at", "created_at") for row in rows]
    except InvalidInput as error:
        yield place.problem(error)
        return
    for number, (row, since) in enumerate(zip(rows, times, strict=True), start=1):
        here = RecordLocation(path, record=f"memory {name}, version {number}")
        last = number == len(rows)
        try:
            note = ForeignMemory(
                source=NAME,
                identifier=name if last else f"{name}/{number}",
                text=fields.as_text("new_memory", row["new_memory"]),
                metadata={"actor_id": row["actor_id"], "role": row["role"]},
                occurred_at=since,
                valid_from=None if number == 1 else since,
                valid_until=None if last else times[number],
                successor=None if last else name,
            )
        except InvalidInput as error:
            yield here.problem(error)
            continue
        yield from memories(note, here)
