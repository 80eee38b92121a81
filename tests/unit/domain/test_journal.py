from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.journal import ListingPosition, searchable_text
from remembrancer.errors import InvalidInput
from remembrancer.testing.doubles import NOW, an_event

moments = st.datetimes(timezones=st.just(UTC))


@given(moments, st.integers(0, 2**63 - 1), st.uuids())
def test_a_cursor_encodes_its_position(at: datetime, seq: int, identifier: UUID) -> None:
    place = ListingPosition(at, seq, identifier)
    assert ListingPosition.parse("after", place.cursor) == place


def test_a_cursor_needs_no_quoting() -> None:
    cursor = ListingPosition(datetime.max.replace(tzinfo=UTC), 2**63 - 1, UUID(int=2**128 - 1)).cursor
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


HERE = ListingPosition(NOW, 7, UUID(int=1)).cursor


@pytest.mark.parametrize(
    "value", ["", "x", 7, None, "é", "A" * 44, "_" * 43, "f" * 43, HERE[:-1], HERE + "=", f" {HERE}"]
)
def test_an_invalid_cursor_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^after: .*the next-page cursor of an earlier page"):
        ListingPosition.parse("after", value)


def test_places_are_in_the_order_of_time_then_stream_then_id() -> None:
    places = [
        ListingPosition(NOW, 1, UUID(int=2)),
        ListingPosition(NOW, 2, UUID(int=1)),
        ListingPosition(NOW, 1, UUID(int=1)),
    ]
    assert sorted(places) == [places[2], places[0], places[1]]


def test_the_searchable_text_is_the_text_and_the_values_of_the_payload() -> None:
    payload = {"hosts": ["node-7", {"up": True}], "status": 503, "load": 1.5, "note": None}
    told = searchable_text(replace(an_event("Checkout is slow"), payload=payload))
    assert told.split("\n") == ["Checkout is slow", "hosts", "node-7", "up", "status", "503", "load", "1.5", "note"]


def test_the_searchable_text_without_a_payload_is_the_text() -> None:
    assert searchable_text(an_event("said")) == "said"
