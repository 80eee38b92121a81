"""Pinned memories are in every answer, in addition to its hits, and do not fade: row T7."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.domain.memory import PINNED
from remembrancer.errors import Conflict, Unsupported
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


def test_no_statement_looks_for_pinned_memories_if_the_index_knows_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(db=":memory:", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=FixedClock()) as rem:
        rem.remember("The deploy script needs a token.", tags=["deploy"])
        monkeypatch.delattr(RelationalView, "memories")
        assert rem.recall("what was that").pinned == ()  # no word of it may be a name, which would be looked up


def test_a_memory_that_another_process_pins_is_in_the_next_answer(tmp_path: Path) -> None:
    settings = Settings(db=str(tmp_path / "memory.db"), embedder="none", background_index=False)
    clock = FixedClock()
    with Remembrancer.open(settings=settings, clock=clock) as rem, Remembrancer.open(settings=settings) as other:
        told = rem.remember("The deploy script needs a token.")
        before = rem.recall("deploy").pinned
        other.update(told.id, tags=[PINNED])
        clock.advance(timedelta(days=800))
        assert (before, [memory.id for memory in rem.recall("deploy").pinned]) == ((), [told.id])


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


@pytest.fixture
def default() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=FixedClock()) as opened:
        yield opened


def test_a_memory_is_pinned_and_unpinned(default: Remembrancer) -> None:
    memory = default.remember("Answer in German.", tags=["style"])
    assert default.pin(memory.id).tags == ("style", "pinned")
    assert [one.text for one in default.recall("what about lunch").pinned] == ["Answer in German."]
    assert default.unpin(memory.id).tags == ("style",)
    assert default.recall("what about lunch").pinned == ()


def test_pinning_a_pinned_memory_changes_nothing(default: Remembrancer) -> None:
    pinned = default.pin(default.remember("Answer in German.").id)
    assert default.pin(pinned.id) == pinned


def test_a_superseded_memory_is_not_pinned(default: Remembrancer) -> None:
    old, new = default.remember("Answer in German."), default.remember("Answer in English.")
    default.supersede(old.id, new.id)
    with pytest.raises(Conflict, match="superseded"):
        default.pin(old.id)


def test_a_preset_without_a_tag_for_pins_refuses_to_pin() -> None:
    settings = Settings(db=":memory:", preset="engram", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings) as rem, pytest.raises(Unsupported, match="engram has no pinned memories"):
        rem.pin(rem.remember("Answer in German.", kind="preference").id)


def test_a_pinned_memory_does_not_fade() -> None:
    clock = FixedClock()
    settings = Settings(db=":memory:", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=clock) as rem:
        kept, other = rem.pin(rem.remember("Answer in German.").id), rem.remember("Lunch is at noon.")
        clock.now += timedelta(days=3650)
        (forecast,) = rem.health.forecasts([kept.id])
        assert (forecast.strength, forecast.falls_at, forecast.has_faded) == (1.0, None, False)
        assert [one.memory.id for one in rem.health.decay()] == [other.id]
        assert {strength for _, strength in rem.health.curve(kept.id).points} == {1.0}
