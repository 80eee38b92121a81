from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Status
from remembrancer.policies.vault.merging import Base, agreed, base_for, merged, says_enough
from remembrancer.testing.doubles import NOW, a_memory

BASE = Learning(id=UUID(int=1), text="Ask first.", created_at=date(2026, 2, 1), reinforcement_count=4)
VARIANTS = st.builds(
    replace,
    st.just(BASE),
    text=st.sampled_from(["Ask first.", "Ask twice.", "Ask."]),
    importance=st.sampled_from([0.5, 0.7, 0.9]),
    reinforcement_count=st.integers(0, 9),
    last_reinforced=st.sampled_from([None, date(2026, 3, 1), date(2026, 3, 2)]),
    status=st.sampled_from(Status),
    phase=st.sampled_from([None, "design", "review"]),
)


@given(VARIANTS)
def test_a_change_of_one_side_is_taken(changed: Learning) -> None:
    assert merged(changed, BASE, agreed(BASE), superseded=False) == changed
    assert merged(BASE, changed, agreed(BASE), superseded=False) == changed


@given(VARIANTS, VARIANTS, st.none() | VARIANTS)
def test_merging_again_changes_nothing(file: Learning, memory: Learning, base: Learning | None) -> None:
    known = None if base is None else agreed(base)
    once = merged(file, memory, known, superseded=False)
    assert merged(once, memory, known, superseded=False) == once
    assert merged(once, once, known, superseded=False) == once


@given(VARIANTS, VARIANTS)
def test_if_both_sides_changed_the_file_wins_except_for_counts(file: Learning, memory: Learning) -> None:
    kept = merged(file, memory, None, superseded=False)
    assert (kept.text, kept.status, kept.importance) == (file.text, file.status, file.importance)
    assert kept.reinforcement_count == max(file.reinforcement_count, memory.reinforcement_count)


def test_a_count_set_back_by_hand_stays_so() -> None:
    file = replace(BASE, reinforcement_count=0)
    assert merged(file, BASE, agreed(BASE), superseded=False).reinforcement_count == 0


def test_the_later_of_two_days_holds() -> None:
    file = replace(BASE, last_reinforced=date(2026, 3, 1))
    memory = replace(BASE, last_reinforced=date(2026, 3, 2))
    assert merged(file, memory, agreed(BASE), superseded=False).last_reinforced == date(2026, 3, 2)


def test_a_superseded_entry_stays_retired() -> None:
    assert merged(BASE, replace(BASE, status=Status.RETIRED), None, superseded=True).status is Status.RETIRED


def test_a_day_that_an_entry_does_not_give_is_no_reason_to_write() -> None:
    file = replace(BASE, created_at=None)
    kept = merged(file, BASE, agreed(BASE), superseded=False)
    assert (kept.created_at, says_enough(file, kept)) == (date(2026, 2, 1), True)


def test_a_count_is_a_reason_to_write() -> None:
    assert not says_enough(replace(BASE, created_at=None), replace(BASE, reinforcement_count=5))


@pytest.mark.parametrize(("later", "agrees"), [(timedelta(), True), (timedelta(seconds=1), False)])
def test_nothing_was_agreed_with_a_memory_made_again(later: timedelta, agrees: bool) -> None:
    base = Base(agreed(BASE), NOW)
    assert (base_for(base, a_memory(at=NOW + later)) is not None) is agrees


def test_with_a_memory_never_met_nothing_was_agreed() -> None:
    assert base_for(None, a_memory(at=datetime.fromisoformat("2026-03-01T00:00:00+00:00"))) is None
