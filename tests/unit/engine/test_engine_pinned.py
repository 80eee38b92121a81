"""Pinned memories are in every answer, in addition to its hits: row T7."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.testing.doubles import FixedClock


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", preset="teaparty", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=FixedClock()) as opened:
        opened.remember("We deploy on Mondays only.", tags=["institutional"])
        opened.remember("The deploy script needs a token.")
        yield opened


def test_a_pinned_memory_is_in_an_answer_to_anything(rem: Remembrancer) -> None:
    assert [memory.text for memory in rem.recall("what about lunch").pinned] == ["We deploy on Mondays only."]


def test_a_pinned_memory_takes_no_hits_place(rem: Remembrancer) -> None:
    assert [hit.memory.text for hit in rem.recall("deploy", limit=1)] == ["The deploy script needs a token."]


def test_a_pinned_memory_has_a_budget_of_its_own(rem: Remembrancer) -> None:
    found = rem.recall("deploy")
    assert ["Mondays" in found.render(max_chars=4000), "Mondays" in found.render_pinned(max_chars=4000)] == [
        False,
        True,
    ]


def test_a_retired_pinned_memory_is_left_out(rem: Remembrancer) -> None:
    rem.forget(rem.recall("deploy").pinned[0].id)
    assert rem.recall("deploy").pinned == ()


def test_why_a_pinned_memory_is_no_hit_is_reported(rem: Remembrancer) -> None:
    pinned = rem.recall("deploy").pinned[0]
    assert "every answer" in rem.why_not(pinned.id, "deploy").reason


def test_why_a_retired_pinned_memory_is_in_no_answer_is_reported(rem: Remembrancer) -> None:
    pinned = rem.recall("deploy").pinned[0]
    rem.forget(pinned.id)
    assert rem.why_not(pinned.id, "deploy").reason == "left out before the search: retired"
