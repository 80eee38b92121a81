"""mcp-memory-service: its SQLite file, and the JSON that it exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.document import records
from remembrancer.ingest.systems.record import ForeignMemory, ImportedRecord, identifier, memories, optional_time, texts

NAME: Final = "mcp-memory-service"
_UNTAGGED: Final = "untagged"
"""The tag that the service gives to memories without tags."""


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The memories of the file. Raises InvalidInput if it is neither JSON nor a readable SQLite file."""
    if database.is_database(path):
        given = ((RecordLocation(path, record=f"row {row['id']}"), row) for row in _rows(path))
    else:
        given = records(path, "memory", "memories")
    found = list(given)
    times = _times(record for _, record in found)
    for place, record in found:
        try:
            row = fields.as_object("memory", record)
            if row.get("deleted_at") is not None:
                yield place.problem("it was deleted in mcp-memory-service; it is left out")
                continue
            yield from memories(_memory(row, times), place)
        except InvalidInput as error:
            yield place.problem(error)


def _rows(path: Path) -> Iterator[dict[str, object]]:
    return database.rows(path, "SELECT * FROM memories ORDER BY id")


def _times(given: Iterator[object]) -> dict[str, datetime | None]:
    """When each memory was created, by its hash, to date the end of those that it replaced."""
    found: dict[str, datetime | None] = {}
    for record in given:
        if fields.is_object(record) and isinstance(record.get("content_hash"), str):
            try:
                found[identifier(record, "content_hash")] = optional_time(record, "created_at", "created_at_iso")
            except InvalidInput:
                continue  # reported with its record
    return found


def _memory(record: Mapping[str, object], times: Mapping[str, datetime | None]) -> ForeignMemory:
    metadata = fields.optional_object({"metadata": database.json_of("metadata", record.get("metadata"))}, "metadata")
    created = optional_time(record, "created_at", "created_at_iso")
    changed = optional_time(record, "updated_at", "updated_at_iso")
    successor = record.get("superseded_by") or metadata.get("superseded_by")
    by = fields.as_text("superseded_by", successor) if successor else None
    tags = [tag for tag in texts("tags", record.get("tags")) if tag != _UNTAGGED]
    store = fields.optional_text(record, "store")
    ended = None if by is None else times.get(by) or changed
    return ForeignMemory(
        source=NAME,
        identifier=identifier(record, "content_hash"),
        text=fields.as_text("content", record.get("content")),
        tags=tags,
        metadata={
            **metadata,
            "type": record.get("memory_type"),
            "store": None if store == "default" else store,
            "updated_at": None if changed is None or changed == created else changed.isoformat(),
        },
        occurred_at=created or changed,
        valid_until=ended,
        agent=_text(metadata, "agent_id"),
        session=_text(metadata, "session_id"),
        successor=by,
    )


def _text(metadata: Mapping[str, object], name: str) -> str | None:
    value = metadata.get(name)
    return fields.clean(value) if isinstance(value, str) and value else None
