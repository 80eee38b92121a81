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

_TIME: Final = (
    "a day (2026-03-04), a time with its offset (2026-03-04T09:00:00Z), how long ago (90m, 24h, 7d, 2w), or a phrase "
    "(yesterday, last week)"
)
_SLUG: Final = Field(min_length=1, max_length=100)
_Time = Annotated[str, Field(min_length=1, max_length=40)]
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
_Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_BYTES)]
_Tags = Annotated[list[Annotated[str, _SLUG]], Field(max_length=MAX_TAGS)]

Query = Annotated[
    _Text,
    Field(
        description="The question, as a sentence or keywords. In it, call the speakers 'the user' and 'the assistant'."
    ),
]
Mode = Annotated[
    Literal["question", "message"],
    Field(
        description="message: `query` is what the user just said, as it is, not a question; returns the few memories "
        "that matter to it, or none."
    ),
]
RecallLimit = Annotated[
    Annotated[int, Field(ge=1, le=MAX_LISTED)] | None,
    Field(description="The maximum number of memories; default: the preset's."),
]
LeastScore = Annotated[
    Annotated[float, Field(ge=0, le=1)] | Literal["off"] | None,
    Field(
        description="The least score of a memory, in place of the memory's own relevance threshold; off: return the "
        "best ones however low they score."
    ),
]
ListLimit = Annotated[int, Field(ge=1, le=MAX_LISTED, description="The maximum number of memories.")]
OnlyKinds = Annotated[
    Annotated[list[Annotated[str, _SLUG]], Field(max_length=20)] | None,
    Field(description="Only memories of these kinds, such as note, decision, episode."),
]
OnlyTags = Annotated[_Tags | None, Field(description="Only memories with all of these tags.")]
SinceTime = Annotated[_Time | None, Field(description=f"Only what happened since then: {_TIME}.")]
UntilTime = Annotated[_Time | None, Field(description="Only what happened before then; format as for since.")]
OnlySession = Annotated[_Name | None, Field(description="Only what belongs to this session.")]
Explain = Annotated[bool, Field(description="Also say why each memory was found.")]
HitField = Literal["score", "age", "in_block", "reason", "passage", "start", "end", "memory"]
HitFields = Annotated[
    Annotated[list[HitField], Field(max_length=len(get_args(HitField)))] | None,
    Field(description="Only these fields of each hit in the structured answer; [] for the ranks alone. Default: all."),
]
MaxChars = Annotated[
    int,
    Field(
        ge=MIN_BLOCK_CHARS,
        le=MAX_BLOCK_CHARS,
        description="The maximum length of the block; a memory that does not fit is left out.",
    ),
]
Days = Annotated[Annotated[float, Field(ge=0, le=36_500)] | None, Field(description="Only from the last N days.")]

OnlyPreferences = Annotated[
    bool, Field(description="Instead, only stated preferences and lasting instructions, of any time.")
]

MemoryText = Annotated[
    _Text,
    Field(description="What to remember: one fact, decision or lesson, understandable without this conversation."),
]
MemoryTitle = Annotated[
    Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)] | None,
    Field(description="A title, searched with the text."),
]
Kind = Annotated[
    Annotated[str, _SLUG] | None,
    Field(description="What kind of memory, in one word: note, decision, preference, lesson …"),
]
TagList = Annotated[_Tags | None, Field(description="Words to filter by later.")]
ImportanceFraction = Annotated[
    float | None, Field(ge=0, le=1, description="How much it matters: 0.5 is usual, 0.9 is vital.")
]
TopicKey = Annotated[
    _Name | None,
    Field(description="A name for the topic: a later text with the same name replaces this one in recall."),
]
Whose = Annotated[
    Literal["user", "assistant", "tool", "web"],
    Field(
        description="Whose words these are. user: said by the user; assistant: found or concluded by you; tool, web: "
        "taken from there. Trust depends on it."
    ),
]
OccurredAt = Annotated[_Time | None, Field(description=f"When it happened: {_TIME}. Default: now.")]
ValidUntil = Annotated[_Time | None, Field(description="When it stops being valid: a day, or a time with its offset.")]
Key = Annotated[_Name | None, Field(description="A unique name; a repeated call with it has no further effect.")]

SaidText = Annotated[
    str, Field(min_length=1, max_length=MAX_EVENT_MB << 20, description="What was said or happened, word for word.")
]
SpeakerRole = Annotated[Literal["user", "assistant", "tool"], Field(description="Whose words these are.")]
EventType = Annotated[str, Field(min_length=1, max_length=100, description="The type of the event, such as message.")]
SeverityName = Annotated[Literal["info", "notice", "warn", "error"], Field(description="How severe it is.")]
Actor = Annotated[_Name | None, Field(description="The name of the person or program that said or did it.")]
Session = Annotated[_Name | None, Field(description="The conversation it belongs to; default: the server's session.")]

MemoryIdText = Annotated[
    str, Field(min_length=8, max_length=45, description="The memory's id, from recall, recent or timeline.")
]
Verdict = Annotated[
    Literal["helpful", "unhelpful", "harmful"],
    Field(description="helpful: you used it; unhelpful: it was not relevant; harmful: it was wrong or misleading."),
]
HealthDays = Annotated[int, Field(ge=0, le=30, description="The number of days of history to include.")]
