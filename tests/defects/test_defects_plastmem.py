"""Defects of PlastMem only. Labels in brackets refer to sections of the research note on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer import Remembrancer
from remembrancer.testing.doubles import NOW, FixedClock

HOUR = timedelta(hours=1)


@pytest.fixture
def rem(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("plastmem")


def retention(rem: Remembrancer) -> float:
    found = rem.recall("deploy")[0].explanation.signals["retention"]
    assert found is not None
    return found


def test_a_score_can_be_read_with_two_decimals(rem: Remembrancer) -> None:
    """[A6] The greatest score there could be was 2 / 61, shown as 0.03."""
    rem.remember("the deploy of checkout failed", tier="episodic")
    rem.jobs.index_now()
    assert rem.recall("deploy of checkout failed")[0].score == 1.0
    assert "score: 1.00" in rem.recall("deploy of checkout failed").render()


def test_forgetting_does_not_wait_for_the_next_day(rem: Remembrancer, clock: FixedClock) -> None:
    """[A3] Elapsed time was whole days: R stayed 1.0 for the first 24 hours."""
    rem.remember("the deploy failed")
    left: list[float] = []
    for _ in range(4):
        left.append(retention(rem))
        clock.advance(6 * HOUR)
    assert left[0] == 1.0
    assert left == sorted(set(left), reverse=True)


def test_a_surprising_memory_lasts_longer(rem: Remembrancer) -> None:
    """[A8] Later versions wrote every surprise as 0: no boost was left."""
    for surprise in (0.0, 1.0):
        rem.remember(f"deploy {surprise}", surprise=surprise, occurred_at=NOW - 240 * HOUR)
    left = {hit.memory.strength.surprise: hit.explanation.signals["retention"] for hit in rem.recall("deploy")}
    assert left == {0.0: pytest.approx(0.7744, abs=1e-4), 1.0: pytest.approx(0.8128, abs=1e-4)}


def test_a_turn_that_no_summary_mentions_is_found(rem: Remembrancer) -> None:
    """[A9] Only a summary of fifty words was indexed, called the weakest choice of the design."""
    turns = rem.observe_many(
        {"text": text} for text in ("The vault code is 7319", "Thanks", "Let us talk about lunch instead")
    )
    episode = rem.remember("Small talk about lunch", title="Lunch", tier="episodic", events=[turn.id for turn in turns])
    rem.jobs.index_now()
    answer = rem.recall("what is the vault code?", tiers=["episodic"], limit=5)
    found = {hit.id: hit for hit in answer}[episode.id]
    assert found.cue.text == "The vault code is 7319"
    assert [cue.text for cue in found.turns] == [turn.text for turn in turns]


def test_being_retrieved_is_no_review(rem: Remembrancer) -> None:
    """[A6] Retrieval changes no FSRS state: only a rated review does."""
    told = rem.remember("the deploy failed")
    before = rem.get(told.id).strength
    rem.mark([told.id], "retrieved")
    after = rem.get(told.id).strength
    assert (after.stability, after.difficulty, after.last_reviewed_at) == (
        before.stability,
        before.difficulty,
        before.last_reviewed_at,
    )
