from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from remembrancer.domain.listing import MemoryOrder, MemoryPlace, cursor_of
from remembrancer.errors import InvalidInput

PLACE = MemoryPlace(datetime(2026, 3, 4, 9, 0, 0, 1, tzinfo=UTC), UUID(int=7))


@pytest.mark.parametrize(
    "place", [PLACE, MemoryPlace(datetime(1905, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))], ids=["usual", "before 1970"]
)
def test_a_cursor_encodes_its_position(place: MemoryPlace) -> None:
    assert MemoryPlace.parse("after", place.cursor) == place


def test_a_cursor_needs_no_quoting_in_an_address() -> None:
    assert all(letter.isalnum() or letter in "-_" for letter in PLACE.cursor)


@pytest.mark.parametrize(
    "given",
    [
        *("", "x", f"{PLACE.cursor}=", f" {PLACE.cursor}", PLACE.cursor[:-1], f"{PLACE.cursor}AAAA", "ü" * 32),
        *(None, 7, cursor_of(datetime(2026, 3, 4, tzinfo=UTC), bytes(24)), "f" * 32),
    ],
)
def test_an_invalid_cursor_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"after: .* the next-page cursor of an earlier page"):
        MemoryPlace.parse("after", given)


@pytest.mark.parametrize("importance", [0.0, 0.1, 1.0])
def test_a_cursor_by_importance_encodes_its_position_exactly(importance: float) -> None:
    place = MemoryPlace(importance, UUID(int=7))
    assert MemoryPlace.parse("after", place.cursor, MemoryOrder.IMPORTANCE) == place


@pytest.mark.parametrize(
    ("cursor", "order"),
    [
        (PLACE.cursor, MemoryOrder.IMPORTANCE),
        (MemoryPlace(0.5, UUID(int=7)).cursor, MemoryOrder.TIME),
        (MemoryPlace(2.0, UUID(int=7)).cursor, MemoryOrder.IMPORTANCE),
        (MemoryPlace(float("nan"), UUID(int=7)).cursor, MemoryOrder.IMPORTANCE),
    ],
)
def test_a_cursor_of_another_order_is_refused(cursor: str, order: MemoryOrder) -> None:
    with pytest.raises(InvalidInput, match=r"after: .* the next-page cursor of an earlier page"):
        MemoryPlace.parse("after", cursor, order)
