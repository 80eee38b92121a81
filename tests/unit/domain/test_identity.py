from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.identity import derived_id, uuid7

MOMENT = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)


def test_a_time_ordered_id_is_the_one_of_the_standard() -> None:
    # RFC 9562, appendix A.6: rand_a is 0xCC3 and rand_b 0x18C4DC0C0C07398F.
    randomness = (0xCC3 << 62 | 0x18C4DC0C0C07398F).to_bytes(10, "big")
    assert uuid7(MOMENT, randomness) == UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")


def test_a_time_ordered_id_has_its_version() -> None:
    made = uuid7(MOMENT, b"\xff" * 10)
    assert (made.version, made.variant) == (7, RFC_4122)


def test_a_later_id_is_greater() -> None:
    assert uuid7(MOMENT + timedelta(milliseconds=1), bytes(10)) > uuid7(MOMENT, b"\xff" * 10)


def test_a_derived_id_is_the_same_each_time() -> None:
    assert derived_id(UUID(int=1), "memory") == derived_id(UUID(int=1), "memory")


def test_a_derived_id_depends_on_source_and_purpose() -> None:
    made = {derived_id(UUID(int=1), "memory"), derived_id(UUID(int=2), "memory"), derived_id(UUID(int=1), "fact")}
    assert len(made) == 3


@given(st.uuids(), st.text())
def test_a_derived_id_is_the_uuid5_of_the_standard_library(source: UUID, purpose: str) -> None:
    assert derived_id(source, purpose) == uuid5(source, purpose)
