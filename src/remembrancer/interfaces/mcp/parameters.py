"""The parameters of the tools, with their limits and the descriptions that models read."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import Field

from remembrancer.domain.event import MAX_EVENT_MB
from remembrancer.domain.validation import MAX_NAME_CHARS, MAX_TAGS, MAX_TEXT_BYTES, MAX_TITLE_CHARS

MAX_LISTED: Final = 50
"""The maximum number of memories in one answer. More would fill the model's context."""
BLOCK_CHARS: Final = 4000
MIN_BLOCK_CHARS: Final = 500
"""Enough for the frame of any preset and a few lines."""
MAX_BLOCK_CHARS: Final = 100_000

_TIME: Final = "2026-03-04, 2026-03-04T09:00:00Z, 7d or yesterday"
_SLUG: Final = Field(min_length=1, max_length=100)
_Time = Annotated[str, Field(min_length=1, max_length=40)]
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
_Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_BYTES)]
_Tags = Annotated[list[Annotated[str, _SLUG]], Field(max_length=MAX_TAGS)]

Query = Annotated[
    _Text,
    Field(description="A question or keywords; speakers: 'the user', 'the assistant'."),
]
Mode = Annotated[
    Literal["question", "message"],
    Field(description="message: query is what the user just said."),
]
RecallLimit = Annotated[
    Annotated[int, Field(ge=1, le=MAX_LISTED)] | None,
    Field(description="At most so many."),
]
LeastScore = Annotated[
    Annotated[float, Field(ge=0, le=1)] | Literal["off"] | None,
    Field(description="Least probability; off: none."),
]
ListLimit = Annotated[int, Field(ge=1, le=MAX_LISTED, description="At most so many.")]
OnlyKinds = Annotated[
    Annotated[list[Annotated[str, _SLUG]], Field(max_length=20)] | None,
    Field(description="Only note, decision, episode …"),
]
OnlyTags = Annotated[_Tags | None, Field(description="Only with all of these.")]
SinceTime = Annotated[_Time | None, Field(description=f"Only since {_TIME}.")]
UntilTime = Annotated[_Time | None, Field(description="Only before; as since.")]
OnlySession = Annotated[_Name | None, Field(description="Only of this one.")]
Explain = Annotated[bool, Field(description="Say why each was found.")]
HitField = Literal["score", "probability", "age", "in_block", "reason", "passage", "start", "end", "memory"]
HitFields = Annotated[
    Annotated[list[HitField], Field(max_length=len(get_args(HitField)))] | None,
    Field(description="Of a structured hit; default: all."),
]
MaxChars = Annotated[
    int,
    Field(
        ge=MIN_BLOCK_CHARS,
        le=MAX_BLOCK_CHARS,
        description="The longest answer.",
    ),
]
Days = Annotated[Annotated[float, Field(ge=0, le=36_500)] | None, Field(description="Only of the last N days.")]

OnlyPreferences = Annotated[bool, Field(description="Only the user's lasting wishes.")]

MemoryText = Annotated[
    _Text,
    Field(description="One fact, decision or lesson, understandable without this conversation."),
]
NewText = Annotated[_Text | None, Field(description="The whole new text.")]
MemoryTitle = Annotated[
    Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)] | None,
    Field(description="Searched with the text."),
]
Kind = Annotated[
    Annotated[str, _SLUG] | None,
    Field(description="One word: note, decision, preference, lesson …"),
]
TagList = Annotated[_Tags | None, Field(description="To filter by.")]
ImportanceFraction = Annotated[float | None, Field(ge=0, le=1, description="0.5 is usual, 0.9 vital.")]
TopicKey = Annotated[
    _Name | None,
    Field(description="The topic: a later text replaces this one."),
]
Whose = Annotated[
    Literal["user", "assistant", "tool", "web"],
    Field(description="Where it is from; assistant: your conclusion."),
]
OccurredAt = Annotated[_Time | None, Field(description=f"{_TIME}; default: now.")]
ValidUntil = Annotated[_Time | None, Field(description="When it ends: a day or a time.")]
Key = Annotated[_Name | None, Field(description="Unique: repeating it adds nothing.")]

SaidText = Annotated[str, Field(min_length=1, max_length=MAX_EVENT_MB << 20, description="Word for word.")]
SpeakerRole = Annotated[Literal["user", "assistant", "tool"], Field(description="Whose words.")]
EventType = Annotated[str, Field(min_length=1, max_length=100, description="The event's type.")]
SeverityName = Annotated[Literal["info", "notice", "warn", "error"], Field(description="How severe.")]
Actor = Annotated[_Name | None, Field(description="The speaker's or program's name.")]
Session = Annotated[_Name | None, Field(description="The conversation.")]

MemoryIdText = Annotated[str, Field(min_length=8, max_length=45, description="As recall gives it.")]
MemoryIds = Annotated[
    str, Field(min_length=8, max_length=2_000, description="As recall gives it. Of a task: all that it used.")
]
Verdict = Annotated[
    Literal["helpful", "unhelpful", "harmful", "success", "partial", "failure"],
    Field(
        description="helpful: you used it; unhelpful: not relevant; harmful: wrong or misleading. How a task ended:"
        " success, partial, failure."
    ),
]
HealthDays = Annotated[int, Field(ge=0, le=30, description="Days of history.")]
