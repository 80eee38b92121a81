"""The types of parameters and body fields: strict where JSON could be misread, with descriptions for the OpenAPI
document.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, cast
from uuid import UUID

from fastapi import Depends, Path, Query
from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema
from pydantic_core import PydanticCustomError

from remembrancer.domain import validation
from remembrancer.domain.event import MAX_EVENT_MB, Priority, Role, Severity
from remembrancer.domain.memory import Tier
from remembrancer.domain.query import Filters
from remembrancer.domain.scope import Reach, Visibility
from remembrancer.engine.journal import EventFilters
from remembrancer.errors import InvalidInput
from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.key_values import key_values
from remembrancer.interfaces.wire.recall_fields import FIELDS, field_name
from remembrancer.presets.spec import MAX_LIMIT

MAX_WHOLE: Final = 2**63 - 1
SLUG: Final = r"^[a-z0-9][a-z0-9_.\-]{0,99}$"
MAX_TAG_CHARS: Final = 100


def _moment(value: object) -> datetime:
    """A time given as text. A bare number, which pydantic would read as seconds since 1970, is most likely
    a mistake.
    """
    allowed = "an ISO 8601 time with a UTC offset, such as 2026-03-04T09:00:00Z"
    if not isinstance(value, str):
        raise PydanticCustomError("moment", allowed)
    try:
        return validation.parse_moment("time", value)
    except InvalidInput as error:
        raise PydanticCustomError("moment", "{allowed}", {"allowed": error.allowed}) from None


Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-03-04T09:00:00Z"]}),
]
# Only for the OpenAPI document: the memory checks it, with a better error message than that of a pattern.
_NAMED: Final[dict[str, JsonValue]] = {
    "pattern": r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$"
}
Text = Annotated[str, Field(min_length=1, max_length=validation.MAX_TEXT_BYTES)]
"""A text of at most 64 KiB as UTF-8, which the memory checks; therefore at most that many characters."""
EventText = Annotated[str, Field(min_length=1, max_length=MAX_EVENT_MB << 20)]
"""A text of at most `max_event_mb` MiB as UTF-8, which the memory checks."""
Name = Annotated[str, Field(min_length=1, max_length=validation.MAX_NAME_CHARS, json_schema_extra=_NAMED)]
Title = Annotated[str, Field(min_length=1, max_length=validation.MAX_TITLE_CHARS, json_schema_extra=_NAMED)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS, json_schema_extra=_NAMED)]
Slug = Annotated[str, Field(pattern=SLUG)]
Tags = Annotated[list[Tag], Field(max_length=validation.MAX_TAGS)]
Json = dict[str, Any]
"""A JSON object. Whether its values are JSON was decided by parsing; asking again takes a microsecond a value."""


def _field(value: object) -> str:
    try:
        return field_name(value if isinstance(value, str) else "")
    except InvalidInput as error:
        raise PydanticCustomError("field", "{allowed}", {"allowed": error.allowed}) from None


RecallField = Annotated[str, BeforeValidator(_field), WithJsonSchema({"type": "string", "enum": list(FIELDS)})]
OF_FIELDS: Final = (
    "Only these fields of the answer, such as `hits.memory.text`; a name stands for all that is below it, and `*` for "
    "everything. Default: all but the strength of memories, their status and when they were stored, replaced and "
    "retired."
)
JsonOfScalars = dict[str, Annotated[str | int | float | bool | None, Field(union_mode="smart")]]
Flag = Annotated[bool, Field(strict=True)]
Fraction = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
WholeImportance = Annotated[int, Field(strict=True, ge=1, le=10)]
RevisionNumber = Annotated[int, Field(strict=True, ge=1, le=MAX_WHOLE)]
OF_HITS: Final[dict[str, Any]] = {"minimum": 1, "maximum": MAX_LIMIT}
"""The bounds of a number of hits, for the schema. The engine checks them, because a preset may allow fewer."""
Hits = Annotated[int, Field(strict=True, json_schema_extra=OF_HITS)]
Listed = Annotated[int, Field(strict=True, ge=1, le=MAX_LISTED)]

MemoryId = Annotated[UUID, Path(description="The memory's id.", examples=["01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"])]
EventId = Annotated[UUID, Path(description="The entry's id.", examples=["01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"])]
RecallId = Annotated[
    UUID, Path(description="The stored answer's id.", examples=["01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"])
]
Limit = Annotated[int, Query(ge=1, le=MAX_LISTED, description="The maximum number.")]
After = Annotated[str | None, Query(description="The `next` of the previous page.")]
SinceQuery = Annotated[Moment | None, Query(description="Only what happened at or after that time.")]
UntilQuery = Annotated[Moment | None, Query(description="Only what happened before that time.")]
Kinds = Annotated[list[Slug] | None, Query(description="Only these kinds. Repeat the parameter to allow several.")]
InSession = Annotated[Name | None, Query(alias="in_session", description="Only what belongs to this session.")]
HowFar = Annotated[
    Reach | None, Query(description="The part of the scope to search. Default: all that the role may see.")
]
Crew = Annotated[Name | None, Query(description="The crew within the project.")]


def memory_filters(
    *,
    kinds: Kinds = None,
    tiers: Annotated[
        list[Tier] | None, Query(description="Only these tiers. Repeat the parameter to allow several.")
    ] = None,
    tags: Annotated[
        list[Tag] | None, Query(description="Only with this tag. Repeat the parameter to require several.")
    ] = None,
    source: Annotated[Name | None, Query(description="Only from this source.")] = None,
    session: InSession = None,
    metadata: Annotated[
        list[str] | None,
        Query(
            description="Only with this value in the metadata, as KEY=VALUE. VALUE is parsed as JSON if it is valid "
            "JSON, otherwise it is text. Repeat the parameter to require several.",
            examples=[["ticket=7"]],
        ),
    ] = None,
    visibilities: Annotated[
        list[Visibility] | None, Query(description="Only with this visibility. Repeat the parameter to allow several.")
    ] = None,
    since: SinceQuery = None,
    until: UntilQuery = None,
    as_of: Annotated[
        Moment | None, Query(description="Only what was known and valid at that time. Default: now.")
    ] = None,
) -> Filters:
    return cast("Filters", {**locals(), "metadata": key_values("metadata", metadata)})


def event_filters(
    *,
    query: Annotated[Text | None, Query(description="Only with all of these words in the text or the payload.")] = None,
    types: Annotated[
        list[Slug] | None, Query(description="Only these types. Repeat the parameter to allow several.")
    ] = None,
    without_types: Annotated[list[Slug] | None, Query(description="Not these types.")] = None,
    severities: Annotated[list[Severity] | None, Query(description="Only these severities.")] = None,
    priorities: Annotated[list[Priority] | None, Query(description="Only these priorities.")] = None,
    roles: Annotated[list[Role] | None, Query(description="Only these roles.")] = None,
    actor: Annotated[Name | None, Query(description="Only by the actor with this name.")] = None,
    session: InSession = None,
    agent: Annotated[Name | None, Query(alias="of_agent", description="Only what belongs to this agent.")] = None,
    crew: Annotated[Name | None, Query(alias="of_crew", description="Only what belongs to this crew.")] = None,
    project: Annotated[Name | None, Query(alias="of_project", description="Only what belongs to this project.")] = None,
    since: SinceQuery = None,
    until: UntilQuery = None,
) -> EventFilters:
    return cast("EventFilters", locals())


MemoryFilters = Annotated[Filters, Depends(memory_filters)]
"""The filters of a request on memories."""
Entries = Annotated[EventFilters, Depends(event_filters)]
"""The filters of a request on the journal."""
