"""PlastMem: rows of its tables as JSON, and the JSON that its HTTP interface answers."""

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
from remembrancer.ingest.turn import Turn, label

NAME: Final = "plastmem"
_REVIEWED: Final = ("stability", "difficulty", "last_reviewed_at", "consolidated_at")
_SPEAKERS: Final = frozenset({"user", "assistant"})


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The messages of each episode as turns, then its summary, and each fact, as memories.

    Raises InvalidInput if the file is not JSON.
    """
    whole = loaded(path)
    if fields.is_object(whole):
        both = [*fields.optional_list(whole, "episodic"), *fields.optional_list(whole, "semantic")]
        whole = both if both or "episodic" in whole else [whole]
    for number, record in enumerate(fields.as_list("file", whole), start=1):
        place = RecordLocation(path, record=f"record {number}")
        try:
            row = fields.as_object("record", record)
            yield from memories(_fact(row), place) if "fact" in row else _episode(row, place)
        except InvalidInput as error:
            yield place.problem(error)


def _episode(row: Mapping[str, object], place: RecordLocation) -> Iterator[ImportedRecord | Problem]:
    key, session = key_of(NAME, identifier(row)), fields.optional_text(row, "conversation_id")
    for number, message in enumerate(fields.optional_list(row, "messages"), start=1):
        told = fields.as_object("message", message)
        speaker = fields.as_text("role", told.get("role"))
        role = speaker.lower() if speaker.lower() in _SPEAKERS else "user"
        turn = Turn(
            text=fields.as_text("content", told.get("content")),
            key=f"{key}/{number}",
            role=role,
            actor=None if role == speaker.lower() else label(speaker),
            occurred_at=optional_time(told, "timestamp"),
            session=session,
        )
        yield from turns(turn, place)
    if not fields.optional_text(row, "summary"):
        yield place.problem("the episode has no summary; its messages are kept")
        return
    ended = optional_time(row, "end_at")
    note = ForeignMemory(
        source=NAME,
        identifier=identifier(row),
        title=fields.optional_text(row, "title"),
        text=fields.as_text("summary", row.get("summary")),
        metadata={
            "type": "episode",
            "end_at": None if ended is None else ended.isoformat(),
            **{name: row.get(name) for name in _REVIEWED},
        },
        occurred_at=optional_time(row, "start_at", "created_at"),
        surprise=fields.optional_fraction(row, "surprise"),
        session=session,
    )
    yield from memories(note, place)


def _fact(row: Mapping[str, object]) -> ForeignMemory:
    return ForeignMemory(
        source=NAME,
        identifier=identifier(row),
        text=fields.as_text("fact", row.get("fact")),
        tags=[*texts("category", row.get("category")), *texts("keywords", row.get("keywords"))],
        metadata={
            "type": "fact",
            "conversation_id": row.get("conversation_id"),
            "source_episodic_ids": row.get("source_episodic_ids"),
        },
        occurred_at=optional_time(row, "valid_at", "created_at"),
        valid_from=optional_time(row, "valid_at"),
        valid_until=optional_time(row, "invalid_at"),
    )
