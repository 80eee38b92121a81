"""How far a stream has been read into episodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from remembrancer.domain import validation
from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What of a stream is in no episode yet: its events after place `cursor`, `events` of them, up to `last_seq`.

    `first_at`, `last_at`: when the first and the last of them happened; `recorded_at`: when the last was recorded.
    `note`: what whoever last read the stream left for the next to know.
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
    """A stream read from place `expected`, exclusive, to place `to`, inclusive. Both from 0; equal where nothing of it
    went into an episode and only the `note` is new.
    """

    stream: Scope
    expected: int
    to: int
    note: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
