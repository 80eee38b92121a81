"""The ledger of what models were asked, and its sums."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import Outcome, Spent
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported
from remembrancer.testing.contract.world import a_call
from remembrancer.testing.doubles import NOW, SCOPE


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

    async def test_what_has_no_price_costs_nothing_and_is_counted(self, store: Store) -> None:
        await store.log_call(SCOPE, replace(a_call(), cost=None))
        (spent,) = await store.spending(SCOPE)
        assert (spent.cost, spent.unpriced) == (0.0, 1)

    async def test_purposes_come_by_name_and_then_models(self, store: Store) -> None:
        for purpose, model in (("titles", "small"), ("facts", "small"), ("titles", "large"), ("facts", "large")):
            await store.log_call(SCOPE, a_call(purpose=purpose, model=model))
        found = [(spent.purpose, spent.model) for spent in await store.spending(SCOPE)]
        assert found == [("facts", "large"), ("facts", "small"), ("titles", "large"), ("titles", "small")]

    async def test_what_was_asked_before_a_time_does_not_count(self, store: Store) -> None:
        instant = timedelta(microseconds=1)
        for at in (NOW - instant, NOW, NOW + instant):
            await store.log_call(SCOPE, replace(a_call(), at=at))
        counted = [
            sum(spent.calls for spent in await store.spending(SCOPE, since=NOW + shift))
            for shift in (-instant, timedelta(), instant, 2 * instant)
        ]
        assert counted == [3, 2, 1, 0]

    async def test_spending_is_the_workspace_s_whoever_asked(self, store: Store) -> None:
        await store.log_call(SCOPE, a_call())
        await store.log_call(Scope(workspace="acme"), a_call())
        (spent,) = await store.spending(replace(SCOPE, agent="bob"))
        assert spent.calls == 2

    async def test_the_same_call_twice_is_two(self, store: Store) -> None:
        for _ in range(2):
            await store.log_call(SCOPE, a_call())
        (spent,) = await store.spending(SCOPE)
        assert spent.calls == 2

    async def test_the_ledger_is_of_this_machine_and_in_no_export(self, store: Store) -> None:
        await store.log_call(SCOPE, a_call())
        assert await exported(store) == []
