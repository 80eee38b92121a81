"""Content blocks of messages, as the Claude export and Claude Code transcripts write them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum

from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.values import dataclass

MAX_CALL_CHARS = 2_000
"""The limit, in characters, of the kept part of a tool call."""
MAX_RESULT_CHARS = 4_000
"""The limit, in characters, of the kept part of a tool result: enough to see what it was about."""

_TELLING_INPUTS = (
    "command",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "prompt",
    "description",
    "title",
)
"""Names of inputs that describe a call well; the first one present stands for the call."""
_LEFT_OUT = frozenset({"thinking", "redacted_thinking", "token_budget", "flag"})


class BlockKind(StrEnum):
    SAID = "message"
    CALL = "tool.call"
    RESULT = "tool.result"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """A part of a message that becomes its own event. `index`: that of its first block."""

    kind: BlockKind
    index: int
    text: str
    tool: str | None = None
    call: str | None = None
    failed: bool = False


def passages(content: object) -> Iterator[MessagePart | InvalidInput]:
    """The parts of a message's content, in order; consecutive text blocks form one part.

    An error replaces a block that was left out; the others follow.
    """
    if isinstance(content, str):
        yield MessagePart(kind=BlockKind.SAID, index=0, text=content)
        return
    said: list[str] = []
    since = 0
    for index, block in enumerate(fields.as_list("content", content)):
        try:
            found = _passage(index, fields.as_object(f"content[{index}]", block))
        except InvalidInput as error:
            yield error
            continue
        if found is None:
            continue
        if found.kind is BlockKind.SAID:
            since = since if said else index
            said.append(found.text)
            continue
        if said:
            yield MessagePart(kind=BlockKind.SAID, index=since, text="\n\n".join(said))
            said = []
        yield found
    if said:
        yield MessagePart(kind=BlockKind.SAID, index=since, text="\n\n".join(said))


def _passage(index: int, block: Mapping[str, object]) -> MessagePart | None:
    kind = fields.as_text("type", block.get("type"))
    match kind:
        case "text":
            text = fields.optional_text(block, "text")
            return None if text is None else MessagePart(kind=BlockKind.SAID, index=index, text=text)
        case "image":
            return MessagePart(kind=BlockKind.SAID, index=index, text="[image]")
        case "document":
            title = fields.optional_text(block, "title")
            return MessagePart(kind=BlockKind.SAID, index=index, text=f"[file: {title}]" if title else "[file]")
        case "tool_use" | "server_tool_use":
            tool = fields.optional_text(block, "name") or "tool"
            return MessagePart(
                kind=BlockKind.CALL,
                index=index,
                text=f"{tool}: {call_text(block.get('input'))}",
                tool=tool,
                call=fields.optional_text(block, "id"),
            )
        case "tool_result":
            return MessagePart(
                kind=BlockKind.RESULT,
                index=index,
                text=clipped(_result_text(block.get("content")), MAX_RESULT_CHARS),
                tool=fields.optional_text(block, "name"),
                call=fields.optional_text(block, "tool_use_id"),
                failed=block.get("is_error") is True,
            )
        case _ if kind in _LEFT_OUT:
            return None
        case _:
            raise InvalidInput(f"content[{index}].type", kind, "a known kind of block; it is left out")


def call_text(value: object) -> str:
    """The text of a tool call: its most descriptive input, or else all inputs as JSON."""
    if fields.is_object(value):
        for name in _TELLING_INPUTS:
            telling = value.get(name)
            if isinstance(telling, str) and telling.strip():
                return clipped(fields.clean(telling), MAX_CALL_CHARS)
    if isinstance(value, str):
        return clipped(fields.clean(value), MAX_CALL_CHARS)
    return clipped(json.dumps(fields.clean_json("input", value), ensure_ascii=False), MAX_CALL_CHARS)


def _result_text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return fields.clean(content)
    found: list[str] = []
    for part in fields.as_list("content", content):
        block = fields.as_object("content", part)
        if block.get("type") == "image":
            found.append("[image]")
        elif (text := fields.optional_text(block, "text")) is not None:
            found.append(text)
        elif (title := fields.optional_text(block, "title")) is not None:  # a search hit or a citation
            found.append(f"{title} {fields.optional_text(block, 'url') or ''}".rstrip())
    return "\n\n".join(found)


def clipped(text: str, limit: int) -> str:
    """The first `limit` characters, followed by the number of characters left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}\n[… {len(text) - limit:,} more characters]"
