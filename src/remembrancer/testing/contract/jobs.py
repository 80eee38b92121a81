"""Contract of the records of jobs: their last runs, deferred work, and the ledger of model calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import Outcome, Spent
from remembrancer.ports.jobs import MAX_ERROR_CHARS
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported
from remembrancer.testing.contract.world import a_call
from remembrancer.testing.doubles import MATE, NOW, SCOPE

RUN: Final = Run(
    job="segment",
    started_at=NOW,
    ended_at=NOW + timedelta(seconds=7, microseconds=1),
    done=3,
    failed=2,
    left=1,
    reason="the model rests",
    error="broke off",
)


class JobsContract(StoreSuite):
    async def test_a_run_is_kept_whole(self, store: Store) -> None:
        await store.put_run(SCOPE, RUN)
        assert await store.runs(SCOPE) == {"segment": RUN}

    async def test_a_run_replaces_the_previous_one(self, store: Store) -> None:
        await store.put_run(SCOPE, RUN)
        again = Run(job="segment", started_at=NOW + timedelta(days=1), ended_at=NOW + timedelta(days=1))
        await store.put_run(SCOPE, again)
        assert await store.runs(SCOPE) == {"segment": again}

    async def test_each_job_has_its_own_by_name(self, store: Store) -> None:
        for job in ("sleep", "review", "segment"):
            await store.put_run(SCOPE, replace(RUN, job=job))
        assert list(await store.runs(SCOPE)) == ["review", "segment", "sleep"]

    async def test_runs_belong_to_the_workspace_and_not_to_their_creator(self, store: Store) -> None:
        await store.put_run(SCOPE, RUN)
        assert await store.runs(Scope(workspace="acme")) == {"segment": RUN}

    async def test_runs_are_of_this_machine_and_in_no_export(self, store: Store) -> None:
        await store.put_run(SCOPE, RUN)
        assert await exported(store) == []

    async def test_a_failed_item_waits_half_a_minute(self, store: Store) -> None:
        deferral = await store.defer(SCOPE, "segment", "monday", error="no answer", now=NOW)
        assert deferral == Deferral(
            job="segment", item="monday", attempts=1, retry_at=NOW + timedelta(seconds=30), error="no answer"
        )
        assert await store.deferrals(SCOPE) == (deferral,)

    async def test_an_item_that_fails_again_waits_twice_as_long_and_at_most_a_day(self, store: Store) -> None:
        waits: list[timedelta] = []
        for attempt in range(1, 101):
            deferral = await store.defer(SCOPE, "segment", "monday", error=f"no answer {attempt}", now=NOW)
            assert deferral.attempts == attempt
            waits.append(deferral.retry_at - NOW)
        assert waits[:4] == [timedelta(seconds=seconds) for seconds in (30, 60, 120, 240)]
        assert waits[11:14] == [timedelta(seconds=30) * 2**11, timedelta(days=1), timedelta(days=1)]
        assert waits[-1] == timedelta(days=1)
        assert [deferral.error for deferral in await store.deferrals(SCOPE)] == ["no answer 100"]

    async def test_of_a_long_error_the_beginning_is_kept(self, store: Store) -> None:
        deferral = await store.defer(SCOPE, "segment", "monday", error="x" * 9_999, now=NOW)
        assert len(deferral.error) == MAX_ERROR_CHARS
        assert await store.deferrals(SCOPE) == (deferral,)

    async def test_a_settled_item_is_no_longer_pending(self, store: Store) -> None:
        for item in ("monday", "tuesday", "friday"):
            await store.defer(SCOPE, "segment", item, error="", now=NOW)
        await store.settle(SCOPE, "segment", ["monday", "friday", "sunday"])
        assert [deferral.item for deferral in await store.deferrals(SCOPE)] == ["tuesday"]

    async def test_a_settled_item_that_fails_again_starts_with_the_first_wait(self, store: Store) -> None:
        for _ in range(3):
            await store.defer(SCOPE, "segment", "monday", error="", now=NOW)
        await store.settle(SCOPE, "segment", ["monday"])
        assert (await store.defer(SCOPE, "segment", "monday", error="", now=NOW)).attempts == 1

    async def test_one_job_s_work_is_not_another_s(self, store: Store) -> None:
        await store.defer(SCOPE, "segment", "monday", error="", now=NOW)
        await store.defer(SCOPE, "facts", "monday", error="", now=NOW)
        await store.settle(SCOPE, "segment", ["monday"])
        assert [deferral.job for deferral in await store.deferrals(SCOPE)] == ["facts"]
        assert await store.deferrals(SCOPE, "segment") == ()
        assert len(await store.deferrals(SCOPE, "facts")) == 1

    async def test_items_are_ordered_by_due_time_then_by_job_and_item(self, store: Store) -> None:
        for job, item, minutes in (("b", "x", 0), ("a", "y", 0), ("a", "x", 0), ("a", "z", -1)):
            await store.defer(SCOPE, job, item, error="", now=NOW + timedelta(minutes=minutes))
        found = [(deferral.job, deferral.item) for deferral in await store.deferrals(SCOPE)]
        assert found == [("a", "z"), ("a", "x"), ("a", "y"), ("b", "x")]

    async def test_pending_work_is_local_and_not_exported(self, store: Store) -> None:
        await store.defer(SCOPE, "segment", "monday", error="", now=NOW)
        assert await exported(store) == []


class SpendingContract(StoreSuite):
    async def test_nothing_asked_is_nothing_spent(self, store: Store) -> None:
        assert await store.spending(SCOPE) == ()

    async def test_calls_of_one_purpose_to_one_model_add_up(self, store: Store) -> None:
        calls = [
            a_call(),
            replace(a_call(), requests=3, input_tokens=1_000, output_tokens=2, cost=0.25),
            replace(a_call(outcome=Outcome.UNUSABLE), cost=None),
            replace(a_call(outcome=Outcome.FAILED), requests=0, input_tokens=0, output_tokens=0, error="down"),
        ]
        for call in calls:
            await store.log_call(SCOPE, call)
        assert await store.spending(SCOPE) == (
            Spent(
                purpose="titles",
                model="small",
                calls=4,
                failed=2,
                requests=5,
                input_tokens=1_200,
                output_tokens=22,
                cost=0.5,
                unpriced=1,
            ),
        )

    async def test_a_call_without_a_price_costs_nothing_and_is_counted(self, store: Store) -> None:
        await store.log_call(SCOPE, replace(a_call(), cost=None))
        (spent,) = await store.spending(SCOPE)
        assert (spent.cost, spent.unpriced) == (0.0, 1)

    async def test_purposes_come_by_name_and_then_models(self, store: Store) -> None:
        for purpose, model in (("titles", "small"), ("facts", "small"), ("titles", "large"), ("facts", "large")):
            await store.log_call(SCOPE, a_call(purpose=purpose, model=model))
        found = [(spent.purpose, spent.model) for spent in await store.spending(SCOPE)]
        assert found == [("facts", "large"), ("facts", "small"), ("titles", "large"), ("titles", "small")]

    async def test_calls_before_the_given_time_do_not_count(self, store: Store) -> None:
        instant = timedelta(microseconds=1)
        for at in (NOW - instant, NOW, NOW + instant):
            await store.log_call(SCOPE, replace(a_call(), at=at))
        counted = [
            sum(spent.calls for spent in await store.spending(SCOPE, since=NOW + shift))
            for shift in (-instant, timedelta(), instant, 2 * instant)
        ]
        assert counted == [3, 2, 1, 0]

    async def test_spending_belongs_to_the_workspace_and_not_to_the_caller(self, store: Store) -> None:
        await store.log_call(SCOPE, a_call())
        await store.log_call(Scope(workspace="acme"), a_call())
        (spent,) = await store.spending(MATE)
        assert spent.calls == 2

    async def test_the_same_call_twice_is_two(self, store: Store) -> None:
        for _ in range(2):
            await store.log_call(SCOPE, a_call())
        (spent,) = await store.spending(SCOPE)
        assert spent.calls == 2

    async def test_the_ledger_is_of_this_machine_and_in_no_export(self, store: Store) -> None:
        await store.log_call(SCOPE, a_call())
        assert await exported(store) == []
