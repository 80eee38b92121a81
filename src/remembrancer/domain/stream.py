"""Streams of events, and how far they have been formed into episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

CONTEXT_GAP: Final = timedelta(hours=1)
"""Turns of one stream with a longer gap between them are not context for each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The events of a stream that are in no episode yet: `events` events after position `cursor`, up to `last_seq`.

    `first_at`, `last_at`: when the first and the last of them happened; `recorded_at`: when the last one was recorded.
    `note`: state that the last run of segmentation stored for the next one.
    """

    stream: Scope
    cursor: int
    last_seq: int
    events: int
    first_at: datetime
    last_at: datetime
    recorded_at: datetime
    note: Mapping[str, JsonValue] = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The part of a stream that was read: from position `expected` (exclusive) to `to` (inclusive). Positions count
    from 0; both are equal if only the `note` is new.
    """

    stream: Scope
    expected: int
    to: int
    note: Mapping[str, JsonValue] = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """A conversation: the events of one stream that are in the journal, archived ones excluded.

    `turns`: how many there are. `first`, `last`: the positions of the first and the last one, in the order of
    recording. `speakers`: for each speaker (`domain.event.speaker_of`), how many of the last MAX_COUNTED_TURNS turns
    are theirs, most first, ties by name.
    """

    stream: Scope
    turns: int
    first: ListingPosition
    last: ListingPosition
    speakers: Mapping[str, int]


MAX_COUNTED_TURNS: Final = 1_000
"""The last turns of a conversation from which its speakers are counted."""


def digest_of(events: Iterable[UUID]) -> str:
    """The digest of event ids in stream order, prefixed with the name of the hash.

    >>> digest_of([])
    'blake2b:cae66941d9efbd404e4d88758ea67670'
    """
    whole = blake2b(digest_size=16)
    for event_id in events:
        whole.update(event_id.bytes)
    return f"blake2b:{whole.hexdigest()}"
