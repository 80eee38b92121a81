"""Letta: agent files (.af), JSON with the messages, memory blocks and archival passages of agents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.blocks import MAX_CALL_CHARS, MAX_RESULT_CHARS, BlockKind, call_text, clipped
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

NAME: Final = "letta"
_SPEAKS: Final = "send_message"
"""The tool by which agents of older versions speak to the user."""


def read(path: Path) -> Iterator[ImportedRecord | Problem]:
    """The messages of each agent as turns, then its memory blocks and passages as memories.

    Raises InvalidInput if the file is not JSON, or has no agents.
    """
    whole = fields.as_object("file", loaded(path))
    blocks = {
        block["id"]: block
        for block in fields.optional_list(whole, "blocks")
        if fields.is_object(block) and isinstance(block.get("id"), str)
    }
    for number, agent in enumerate(fields.as_list("agents", whole.get("agents")), start=1):
        place = RecordLocation(path, record=f"agent {number}")
        try:
            record = fields.as_object("agent", agent)
            name = fields.optional_text(record, "name") or identifier(record)
            block_ids = fields.optional_list(record, "block_ids")
            own = [blocks[block] for block in block_ids if isinstance(block, str) and block in blocks]
            given = {
                "message": fields.optional_list(record, "messages"),
                "block": [*own, *fields.optional_list(record, "memory_blocks")],
                "passage": [
                    *fields.optional_list(record, "archival_passages"),
                    *fields.optional_list(record, "passages"),
                    *(fields.optional_list(whole, "passages") if number == 1 else []),
                ],
            }
        except InvalidInput as error:
            yield place.problem(error)
            continue
        for kind, records in given.items():
            for position, item in enumerate(records, start=1):
                here = RecordLocation(path, record=f"{place.record}, {kind} {position}")
                try:
                    yield from _read(kind, fields.as_object(kind, item), name, here)
                except InvalidInput as error:
                    yield here.problem(error)


def _read(
    kind: str, record: Mapping[str, object], agent: str, place: RecordLocation
) -> Iterator[ImportedRecord | Problem]:
    if kind == "message":
        for turn in _message(record, agent):
            yield from turns(turn, place, agent=agent)
        return
    if kind == "block" and fields.optional_text(record, "value") is None:
        yield place.problem("the block is empty; it is left out")
        return
    yield from memories(_block(record, agent) if kind == "block" else _passage(record, agent), place)


def _block(record: Mapping[str, object], agent: str) -> ForeignMemory:
    return ForeignMemory(
        source=NAME,
        identifier=f"{agent}/{identifier(record)}",
        title=fields.optional_text(record, "label"),
        text=fields.as_text("value", record.get("value")),
        tags=["block", *texts("tags", record.get("tags"))],
        metadata={**fields.optional_object(record, "metadata"), "description": record.get("description")},
        occurred_at=optional_time(record, "created_at"),
        agent=agent,
    )


def _passage(record: Mapping[str, object], agent: str) -> ForeignMemory:
    return ForeignMemory(
        source=NAME,
        identifier=f"{agent}/{identifier(record)}",
        text=fields.as_text("text", record.get("text", record.get("content"))),
        tags=texts("tags", record.get("tags")),
        metadata=fields.optional_object(record, "metadata"),
        occurred_at=optional_time(record, "created_at"),
        agent=agent,
    )


def _message(record: Mapping[str, object], agent: str) -> Iterator[Turn]:
    """The turns of a message: its text, then its tool calls. System messages and events of the login are left out."""
    role = fields.as_text("role", record.get("role"))
    if role in {"system", "approval"}:
        return
    said, key = _said(record.get("content")), key_of(NAME, f"{agent}/{identifier(record)}")
    when, session = optional_time(record, "created_at"), bounded(f"letta/{agent}")
    actor = label(fields.optional_text(record, "name")) if role == "user" else label(agent)
    if role == "tool":
        text = clipped(said, MAX_RESULT_CHARS)
        yield Turn(text=text, key=key, role="tool", type=BlockKind.RESULT, occurred_at=when, session=session)
        return
    if role not in {"user", "assistant"}:
        raise InvalidInput("role", role, "one of user, assistant, tool, system, approval")
    if role == "user":
        said = _unpacked(said)
    yield Turn(text=said, key=key, role=role, actor=actor, occurred_at=when, session=session)
    for number, call in enumerate(fields.optional_list(record, "tool_calls"), start=1):
        function = fields.optional_object(fields.as_object("tool_call", call), "function")
        name, given = fields.as_text("function.name", function.get("name")), _arguments(function.get("arguments"))
        spoken = given.get("message") if name == _SPEAKS and fields.is_object(given) else None
        yield Turn(
            text=spoken if isinstance(spoken, str) else clipped(f"{name}: {call_text(given)}", MAX_CALL_CHARS),
            key=f"{key}/{number}",
            role="assistant",
            type=BlockKind.SAID if isinstance(spoken, str) else BlockKind.CALL,
            actor=actor,
            occurred_at=when,
            session=session,
        )


def _said(content: object) -> str:
    """The text of a message: a string, or the texts of its parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = [fields.as_object("content", part) for part in fields.as_list("content", content)]
    return "\n\n".join(text for part in parts if (text := fields.optional_text(part, "text")))


def _unpacked(said: str) -> str:
    """The words of the user in a message that Letta packed as JSON; "" for events such as a login."""
    packed: object = None
    with suppress(ValueError, RecursionError):
        packed = json.loads(said)
    if not fields.is_object(packed) or not isinstance(packed.get("type"), str):
        return said
    message = packed.get("message")
    return message if packed["type"] == "user_message" and isinstance(message, str) else ""


def _arguments(given: object) -> dict[str, object]:
    with suppress(ValueError, RecursionError):
        parsed: object = json.loads(given) if isinstance(given, str) else given
        return parsed if fields.is_object(parsed) else {"arguments": parsed}
    return {"arguments": given}
