"""Convert one utterance to event drafts: keys, limits, and splitting of long texts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from unicodedata import category

from remembrancer.domain.event import USUAL_EVENT_MB, EventDraft, Priority, Severity
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.validation import MAX_NAME_CHARS, JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest.fields import clean
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.values import copied, dataclass

SUFFIX_CHARS = 20
"""Characters reserved at the end of a key for a counter within the record: "/3" for a block, "#2" for a piece."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _nothing() -> Mapping[str, JsonValue]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance of a file. Unlike a draft, its text may be of any length, or empty."""

    text: str
    key: str
    role: str = "user"
    type: str = "message"
    severity: Severity = Severity.INFO
    priority: Priority = Priority.NORMAL
    actor: str | None = None
    occurred_at: datetime | None = None
    session: str | None = None
    payload: Mapping[str, JsonValue] = field(default_factory=_nothing)
    refs: Mapping[str, JsonValue] = field(default_factory=_nothing)


def events(turn: Turn, place: RecordLocation) -> Iterator[EventDraft | Problem]:
    """The drafts of `turn`, or the problem that prevents them. An empty turn gives nothing."""
    try:
        made = drafts(turn)
    except InvalidInput as error:
        yield place.problem(error)
        return
    yield from made


def drafts(turn: Turn) -> list[EventDraft]:
    """`turn` as one draft, or several if its text is longer than an event may be.

    The first piece has the key and the payload; piece n has the key "<key>#n" and refers to the first as `continues`.
    Raises InvalidInput.
    """
    made: list[EventDraft] = []
    for number, text in enumerate(pieces(without_recalled(clean(turn.text))), start=1):
        first = number == 1
        made.append(
            copied(
                turn,
                EventDraft,
                text=text,
                payload=turn.payload if first else {},
                refs=turn.refs if first else {**turn.refs, "continues": turn.key},
                key=turn.key if first else f"{bounded(turn.key, MAX_NAME_CHARS - SUFFIX_CHARS // 2)}#{number}",
            )
        )
    return made


def pieces(text: str, limit: int = USUAL_EVENT_MB << 20) -> list[str]:
    """The text in pieces of at most `limit` bytes, split between paragraphs, else lines, else words.

    Blank pieces are dropped; a text within the limit is returned unchanged.
    """
    data = text.encode()
    if len(data) <= limit:
        return [text] if text.strip() else []
    found: list[str] = []
    start = 0
    while start < len(data):
        end = _cut(data, start, limit)
        piece = data[start:end].decode().strip("\r\n").rstrip()
        if piece.strip():
            found.append(piece)
        start = end
    return found


def _cut(data: bytes, start: int, limit: int) -> int:
    end = start + limit
    if end >= len(data):
        return len(data)
    # Only the second half is searched: splitting near the start would give many small pieces.
    for separator in (b"\n\n", b"\n", b" "):
        at = data.rfind(separator, start + limit // 2, end)
        if at >= 0:
            return at + len(separator)
    while data[end] & 0b1100_0000 == 0b1000_0000:  # never split a character
        end -= 1
    return end


def bounded(name: str, limit: int = MAX_NAME_CHARS) -> str:
    """`name` as a key or session: one line, at most `limit` characters. Different names stay different when they are
    shortened.
    """
    flat = _one_line(clean(name))
    if flat == name and len(name) <= limit:
        return name
    stamp = digest(name)
    return f"{flat[: limit - len(stamp) - 1].rstrip()}~{stamp}"


def label(name: str | None) -> str | None:
    """`name` as an actor: one line, shortened to the limit; None if nothing is left."""
    if name is None:
        return None
    flat = _one_line(name)
    return flat[:MAX_NAME_CHARS].rstrip() or None


def _one_line(text: str) -> str:
    # Only control characters are removed: joiners belong to Persian names and to emoji.
    return " ".join("".join(" " if category(character) == "Cc" else character for character in text).split())


def digest(*parts: str | None) -> str:
    """A hash over the parts, 32 hexadecimal digits, which also depends on the boundaries between them."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def identity(source: str, identifier: str, session: str | None) -> str:
    """The key of a record that has its own id.

    A UUID identifies the record everywhere: a forked or resumed conversation contains copies of its first messages. Any
    other id is unique only within its conversation.
    """
    if _UUID.fullmatch(identifier):
        return f"{source}:{identifier}"
    return bounded(f"{source}:{session}:{identifier}", MAX_NAME_CHARS - SUFFIX_CHARS)


class ContentKeys:
    """Keys for records without an id: their content, and how often it occurred before in the file.

    The count makes a second "yes" another event. Without the position in the key, a file may grow or be edited further
    up without changing other keys. Takes about 100 bytes for each record.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._seen: dict[str, int] = {}

    def key(self, *parts: str | None) -> str:
        stamp = digest(*parts)
        count = self._seen.get(stamp, 0) + 1
        self._seen[stamp] = count
        return f"{self._source}:{stamp}" if count == 1 else f"{self._source}:{stamp}:{count}"


def branch(leaf: str, parents: Mapping[str, str | None]) -> tuple[list[str], str | None]:
    """The ids from the root to `leaf`, and a description of the problem if the path is broken.

    `parents`: the parent of each known id. A cycle or an unknown parent ends the walk.
    """
    path: list[str] = []
    seen: set[str] = set()
    fault: str | None = None
    at: str | None = leaf
    while at is not None:
        if at in seen:
            fault = f"the messages form a cycle at {at!r}; what came before is left out"
            break
        if at not in parents:
            fault = f"the parent {at!r} is not in the file; what came before is left out"
            break
        seen.add(at)
        path.append(at)
        at = parents[at]
    path.reverse()
    return path, fault
