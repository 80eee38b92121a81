from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from remembrancer.domain.listing import MemoryPlace, cursor_of
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
        *(None, 7, cursor_of(PLACE.occurred_to, bytes(24)), "f" * 32),
    ],
)
def test_an_invalid_cursor_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"after: .* the next-page cursor of an earlier page"):
        MemoryPlace.parse("after", given)
