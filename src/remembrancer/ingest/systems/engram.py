"""Engram: the archive of `engram backup` (tar.gz), and the JSON of its HTTP export."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.systems import database
from remembrancer.ingest.systems.document import records
from remembrancer.ingest.systems.record import ForeignMemory, ImportedRecord, identifier, memories, optional_time, texts

NAME: Final = "engram"
EPISODIC: Final = "episodic.json"
SEMANTIC: Final = "semantic.json"
MAX_MEMBER_BYTES: Final = 1024 * 1024 * 1024
"""The largest file in an archive that is read: the vectors of 20,000 memories."""
_OWN: Final = frozenset({"memory_type", "priority", "timestamp", "tags", "expires_at", "confidence", "entities"})


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The memories of the file. Raises InvalidInput if it is neither JSON nor an archive of a backup."""
    given = _archived(path) if is_archive(path) else records(path, "memory", "memories")
    for place, record in given:
        if isinstance(record, Problem):
            yield record
            continue
        try:
            yield from memories(_memory(fields.as_object("memory", record)), place)
        except InvalidInput as error:
            yield place.problem(error)


def is_archive(path: Path) -> bool:
    """Whether the file is a compressed archive with memories of Engram."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            return EPISODIC in archive.getnames()
    except (tarfile.TarError, OSError, EOFError):
        return False


def _archived(path: Path) -> Iterator[tuple[RecordLocation, object]]:
    """The memories as single records: the archive has a list of their ids, one of their texts, and so on."""
    whole = fields.as_object(EPISODIC, _member(path, EPISODIC))
    ids = fields.as_list("ids", whole.get("ids"))
    documents, metadatas = (fields.as_list(name, whole.get(name)) for name in ("documents", "metadatas"))
    if not len(ids) == len(documents) == len(metadatas):
        raise InvalidInput(EPISODIC, f"{len(ids)} ids, {len(documents)} documents", "as many documents as ids")
    for number, (name, text, told) in enumerate(zip(ids, documents, metadatas, strict=True), start=1):
        metadata = fields.as_object("metadata", told) if told is not None else {}
        yield RecordLocation(path, record=f"memory {number}"), {**metadata, "id": name, "content": text}
    graph = _member(path, SEMANTIC)
    if fields.is_object(graph):
        nodes, edges = (len(fields.optional_list(graph, name)) for name in ("nodes", "edges"))
        if nodes or edges:
            place = RecordLocation(path, record=SEMANTIC)
            yield place, place.problem(f"{nodes} nodes and {edges} edges of the graph are left out")


def _member(path: Path, name: str) -> object:
    """The JSON of a file in the archive; None if it has no such file."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            if name not in archive.getnames():
                return None
            if archive.getmember(name).size > MAX_MEMBER_BYTES:
                raise InvalidInput(name, archive.getmember(name).size, f"at most {MAX_MEMBER_BYTES:,} bytes")
            file = archive.extractfile(name)
            return json.load(file) if file is not None else None
    except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError) as error:
        raise InvalidInput("file", str(path), f"an archive of `engram backup` ({error})") from error


def _memory(record: Mapping[str, object]) -> ForeignMemory:
    tags, entities = (_texts(name, record.get(name)) for name in ("tags", "entities"))
    rest = {
        name: value
        for name, value in record.items()
        if name not in {*_OWN, "id", "content", "created_at", "metadata", "embedding", "vector"}
    }
    return ForeignMemory(
        source=NAME,
        identifier=identifier(record),
        text=fields.as_text("content", record.get("content")),
        tags=tags,
        metadata={
            **fields.optional_object(record, "metadata"),
            **rest,
            "type": record.get("memory_type"),
            "entities": entities,
        },
        occurred_at=optional_time(record, "timestamp", "created_at"),
        valid_until=optional_time(record, "expires_at"),
        confidence=fields.optional_fraction(record, "confidence"),
        priority=_priority(record.get("priority")),
    )


def _texts(argument: str, value: object) -> list[str]:
    """A list, its JSON, or texts separated by commas."""
    if isinstance(value, str) and value.startswith("["):
        value = database.json_of(argument, value)
    return texts(argument, value)


def _priority(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10:
        raise InvalidInput("priority", value, "a whole number from 1 to 10")
    return value
