"""The ChatGPT export: conversations.json, a list of conversations, each a tree of messages.

A tree branches where a question was edited or an answer regenerated. The branch that ends in `current_node`, which the
person saw last, is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from remembrancer.domain.event import EventDraft, Severity
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.blocks import MAX_CALL_CHARS, MAX_RESULT_CHARS, BlockKind, clipped
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.turn import Turn, bounded, branch, digest, identity, label
from remembrancer.ingest.turn import events as drafted
from remembrancer.values import dataclass

_LEFT_OUT = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"})
_ROLES = frozenset({"user", "assistant", "tool"})


@dataclass(slots=True)
class _Conversation:
    session: str
    title: str | None
    latest: datetime | None
    """The time of the previous message. A message without a time gets it, so that it keeps its place."""


def events(place: RecordLocation, record: Mapping[str, object]) -> Iterator[EventDraft | Problem]:
    """The messages of one conversation. Raises InvalidInput if the record is not a conversation."""
    if record.get("is_do_not_remember") is True:
        yield place.problem("the conversation is marked not to be remembered; it is left out")
        return
    nodes = fields.as_object("mapping", record.get("mapping"))
    if not nodes:
        return
    parents = {node: _parent(value) for node, value in nodes.items()}
    identifier = fields.optional_text(record, "conversation_id") or fields.optional_text(record, "id")
    title = fields.optional_text(record, "title")
    conversation = _Conversation(
        session=bounded(identifier or f"chatgpt-{digest(title, next(iter(nodes)))}"),
        title=title,
        latest=fields.optional_time(record, "create_time"),
    )
    path, fault = branch(_leaf(record.get("current_node"), nodes, parents), parents)
    if fault is not None:
        yield place.problem(fault)
    for number, node in enumerate(path, start=1):
        here = RecordLocation(place.path, record=f"{place.record}, message {number}")
        try:
            turn = _turn(node, fields.as_object("node", nodes[node]), conversation)
        except InvalidInput as error:
            yield here.problem(error)
            continue
        if turn is not None:
            yield from drafted(turn, here)


def _parent(node: object) -> str | None:
    parent = node.get("parent") if fields.is_object(node) else None
    return parent if isinstance(parent, str) else None


def _leaf(current: object, nodes: Mapping[str, object], parents: Mapping[str, str | None]) -> str:
    """The end of the branch to read: `current_node`, or, in an export without it, the last unanswered message."""
    if isinstance(current, str) and current in nodes:
        return current
    answered = set(parents.values())
    leaves = [node for node in nodes if node not in answered]
    return leaves[-1] if leaves else next(reversed(list(nodes)))


def _turn(node: str, record: Mapping[str, object], conversation: _Conversation) -> Turn | None:
    """The message of a node, or None if the person did not see it."""
    message = fields.optional_object(record, "message")
    metadata = fields.optional_object(message, "metadata")
    content = fields.optional_object(message, "content")
    kind = fields.optional_text(content, "content_type") or "text"
    author = fields.optional_object(message, "author")
    role = fields.optional_text(author, "role")
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if not message or hidden or role == "system" or kind in _LEFT_OUT:
        return None
    if role not in _ROLES:
        raise fields.wrong("author.role", author.get("role"), "one of user, assistant, tool, system")
    when = fields.optional_time(message, "create_time") or conversation.latest
    conversation.latest = when
    text = "\n\n".join(filter(None, [_text(content), *_files(metadata)]))
    recipient = fields.optional_text(message, "recipient") or "all"
    said = BlockKind.SAID
    if role == "tool":
        said, text = BlockKind.RESULT, clipped(text, MAX_RESULT_CHARS)
    elif role == "assistant" and recipient != "all" and text:
        said, text = BlockKind.CALL, f"{recipient}: {clipped(text, MAX_CALL_CHARS)}"
    payload: dict[str, JsonValue] = {"source": "chatgpt"}
    if conversation.title is not None:
        payload["conversation"] = conversation.title
    identifier = fields.optional_text(message, "id") or node
    return Turn(
        text=text,
        key=identity("chatgpt", identifier, conversation.session),
        role=role,
        type=said,
        severity=Severity.ERROR if kind == "system_error" else Severity.INFO,
        actor=label(fields.optional_text(author, "name")),
        occurred_at=when,
        session=conversation.session,
        payload=payload,
    )


def _text(content: Mapping[str, object]) -> str:
    """The text of a message's content: its parts, or the field in which its kind keeps it."""
    found = [text for part in fields.optional_list(content, "parts") if (text := _part(part))]
    spoken = [text for text in found if text != "[audio]"]  # audio, which comes with its transcription
    if found:
        return "\n\n".join(spoken or found[:1])
    for field in ("text", "result", "content"):
        if (text := fields.optional_text(content, field)) is not None:
            return text
    return ""


def _part(part: object) -> str | None:
    if isinstance(part, str):
        return fields.clean(part)
    if part is None:
        return None
    record = fields.as_object("part", part)
    if (text := fields.optional_text(record, "text")) is not None:
        return text
    kind = fields.optional_text(record, "content_type") or ""
    for medium in ("image", "audio", "video"):
        if medium in kind:
            return "[audio]" if medium == "video" and "audio" in kind else f"[{medium}]"
    return None


def _files(metadata: Mapping[str, object]) -> list[str]:
    names = (
        fields.optional_text(fields.as_object("attachment", attachment), "name")
        for attachment in fields.optional_list(metadata, "attachments")
    )
    return [f"[file: {name}]" for name in names if name]
