"""Events as JSON lines: one object on each line, with the fields of an event draft."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from remembrancer.domain import validation
from remembrancer.domain.event import EventDraft, Priority, Severity
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.lines import OnBytes, objects
from remembrancer.ingest.problem import Problem
from remembrancer.ingest.turn import ContentKeys, Turn, digest
from remembrancer.ingest.turn import events as drafted

FIELDS = tuple(one.name for one in dataclasses.fields(EventDraft))
ALIASES = {
    "content": "text",
    "timestamp": "occurred_at",
    "created_at": "occurred_at",
    "time": "occurred_at",
    "speaker": "actor",
    "name": "actor",
}


def events(path: Path, on_bytes: OnBytes | None = None) -> Iterator[EventDraft | Problem]:
    """The events of the file. An unknown key gives a Problem: ignoring it would silently lose a misspelt field."""
    keys = ContentKeys("jsonl")
    for line in objects(path, on_bytes):
        if isinstance(line, Problem):
            yield line
            continue
        place, record = line
        try:
            turn = _turn(record, path, keys)
        except InvalidInput as error:
            yield place.problem(error)
        else:
            yield from drafted(turn, place)


def _turn(record: Mapping[str, object], path: Path, keys: ContentKeys) -> Turn:
    known = _renamed(record)
    text = fields.as_text("text", known.get("text"))
    if not text.strip():
        raise InvalidInput("text", text, "a text that is not blank")
    occurred_at = fields.optional_time(known, "occurred_at")
    session = fields.optional_text(known, "session")
    role = fields.optional_text(known, "role") or "user"
    kind = fields.optional_text(known, "type") or "message"
    actor = fields.optional_text(known, "actor")
    key = fields.optional_text(known, "key")
    if key is None:
        said = (session or path.name, role, kind, actor, text)
        # The same line twice is one event if it has a time; without a time it counts as said twice.
        key = keys.key(*said) if occurred_at is None else f"jsonl:{digest(*said, occurred_at.isoformat())}"
    return Turn(
        text=text,
        key=key,
        role=role,
        type=kind,
        severity=validation.choice("severity", fields.optional_text(known, "severity") or "info", Severity),
        priority=validation.choice("priority", fields.optional_text(known, "priority") or "normal", Priority),
        actor=actor,
        occurred_at=occurred_at,
        session=session,
        payload=_json_object(known, "payload"),
        refs=_json_object(known, "refs"),
    )


def _renamed(record: Mapping[str, object]) -> dict[str, object]:
    """The record under the draft's field names, without nulls. Raises InvalidInput for an unknown key."""
    known: dict[str, object] = {}
    for key, value in record.items():
        field = ALIASES.get(key, key)
        if field not in FIELDS:
            allowed = f"one of the keys {', '.join(FIELDS)} (anything else belongs under payload)"
            raise InvalidInput("key", key, allowed)
        if value is None:
            continue
        if field in known:
            raise InvalidInput(field, key, f"{field} given once, under one name")
        known[field] = value
    return known


def _json_object(record: Mapping[str, object], name: str) -> dict[str, JsonValue]:
    cleaned = fields.clean_json(name, fields.optional_object(record, name))
    return cleaned if isinstance(cleaned, dict) else {}
