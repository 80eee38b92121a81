"""LangMem: items of a LangGraph store as JSON, a list or one item a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem
from remembrancer.ingest.systems.document import records
from remembrancer.ingest.systems.record import ForeignMemory, ImportedRecord, identifier, memories, optional_time, texts

NAME: Final = "langmem"
_TEXT: Final = ("content", "text", "memory")
"""The names under which a value has its text, at the top or within `content`."""


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The items of the file. Raises InvalidInput if it is not JSON."""
    for place, record in records(path, "item", "items"):
        try:
            yield from memories(_memory(fields.as_object("item", record)), place)
        except InvalidInput as error:
            yield place.problem(error)


def _memory(item: Mapping[str, object]) -> ForeignMemory:
    namespace = "/".join(texts("namespace", item.get("namespace")))
    value = fields.as_object("value", item.get("value"))
    created, changed = optional_time(item, "created_at"), optional_time(item, "updated_at")
    text, rest = _text(value)
    return ForeignMemory(
        source=NAME,
        identifier=f"{namespace}/{identifier(item, 'key')}",
        text=text,
        metadata={
            **rest,
            "namespace": namespace,
            "key": item["key"],
            "updated_at": None if changed is None or changed == created else changed.isoformat(),
        },
        occurred_at=created or changed,
    )


def _text(value: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """The text of a value, and its other fields; a value without a text is written as JSON."""
    for name in _TEXT:
        given = value.get(name)
        rest = {other: one for other, one in value.items() if other != name}
        if isinstance(given, str) and given.strip():
            return given, rest
        if fields.is_object(given):
            inner, more = _text(given)
            return inner, {**more, **rest}
    return json.dumps(value, ensure_ascii=False, sort_keys=True), {}
