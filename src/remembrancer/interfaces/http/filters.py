"""The query parameters that select memories and entries of the journal, each declared once for all routes."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Query

from remembrancer.domain.event import Priority, Role, Severity
from remembrancer.domain.memory import Tier
from remembrancer.domain.query import Filters
from remembrancer.domain.scope import Visibility
from remembrancer.engine.journal import EventFilters
from remembrancer.interfaces.http.given import InSession, Kinds, Moment, Name, SinceQuery, Slug, Tag, Text, UntilQuery
from remembrancer.interfaces.key_values import key_values


def memory_filters(
    *,
    kinds: Kinds = None,
    tiers: Annotated[list[Tier] | None, Query(description="Only these tiers. May be repeated.")] = None,
    tags: Annotated[list[Tag] | None, Query(description="Only with this tag. May be repeated: all of them.")] = None,
    source: Annotated[Name | None, Query(description="Only from this source.")] = None,
    session: InSession = None,
    metadata: Annotated[
        list[str] | None,
        Query(
            description="Only with this value in the metadata, as KEY=VALUE. VALUE is parsed as JSON if it is valid "
            "JSON, otherwise it is text. May be repeated: all of them.",
            examples=[["ticket=7"]],
        ),
    ] = None,
    visibilities: Annotated[
        list[Visibility] | None, Query(description="Only with this visibility. May be repeated.")
    ] = None,
    since: SinceQuery = None,
    until: UntilQuery = None,
    as_of: Annotated[Moment | None, Query(description="As believed at that time. Default: now.")] = None,
) -> Filters:
    return cast("Filters", {**locals(), "metadata": key_values("metadata", metadata)})


def event_filters(
    *,
    query: Annotated[Text | None, Query(description="Only with all of these words in the text or the payload.")] = None,
    types: Annotated[list[Slug] | None, Query(description="Only these types. May be repeated.")] = None,
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
