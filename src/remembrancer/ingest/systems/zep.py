"""Zep and Graphiti: facts (edges), episodes and entities (nodes) of a graph as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems.document import loaded
from remembrancer.ingest.systems.record import (
    ForeignMemory,
    ImportedRecord,
    identifier,
    key_of,
    memories,
    optional_time,
    texts,
    turns,
)
from remembrancer.ingest.turn import Turn, bounded, label

NAME: Final = "zep"
_ROLES: Final = {"assistant": "assistant", "system": "system", "tool": "tool", "function": "tool"}


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The episodes of the file as turns, then its facts and the summaries of its entities as memories.

    Raises InvalidInput if the file is not JSON.
    """
    whole = loaded(path)
    records = _listed(whole) if fields.is_object(whole) else fields.as_list("file", whole)
    names = _names(records)
    for number, record in enumerate(records, start=1):
        place = RecordLocation(path, record=f"record {number}")
        try:
            yield from _record(fields.as_object("record", record), names, place)
        except InvalidInput as error:
            yield place.problem(error)


def _listed(whole: Mapping[str, object]) -> list[object]:
    lists = [fields.optional_list(whole, name) for name in ("episodes", "edges", "facts", "nodes")]
    return [record for records in lists for record in records] or [whole]


def _names(records: list[object]) -> dict[str, str]:
    """The names of entities by id."""
    nodes = [record for record in records if fields.is_object(record) and "fact" not in record]
    return {str(node["uuid"]): name for node in nodes if "uuid" in node and isinstance(name := node.get("name"), str)}


def _record(
    record: Mapping[str, object], names: Mapping[str, str], place: RecordLocation
) -> Iterator[ImportedRecord | Problem]:
    if "fact" in record:
        yield from memories(_fact(record, names), place)
    elif "content" in record:
        yield from turns(_episode(record), place)
    elif "summary" in record:
        if fields.optional_text(record, "summary") is None:
            yield place.problem("the entity has no summary; it is left out")
        else:
            yield from memories(_entity(record), place)
    else:
        raise InvalidInput("record", sorted(record), "a fact, an episode or an entity")


def _fact(record: Mapping[str, object], names: Mapping[str, str]) -> ForeignMemory:
    ends = {end: record.get(f"{end}_node_uuid") for end in ("source", "target")}
    created = optional_time(record, "created_at")
    return ForeignMemory(
        source=NAME,
        identifier=identifier(record, "uuid"),
        text=fields.as_text("fact", record["fact"]),
        metadata={
            **fields.optional_object(record, "attributes"),
            "relation": record.get("name"),
            "group_id": record.get("group_id"),
            "episodes": record.get("episodes"),
            **{end: names.get(str(uuid), uuid) for end, uuid in ends.items()},
        },
        occurred_at=optional_time(record, "reference_time", "valid_at") or created,
        valid_from=optional_time(record, "valid_at"),
        valid_until=optional_time(record, "invalid_at", "expired_at"),
    )


def _entity(record: Mapping[str, object]) -> ForeignMemory:
    return ForeignMemory(
        source=NAME,
        identifier=identifier(record, "uuid"),
        title=fields.optional_text(record, "name"),
        text=fields.as_text("summary", record["summary"]),
        tags=[name for name in texts("labels", record.get("labels")) if name != "Entity"],
        metadata={**fields.optional_object(record, "attributes"), "group_id": record.get("group_id")},
        occurred_at=optional_time(record, "created_at"),
    )


def _episode(record: Mapping[str, object]) -> Turn:
    session = fields.optional_text(record, "thread_id") or fields.optional_text(record, "session_id")
    role = fields.optional_text(record, "role_type") or "user"
    told = {name: record.get(name) for name in ("source", "source_description", "group_id", "name")}
    return Turn(
        text=fields.as_text("content", record["content"]),
        key=key_of(NAME, identifier(record, "uuid")),
        role=_ROLES.get(role, "user"),
        actor=label(fields.optional_text(record, "role")),
        occurred_at=optional_time(record, "valid_at", "created_at"),
        session=None if session is None else bounded(session),
        payload={name: fields.clean_json(name, value) for name, value in told.items() if value},
    )
