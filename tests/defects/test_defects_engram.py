"""Defects of Engram only. Numbers in brackets refer to sections of the research note on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from remembrancer import Recall, Remembrancer
from remembrancer.domain.memory import Status
from remembrancer.testing.doubles import NOW, FixedClock

DAY = timedelta(days=1)


@pytest.fixture
def rem(open_memory: Callable[..., Remembrancer]) -> Remembrancer:
    return open_memory("engram")


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


def test_three_bad_words_delete_a_memory_however_often_it_was_recalled(rem: Remembrancer) -> None:
    """[3.6] [3.8] [5.14] Every recall raised confidence by 0.1, so the mark of 0.15 was hardly ever reached."""
    told = rem.remember("the deploy key is blue")
    rem.jobs.index_now()
    for _ in range(10):
        rem.mark(rem.recall("deploy key"), "retrieved")
    confidence = [rem.feedback(told.id, "unhelpful").confidence for _ in range(3)]
    assert confidence == [pytest.approx(0.3), pytest.approx(0.1), 0.0]
    assert rem.get(told.id).status is Status.RETIRED
    assert texts(rem.recall("deploy key")) == []


def test_a_memory_retired_by_strikes_has_a_reason_and_can_be_restored(rem: Remembrancer) -> None:
    """[3.8] It was deleted for good."""
    told = rem.remember("the deploy key is blue")
    for _ in range(3):
        rem.feedback(told.id, "harmful")
    assert any("rated unhelpful or harmful 3 times" in line.reason for line in rem.show(told.id).audit)
    rem.restore(told.id)
    assert texts(rem.recall("deploy key")) == ["the deploy key is blue"]


def test_a_trusted_memory_survives_three_bad_words(rem: Remembrancer) -> None:
    told = rem.remember("the deploy key is blue", confidence=0.75)
    assert [rem.feedback(told.id, "unhelpful").confidence for _ in range(3)][-1] == pytest.approx(0.15)
    assert rem.get(told.id).status is Status.ACTIVE


def test_a_popular_memory_does_not_rank_above_one_that_answers(rem: Remembrancer) -> None:
    """[3.7] Fused hits were scored by confidence and priority alone, blind to the question."""
    popular = rem.remember("good morning from the standup bot", priority=10, confidence=1.0)
    rem.remember("the deploy key of checkout is blue", priority=5)
    for _ in range(50):
        rem.mark([popular.id], "retrieved")
    rem.jobs.index_now()
    assert texts(rem.recall("what is the deploy key of checkout?"))[0] == "the deploy key of checkout is blue"


def test_an_old_near_match_comes_before_a_new_stranger(rem: Remembrancer) -> None:
    """[3.6] A fresh row of similarity 0.5 scored 0.75, one of 0.9 a year old 0.604."""
    rem.remember("the deploy key of checkout is blue", occurred_at=NOW - 365 * DAY)
    rem.remember("the lunch of the office is late")
    rem.jobs.index_now()
    assert texts(rem.recall("the deploy key of checkout is blue"))[0] == "the deploy key of checkout is blue"


def test_a_recall_keeps_a_memory_alive(rem: Remembrancer, clock: FixedClock) -> None:
    """[3.6] Retention counted from creation, so that being recalled restored nothing."""
    told = rem.remember("the deploy key is blue")
    clock.advance(60 * DAY)

    def activation() -> float | None:
        return rem.recall("deploy key", mark=False)[0].explanation.signals["retention"]

    assert activation() == pytest.approx(0.1653, abs=1e-4)
    assert [hit.memory.id for hit in rem.recall("deploy key")] == [told.id]
    assert activation() == 1.0
    clock.advance(10 * DAY)
    assert activation() == pytest.approx(0.7613, abs=1e-4)  # exp(-0.03 x 10 / 1.1)


def test_decay_reaches_every_memory(rem: Remembrancer, clock: FixedClock) -> None:
    """[3.6] The daily decay logged how many of 50 recent rows had faded, and changed nothing."""
    for number in range(120):
        rem.remember(f"the deploy key {number} is blue")
    clock.advance(60 * DAY)
    left = [hit.explanation.signals["retention"] for hit in rem.recall("deploy key", limit=120)]
    assert left == [pytest.approx(0.1653, abs=1e-4)] * 120


def test_a_memory_without_a_vector_is_found_by_its_words_among_memories_with_vectors(rem: Remembrancer) -> None:
    """[3.3] [3.7] What could not be embedded waited in another database, which recall did not read."""
    rem.remember("the lunch of the office is late")
    rem.jobs.index_now()
    rem.remember("the deploy key of checkout is blue")
    answer = rem.recall("deploy key of checkout")
    assert "the deploy key of checkout is blue" in texts(answer)
    assert answer.degraded == {"dense": "index catching up: 1 of 2 memories have no vector yet"}
