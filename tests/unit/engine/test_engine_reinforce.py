from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from remembrancer import InvalidInput, Memory, NotFound, Remembrancer
from remembrancer.domain.memory import Status
from remembrancer.domain.strength import Usage
from remembrancer.testing.doubles import NOW, FixedClock


@pytest.fixture
def memory(rem: Remembrancer) -> Memory:
    return rem.remember("The deploy failed")


@pytest.mark.parametrize(
    ("said", "confidence", "usage"),
    [
        ("helpful", 0.6, Usage(helped=1, worked=1.0)),
        ("unhelpful", 0.4, Usage(unhelpful=1)),
        ("harmful", 0.2, Usage(harmed=1, failed=1.0)),
    ],
)
def test_feedback_is_kept(rem: Remembrancer, memory: Memory, said: str, confidence: float, usage: Usage) -> None:
    strength = rem.feedback(memory.id, said)
    assert (strength.confidence, strength.usage) == (pytest.approx(confidence), usage)
    assert rem.get(memory.id).strength == strength


def test_a_memory_rated_helpful_ranks_before_an_equal_one(rem: Remembrancer) -> None:
    first = rem.remember("The deploy failed on Monday")
    second = rem.remember("The deploy failed on Friday")
    last = rem.recall("the deploy failed")[1].id
    rem.feedback(last, "helpful")
    assert {first.id, second.id} == {hit.id for hit in rem.recall("the deploy failed")}
    assert rem.recall("the deploy failed")[0].id == last


def test_every_exposure_is_counted_with_its_time(rem: Remembrancer, memory: Memory, clock: FixedClock) -> None:
    for exposure in ("retrieved", "shown", "used", "used"):
        rem.mark([memory.id], exposure)
        clock.advance(timedelta(hours=1))
    assert rem.get(memory.id).strength.usage == Usage(
        retrieved=1,
        shown=1,
        used=2,
        last_retrieved_at=NOW,
        last_shown_at=NOW + timedelta(hours=1),
        last_used_at=NOW + timedelta(hours=3),
    )


def test_an_exposure_changes_neither_confidence_nor_importance(rem: Remembrancer, memory: Memory) -> None:
    rem.mark([str(memory.id)], "used")
    strength = rem.get(memory.id).strength
    assert (strength.confidence, strength.importance) == (memory.strength.confidence, memory.strength.importance)


def test_a_memory_named_twice_is_marked_once(rem: Remembrancer, memory: Memory) -> None:
    rem.mark([memory.id, str(memory.id)], "shown")
    assert rem.get(memory.id).strength.usage.shown == 1


def test_no_memories_are_marked_where_none_are_named(rem: Remembrancer, memory: Memory) -> None:
    rem.mark([], "shown")
    assert rem.get(memory.id) == memory


def test_nothing_is_marked_where_one_is_missing(rem: Remembrancer, memory: Memory) -> None:
    with pytest.raises(NotFound):
        rem.mark([memory.id, uuid4()], "shown")
    assert rem.get(memory.id) == memory


def test_nothing_is_marked_where_one_is_out_of_reach(rem: Remembrancer) -> None:
    mine = rem.scoped(agent="ana").remember("mine")
    theirs = rem.scoped(agent="bob").remember("theirs")
    with pytest.raises(NotFound):
        rem.scoped(agent="ana").mark([mine.id, theirs.id], "shown")
    assert rem.get(mine.id) == mine


def test_unknown_feedback_is_refused_with_the_allowed_values(rem: Remembrancer, memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"^verdict: 'meh' .*helpful, unhelpful, harmful"):
        rem.feedback(memory.id, "meh")


def test_an_unknown_exposure_is_refused_with_the_allowed_ones(rem: Remembrancer, memory: Memory) -> None:
    with pytest.raises(InvalidInput, match=r"^exposure: 'seen' .*retrieved, shown, used"):
        rem.mark([memory.id], "seen")


def test_feedback_on_an_unknown_memory_is_not_found(rem: Remembrancer) -> None:
    with pytest.raises(NotFound):
        rem.feedback(uuid4(), "helpful")


def test_a_forgotten_memory_is_kept_and_not_recalled(rem: Remembrancer, memory: Memory, clock: FixedClock) -> None:
    clock.advance(timedelta(hours=1))
    forgotten = rem.forget(memory.id)
    assert (forgotten.status, forgotten.retired_at) == (Status.RETIRED, NOW + timedelta(hours=1))
    assert (rem.get(memory.id), rem.recall("deploy").hits, rem.recent()) == (forgotten, (), ())


def test_forgetting_twice_changes_nothing(rem: Remembrancer, memory: Memory, clock: FixedClock) -> None:
    forgotten = rem.forget(memory.id)
    clock.advance(timedelta(hours=1))
    assert rem.forget(memory.id) == forgotten


def test_a_restored_memory_is_as_before(rem: Remembrancer, memory: Memory) -> None:
    rem.forget(memory.id)
    assert rem.restore(memory.id) == memory
    assert [hit.memory for hit in rem.recall("deploy")] == [memory]


def test_restoring_a_current_memory_changes_nothing(rem: Remembrancer, memory: Memory) -> None:
    assert rem.restore(memory.id) == memory
