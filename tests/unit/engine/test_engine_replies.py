from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.reply import Claimed, ClaimOutcome, IdempotencyClaim, Reply, RequestRunning
from remembrancer.domain.scope import Scope
from remembrancer.engine.keys import KEPT_FOR, claim_request
from remembrancer.errors import Conflict
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock

MINUTE, INSTANT = timedelta(minutes=1), timedelta(microseconds=1)
WHAT = bytes(range(32))
FIRST = IdempotencyClaim("k", WHAT, NOW)
REPLY = Reply(201, b"{}", "application/json")


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def outcomes(
    make: Callable[[], Store], *after: timedelta, answered: bool = False, at_once: int = 1
) -> list[ClaimOutcome]:
    """The answers to one request, sent at these times after the first, each time by several clients at once."""

    async def steps(store: Store) -> list[ClaimOutcome]:
        clock = FixedClock()
        ctx = a_context(store, DEFAULT, clock=clock)
        assert await claim_request(ctx, SCOPE, "k", WHAT, longest=MINUTE) == Claimed(FIRST)
        if answered:
            await store.answer(SCOPE, FIRST, REPLY)
        told: list[ClaimOutcome] = []
        for each in after:
            clock.now = NOW + each
            told += await asyncio.gather(
                *(claim_request(ctx, SCOPE, "k", WHAT, longest=MINUTE) for _ in range(at_once))
            )
        return told

    return over(make, steps)


def test_a_request_under_way_keeps_its_key_as_long_as_a_request_may_take(make: Callable[[], Store]) -> None:
    assert outcomes(make, timedelta(), MINUTE) == [RequestRunning(FIRST)] * 2


def test_a_request_that_was_interrupted_leaves_its_key_to_the_next(make: Callable[[], Store]) -> None:
    assert outcomes(make, MINUTE + INSTANT) == [Claimed(IdempotencyClaim("k", WHAT, NOW + MINUTE + INSTANT))]


def test_of_many_who_find_it_interrupted_one_gets_the_key(make: Callable[[], Store]) -> None:
    told = outcomes(make, 2 * MINUTE, at_once=10)
    taken = IdempotencyClaim("k", WHAT, NOW + 2 * MINUTE)
    assert (told.count(Claimed(taken)), told.count(RequestRunning(taken))) == (1, 9)


def test_an_answered_request_is_answered_so_for_a_day(make: Callable[[], Store]) -> None:
    again = Claimed(IdempotencyClaim("k", WHAT, NOW + KEPT_FOR + INSTANT))
    assert outcomes(make, 2 * MINUTE, KEPT_FOR, KEPT_FOR + INSTANT, answered=True) == [REPLY, REPLY, again]


def test_a_released_key_is_claimed_again_and_an_answered_one_is_not(make: Callable[[], Store]) -> None:
    async def steps(store: Store) -> None:
        ctx = a_context(store, DEFAULT)
        assert await claim_request(ctx, SCOPE, "k", WHAT, longest=MINUTE) == Claimed(FIRST)
        await store.release(SCOPE, FIRST)
        assert await claim_request(ctx, SCOPE, "k", WHAT, longest=MINUTE) == Claimed(FIRST)
        await store.answer(SCOPE, FIRST, REPLY)
        assert await claim_request(ctx, SCOPE, "k", WHAT, longest=MINUTE) == REPLY
        assert await claim_request(ctx, Scope(workspace="rival"), "k", WHAT, longest=MINUTE) == Claimed(FIRST)
        with pytest.raises(Conflict):
            await claim_request(ctx, SCOPE, "k", bytes(32), longest=MINUTE)

    over(make, steps)
