"""An exported row is imported as an equal value, through JSON text and for any values."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.event import archived
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import digest_of
from remembrancer.domain.strength import Exposed, Exposure
from remembrancer.domain.validation import JsonValue
from remembrancer.ports.exchange import (
    ArchivedRecord,
    StreamRecord,
    record_to_row,
    row_to_record,
)
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.doubles import an_event

moments = st.integers(0, 2**57).map(lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros))
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
names = st.none() | st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20)
scopes = st.builds(Scope, workspace=st.just("acme"), project=names, crew=names, agent=names, session=names)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(characters, max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(characters, max_size=9), inner, max_size=3),
    max_leaves=9,
)
notes = st.dictionaries(st.text(characters, max_size=9), values, max_size=3)
days = st.floats(1e-6, 1e9)
difficulties = st.floats(1.0, 10.0)


def through_text(row: ExportRow) -> object:
    return row_to_record(json.loads(json.dumps(row, allow_nan=False)), "acme")


@given(
    review=st.builds(
        Review,
        memory_id=st.uuids(),
        rating=st.sampled_from(Rating),
        at=moments,
        evidence_until=moments,
        previous=st.none() | moments,
        stability_before=days,
        stability=days,
        difficulty_before=difficulties,
        difficulty=difficulties,
        by=names.filter(lambda name: name is not None),
    )
)
def test_any_review_comes_back(review: Review) -> None:
    assert through_text(record_to_row(review)) == review


@given(
    exposed=st.builds(
        Exposed,
        st.uuids(),
        st.sampled_from(Exposure),
        moments,
        st.none() | st.floats(-1.0, 1.0),
        st.text(characters, max_size=50),
        names,
    )
)
def test_any_exposure_comes_back(exposed: Exposed) -> None:
    assert through_text(record_to_row(exposed)) == exposed


@given(stream=scopes, cursor=st.integers(0, 2**63 - 1), ids=st.lists(st.uuids(), max_size=3), note=notes)
def test_how_far_any_stream_is_read_comes_back(
    stream: Scope, cursor: int, ids: list[UUID], note: dict[str, JsonValue]
) -> None:
    record = StreamRecord(stream=stream, cursor=cursor, read=digest_of(ids), note=note)
    assert through_text(record_to_row(record)) == record


@given(text=st.text(characters, min_size=1, max_size=900), scope=scopes, payload=notes, at=moments)
def test_any_archived_event_comes_back(text: str, scope: Scope, payload: dict[str, JsonValue], at: datetime) -> None:
    event = archived(replace(an_event(text, scope=scope), payload=payload))
    record = ArchivedRecord(event, at)
    assert through_text(record_to_row(record)) == record


@given(ids=st.lists(st.uuids(), min_size=2, max_size=5, unique=True))
def test_different_events_or_orders_have_different_digests(ids: list[UUID]) -> None:
    assert len({digest_of(ids), digest_of(ids[:-1]), digest_of(ids[::-1])}) == 3
