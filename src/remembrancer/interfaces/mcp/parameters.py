"""The parameters of the tools: each with its bounds and what a model must know of it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from remembrancer.domain.validation import MAX_NAME_CHARS, MAX_TAGS, MAX_TEXT_BYTES, MAX_TITLE_CHARS

MAX_LISTED: Final = 50
"""Memories in one answer: more would crowd out what the model is at."""
BLOCK_CHARS: Final = 4000
MIN_BLOCK_CHARS: Final = 500
"""A frame of any preset and some lines fit into it."""
MAX_BLOCK_CHARS: Final = 100_000

_TIME: Final = "a day (2026-03-04), a time with its offset (2026-03-04T09:00:00Z), or how long ago (90m, 24h, 7d, 2w)"
_SLUG: Final = Field(min_length=1, max_length=100)
_Time = Annotated[str, Field(min_length=1, max_length=40)]
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
_Tags = Annotated[list[Annotated[str, _SLUG]], Field(max_length=MAX_TAGS)]

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT_BYTES,
        description="The question, in full or by key words. Those who talk are 'the user' and 'the assistant' in it.",
    ),
]
RecallLimit = Annotated[
    Annotated[int, Field(ge=1, le=MAX_LISTED)] | None,
    Field(description="How many memories at most; the usual number if not given."),
]
Limit = Annotated[int, Field(ge=1, le=MAX_LISTED, description="How many memories at most.")]
Kinds = Annotated[
    Annotated[list[Annotated[str, _SLUG]], Field(max_length=20)] | None,
    Field(description="Only memories of one of these kinds, such as note, decision, episode."),
]
OnlyTags = Annotated[_Tags | None, Field(description="Only memories with all of these tags.")]
Since = Annotated[_Time | None, Field(description=f"Only what happened since: {_TIME}.")]
Until = Annotated[_Time | None, Field(description="Only what happened before; as since.")]
OnlySession = Annotated[_Name | None, Field(description="Only what belongs to this session.")]
MaxChars = Annotated[
    int,
    Field(
        ge=MIN_BLOCK_CHARS,
        le=MAX_BLOCK_CHARS,
        description="How long the block of memories may be; what finds no room is left out whole.",
    ),
]
Days = Annotated[Annotated[float, Field(ge=0, le=36_500)] | None, Field(description="Only of the last so many days.")]

Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT_BYTES,
        description="What to keep: one fact, decision or lesson, told so that it is understood without this talk.",
    ),
]
Title = Annotated[
    Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)] | None,
    Field(description="A title, searched with the text."),
]
Kind = Annotated[
    Annotated[str, _SLUG] | None, Field(description="One word for what it is: note, decision, preference, lesson …")
]
Tags = Annotated[_Tags | None, Field(description="Words to filter by later.")]
Importance = Annotated[float, Field(ge=0, le=1, description="How much it matters: 0.5 is usual, 0.9 is vital.")]
TopicKey = Annotated[
    _Name | None,
    Field(description="A name of the topic: remembered under it again, the new text replaces the old in recall."),
]
Whose = Annotated[
    Literal["user", "assistant", "tool", "web"],
    Field(
        description="Whose words these are: user what the user said; assistant what you found or concluded; tool or "
        "web what came from there. Trust hangs on it."
    ),
]
OccurredAt = Annotated[_Time | None, Field(description=f"When it was so or happened, if not now: {_TIME}.")]
ValidUntil = Annotated[
    _Time | None, Field(description="From when on it does not hold any more: a day, or a time with its offset.")
]
Key = Annotated[_Name | None, Field(description="A name that makes doing it twice the same as once.")]

Said = Annotated[
    str,
    Field(min_length=1, max_length=MAX_TEXT_BYTES, description="What was said or happened, word by word."),
]
Role = Annotated[Literal["user", "assistant", "tool"], Field(description="Whose words these are.")]
EventType = Annotated[str, Field(min_length=1, max_length=100, description="What type of event, such as message.")]
Severity = Annotated[Literal["info", "notice", "warn", "error"], Field(description="How grave it is.")]
Actor = Annotated[_Name | None, Field(description="Who, by name.")]
Session = Annotated[_Name | None, Field(description="The conversation it belongs to; the server's own if not given.")]

MemoryId = Annotated[
    str, Field(min_length=32, max_length=45, description="The memory's id, as recall, recent and timeline tell it.")
]
Verdict = Annotated[
    Literal["helpful", "unhelpful", "harmful"],
    Field(description="helpful: you used it; unhelpful: it was beside the point; harmful: it was wrong or misled."),
]
HealthDays = Annotated[int, Field(ge=0, le=30, description="How many days of history to add.")]
