"""Events: immutable entries of the journal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

MESSAGE: Final = "message"
"""The usual type of an event, and so the kind of most memories."""


class Severity(StrEnum):
    """The seriousness of an event, from the least to the most."""

    INFO = "info"
    NOTICE = "notice"
    WARN = "warn"
    ERROR = "error"


class Priority(StrEnum):
    """The protection of an event from fading; a permanent one is never archived."""

    NORMAL = "normal"
    HIGH = "high"
    PIN = "pin"
    PERMANENT = "permanent"


class Role(StrEnum):
    """Who said or did it."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


SPEAKERS: Final = (Role.USER, Role.ASSISTANT)
"""The roles whose events are turns of a conversation."""


class Origin(StrEnum):
    """The source of a text, which determines its trust."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"


MAX_EVENT_MB: Final = 256
"""The longest text of an event that any configuration allows, in MiB of UTF-8."""
USUAL_EVENT_MB: Final = 16
"""The longest text of an event by default, in MiB of UTF-8."""

_MOST_TRUSTED_FIRST: Final = (Origin.SYSTEM, Origin.USER, Origin.ASSISTANT, Origin.IMPORT, Origin.TOOL, Origin.WEB)


def least_trusted(origins: Iterable[Origin]) -> Origin:
    """The origin of a memory formed from texts of these origins (at least one): the least trusted one.

    >>> least_trusted([Origin.USER, Origin.TOOL, Origin.ASSISTANT]).value
    'tool'
    """
    return max(origins, key=_MOST_TRUSTED_FIRST.index)


def is_less_trusted(one: Origin, than: Origin) -> bool:
    """Whether a text of an origin is trusted less than one of another origin, whose statements it may not end.

    >>> is_less_trusted(Origin.WEB, Origin.USER), is_less_trusted(Origin.USER, Origin.ASSISTANT)
    (True, False)
    """
    return _MOST_TRUSTED_FIRST.index(one) > _MOST_TRUSTED_FIRST.index(than)


UNTRUSTED: Final = frozenset({Origin.IMPORT, Origin.TOOL, Origin.WEB})
"""The origins whose texts have nothing to tell the model that reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event before it is recorded, checked on construction. Recording assigns its id and position.

    `text`: at most as long as the memory is configured to take (`max_event_mb`). `occurred_at` None means the time of
    recording. `key` makes recording idempotent within one scope.
    """

    text: str
    role: str = Role.USER
    type: str = MESSAGE
    severity: Severity = Severity.INFO
    priority: Priority = Priority.NORMAL
    actor: str | None = None
    occurred_at: datetime | None = None
    session: str | None = None
    payload: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
    refs: Mapping[str, JsonValue] = field(default_factory=validation.no_json)
    key: str | None = None

    def __post_init__(self) -> None:
        checked = object.__setattr__  # the dataclass is frozen
        validation.text("text", self.text, max_bytes=MAX_EVENT_MB << 20)
        checked(self, "role", validation.choice("role", self.role, Role))
        validation.slug("type", self.type)
        checked(self, "severity", validation.choice("severity", self.severity, Severity))
        checked(self, "priority", validation.choice("priority", self.priority, Priority))
        validation.optional_name("actor", self.actor)
        checked(self, "occurred_at", validation.optional_moment("occurred_at", self.occurred_at))
        validation.optional_name("session", self.session)
        checked(self, "payload", validation.json_object("payload", self.payload))
        checked(self, "refs", validation.json_object("refs", self.refs))
        validation.optional_name("key", self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A recorded event. `seq` counts from 1 within its stream (its whole scope, session included)."""

    id: UUID
    scope: Scope
    seq: int
    occurred_at: datetime
    recorded_at: datetime
    type: str
    severity: Severity
    priority: Priority
    actor: str | None
    role: Role
    text: str
    payload: Mapping[str, JsonValue]
    refs: Mapping[str, JsonValue]
    key: str | None
    origin: Origin

    @property
    def beginning(self) -> str:
        """The text as far as a memory's text may reach: summaries and prompts are made from it."""
        if 4 * len(self.text) <= validation.MAX_TEXT_BYTES:
            return self.text
        return self.text.encode()[: validation.MAX_TEXT_BYTES].decode(errors="ignore")


def speaker_of(event: Event) -> str:
    """Who said it: the actor, or the role if no actor is named."""
    return event.actor or event.role.value


ARCHIVED_CHARS: Final = 400


def archived(event: Event) -> Event:
    """The archived form of an event: the first 400 characters of its text, and its payload if that has at most 400
    characters as JSON; otherwise the first 400 characters of that JSON under the key `cut`.
    """
    payload_text = json.dumps(dict(event.payload), ensure_ascii=False, sort_keys=True)
    payload = event.payload if len(payload_text) <= ARCHIVED_CHARS else {"cut": payload_text[:ARCHIVED_CHARS]}
    return replace(event, text=event.text[:ARCHIVED_CHARS], payload=payload)
