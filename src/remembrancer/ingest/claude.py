"""The Claude export: conversations.json, a list of conversations, each with its messages in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from remembrancer.domain.event import EventDraft, Severity
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.blocks import BlockKind, MessagePart, passages
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.turn import ContentKeys, Turn, bounded, branch, digest, identity, label
from remembrancer.ingest.turn import events as drafted
from remembrancer.values import dataclass

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


@dataclass(slots=True)
class _Conversation:
    session: str
    name: str | None
    latest: datetime | None
    """The time of the previous message. A message without a time gets it, so that it keeps its place."""
    keys: ContentKeys


def events(place: RecordLocation, record: Mapping[str, object]) -> Iterator[EventDraft | Problem]:
    """The messages of one conversation. Raises InvalidInput if the record is not a conversation."""
    messages = fields.as_list("chat_messages", record.get("chat_messages"))
    name = fields.optional_text(record, "name")
    identifier = fields.optional_text(record, "uuid")
    created = fields.optional_text(record, "created_at")
    conversation = _Conversation(
        session=bounded(identifier or f"claude-{digest(name, created)}"),
        name=name,
        latest=fields.optional_time(record, "created_at"),
        keys=ContentKeys("claude"),
    )
    kept, fault = _kept(messages, fields.optional_text(record, "current_leaf_message_uuid"))
    if fault is not None:
        yield place.problem(fault)
    for number in kept:
        here = RecordLocation(place.path, record=f"{place.record}, message {number + 1}")
        try:
            yield from _message(here, fields.as_object("message", messages[number]), conversation)
        except InvalidInput as error:
            yield here.problem(error)


def _kept(messages: list[object], current: str | None) -> tuple[list[int], str | None]:
    """The indexes of the messages on the current branch, and a description of the problem if the branch is broken.

    In newer exports each message names the one it answers, and edited versions are included. Older exports do not, and
    are one branch.
    """
    parents: dict[str, str | None] = {}
    positions: dict[str, int] = {}
    for position, message in enumerate(messages):
        record = message if fields.is_object(message) else {}
        identifier, parent = record.get("uuid"), record.get("parent_message_uuid")
        if not isinstance(identifier, str) or not isinstance(parent, str) or identifier in positions:
            return list(range(len(messages))), None
        # The parent of the first message is a placeholder id that no message has.
        parents[identifier] = None if position == 0 else parent
        positions[identifier] = position
    if not parents:
        return [], None
    roots = {parent for parent in parents.values() if parent is not None and _is_start(parent)}
    parents = {name: None if parent in roots else parent for name, parent in parents.items()}
    answered = set(parents.values())
    leaves = [name for name in parents if name not in answered]
    leaf = current if current in parents else (leaves or list(parents))[-1]
    path, fault = branch(leaf, parents)
    return [positions[name] for name in path], fault


def _is_start(parent: str) -> bool:
    return parent.startswith("00000000-0000-")


def _message(
    place: RecordLocation, record: Mapping[str, object], conversation: _Conversation
) -> Iterator[EventDraft | Problem]:
    sender = fields.as_text("sender", record.get("sender"))
    role = _ROLES.get(sender)
    if role is None:
        raise InvalidInput("sender", sender, "one of human, assistant")
    when = fields.optional_time(record, "created_at") or conversation.latest
    conversation.latest = when
    identifier = fields.optional_text(record, "uuid")
    found = list(passages(fields.optional_list(record, "content")))
    yield from (place.problem(error) for error in found if isinstance(error, InvalidInput))
    said = [passage for passage in found if isinstance(passage, MessagePart)]
    text = fields.optional_text(record, "text")
    if not said and text is not None:
        said = [MessagePart(kind=BlockKind.SAID, index=0, text=text)]
    attached = _attached(record)
    for passage in [*_with_notes(said, _notes(record)), *attached]:
        stem = identifier or conversation.keys.key(conversation.session, sender, passage.text)
        turn = Turn(
            text=passage.text,
            key=f"{identity('claude', stem, conversation.session)}/{passage.index}",
            role="tool" if passage.kind is BlockKind.RESULT else role,
            type="message.attachment" if passage in attached else passage.kind,
            severity=Severity.ERROR if passage.failed else Severity.INFO,
            actor=label(passage.tool) if passage.kind is BlockKind.RESULT else None,
            occurred_at=when,
            session=conversation.session,
            payload=_payload(conversation),
            refs={"tool_call": passage.call} if passage.call else {},
        )
        yield from drafted(turn, place)


def _payload(conversation: _Conversation) -> dict[str, JsonValue]:
    payload: dict[str, JsonValue] = {"source": "claude"}
    if conversation.name is not None:
        payload["conversation"] = conversation.name
    return payload


def _with_notes(said: list[MessagePart], notes: str) -> list[MessagePart]:
    """The parts, with the notes on attachments added to the last one."""
    if not notes:
        return said
    for at in reversed(range(len(said))):
        if said[at].kind is BlockKind.SAID:
            noted = MessagePart(kind=BlockKind.SAID, index=said[at].index, text=f"{said[at].text}\n\n{notes}")
            return [*said[:at], noted, *said[at + 1 :]]
    return [MessagePart(kind=BlockKind.SAID, index=len(said), text=notes), *said]


def _notes(record: Mapping[str, object]) -> str:
    """The attachments of a message: pasted text in full, and the names of files.

    A long paste is stored as an attachment without a name; it counts as the person's words.
    """
    found: list[str] = []
    for attachment in _records(record, "attachments"):
        name = fields.optional_text(attachment, "file_name")
        found.append(f"[file: {name}]" if name else fields.optional_text(attachment, "extracted_content") or "")
    for file in _records(record, "files"):
        name = fields.optional_text(file, "file_name")
        found.append(f"[file: {name}]" if name else "")
    return "\n\n".join(dict.fromkeys(note for note in found if note))


def _attached(record: Mapping[str, object]) -> list[MessagePart]:
    """The text of each named file, as its own part."""
    found: list[MessagePart] = []
    for number, attachment in enumerate(_records(record, "attachments")):
        name = fields.optional_text(attachment, "file_name")
        text = fields.optional_text(attachment, "extracted_content")
        if name and text:
            # Larger than any index of a block, so that the keys never collide.
            index = 1_000_000 + number
            found.append(MessagePart(kind=BlockKind.SAID, index=index, text=f"[file: {name}]\n\n{text}"))
    return found


def _records(record: Mapping[str, object], key: str) -> Iterator[dict[str, object]]:
    for item in fields.optional_list(record, key):
        yield fields.as_object(key, item)
