"""Contract of the log of credits: what the outcomes of tasks change, once each."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import pytest

from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.outcome import TaskResult
from remembrancer.domain.scope import Reach, Reader
from remembrancer.domain.strength import Exposed, Exposure, Usage
from remembrancer.errors import NotFound
from remembrancer.ports.outcomes import Judged
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, holding, remember
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.world import OUTCOME, a_credit
from remembrancer.testing.doubles import HIDDEN, MATE, NOW, NOWHERE, READER, SCOPE, a_memory

if TYPE_CHECKING:
    from remembrancer.domain.memory import Memory
    from remembrancer.domain.outcome import Credit
    from remembrancer.domain.scope import Scope

ONE, TWO, THREE = (a_memory(text, memory_id=UUID(int=n)) for n, text in enumerate(("one", "two", "three"), start=1))
LATER: Final = NOW + timedelta(hours=1)
OTHER: Final = replace(SCOPE, agent="somebody else")


async def credited(
    store: Store,
    *memories: Memory,
    reader: Reader = READER,
    outcome: UUID = OUTCOME,
    at: datetime = NOW,
    task: str = "deploy",
    scope: Scope = SCOPE,
) -> tuple[tuple[Credit, ...], bool]:
    """Credit memories with a success of which each has the whole share, and that counts as a use."""

    def judge(memory: Memory) -> Judged:
        usage = replace(memory.strength.usage, worked=memory.strength.usage.worked + 1, used=1, last_used_at=at)
        credit = replace(a_credit(memory.id, outcome=outcome, at=at), task=task, scope=scope)
        return Judged(replace(memory.strength, usage=usage), credit, Exposed(memory.id, Exposure.USED, at))

    return await store.add_credits(reader, outcome, [memory.id for memory in memories], judge, at=at)


class OutcomeContract(StoreSuite):
    both = holding(lambda store: remember(store, ONE, TWO))

    async def test_credits_come_back_whole_by_memory_id(self, both: Store) -> None:
        assert await credited(both, TWO, ONE) == ((a_credit(ONE.id, at=NOW), a_credit(TWO.id, at=NOW)), True)
        assert await both.credits(READER, TWO.id) == (a_credit(TWO.id, at=NOW),)

    async def test_a_credited_memory_gets_its_new_strength(self, both: Store) -> None:
        await credited(both, ONE)
        found = await both.get(READER, [ONE.id, TWO.id])
        assert found[ONE.id].strength.usage == Usage(worked=1.0, used=1, last_used_at=NOW)
        assert found[TWO.id].strength == TWO.strength

    async def test_a_memory_named_twice_is_credited_once(self, both: Store) -> None:
        await credited(both, ONE, ONE)
        assert (await both.get(READER, [ONE.id]))[ONE.id].strength.usage.worked == 1.0

    async def test_an_outcome_that_is_recorded_changes_nothing(self, both: Store) -> None:
        first, _ = await credited(both, ONE)
        before = await exported(both)
        assert await credited(both, ONE, TWO, at=LATER) == (first, False)
        assert await exported(both) == before

    async def test_a_use_is_logged_with_its_credit(self, both: Store) -> None:
        await credited(both, ONE)
        assert [one.memory_id for one in await both.unreviewed(SCOPE, Exposure.USED, limit=9)] == [ONE.id]

    async def test_a_memory_that_does_not_exist_credits_none(self, both: Store) -> None:
        before = await exported(both)
        with pytest.raises(NotFound):
            await credited(both, ONE, a_memory("nowhere", memory_id=NOWHERE))
        assert await exported(both) == before

    async def test_a_reader_credits_no_memory_that_it_cannot_see(self, store: Store) -> None:
        await remember(store, HIDDEN)
        with pytest.raises(NotFound):
            await credited(store, HIDDEN)
        assert await store.credits(Reader(MATE), HIDDEN.id) == ()

    async def test_a_reader_sees_no_credits_of_memories_that_it_cannot_see(self, store: Store) -> None:
        await remember(store, HIDDEN)
        await credited(store, HIDDEN, reader=Reader(MATE))
        assert await store.credits(READER, HIDDEN.id) == ()
        assert len(await store.credits(Reader(MATE), HIDDEN.id)) == 1

    async def test_a_reader_sees_credits_reported_within_its_reach(self, store: Store) -> None:
        shared = a_memory("shared", memory_id=UUID(int=7), scope=replace(SCOPE, agent=None, session=None))
        await remember(store, shared)
        await credited(store, shared, scope=OTHER)
        seen = [await store.credits(Reader(scope, Reach.OWN), shared.id) for scope in (SCOPE, OTHER)]
        assert [len(told) for told in seen] == [0, 1]

    async def test_credits_of_one_memory_are_oldest_first(self, both: Store) -> None:
        await credited(both, ONE, outcome=UUID(int=2), at=LATER)
        await credited(both, ONE, outcome=UUID(int=3))
        assert [one.outcome_id.int for one in await both.credits(READER, ONE.id)] == [3, 2]

    async def test_an_unknown_memory_has_no_credits(self, store: Store) -> None:
        assert await store.credits(READER, NOWHERE) == ()

    async def test_erasing_a_memory_erases_its_credits(self, both: Store) -> None:
        await credited(both, ONE, TWO)
        removed = await both.erase(SCOPE, Removal(memories=frozenset({ONE.id})), a_receipt())
        assert removed.counts["credits"] == 1
        assert [row["memory_id"] for row in await exported(both) if row["record"] == "credit"] == [str(TWO.id)]

    @pytest.mark.parametrize(("before", "left"), [(None, 0), (NOW, 1), (LATER, 0)])
    async def test_credits_go_with_the_scope_that_reported_them(
        self, both: Store, before: datetime | None, left: int
    ) -> None:
        await credited(both, ONE, scope=OTHER)
        choice = ErasureSelection(agent=OTHER.agent, before=before)
        removed = await both.erase(SCOPE, Removal(), a_receipt(choice=choice))
        assert removed.counts["credits"] == 1 - left
        assert len(await both.credits(READER, ONE.id)) == left

    async def test_a_task_that_quotes_an_erased_text_is_redacted(self, store: Store) -> None:
        await remember(store, ONE, bird := a_memory("kestrel", memory_id=UUID(int=8)))
        await credited(store, ONE, task="feed the kestrel")
        removed = await store.erase(SCOPE, Removal(memories=frozenset({bird.id})), a_receipt())
        assert removed.counts["quotations"] == 1
        (kept,) = await store.credits(READER, ONE.id)
        assert "kestrel" not in kept.task

    async def test_credits_go_out_and_come_back_the_same(self, both: Store) -> None:
        await credited(both, ONE, TWO)
        rows = await exported(both)
        async with self.another_store() as other:
            assert await other.import_rows(SCOPE, rows) == len(rows)
            assert await exported(other) == rows
            assert await credited(other, ONE, at=LATER) == (await credited(both, ONE, at=LATER))

    async def test_a_credit_that_is_there_stays_as_it_is(self, both: Store) -> None:
        await credited(both, ONE)
        rows = [{**row, "result": "failure"} for row in await exported(both) if row["record"] == "credit"]
        assert await both.import_rows(SCOPE, rows) == 0
        (kept,) = await both.credits(READER, ONE.id)
        assert kept.result is TaskResult.SUCCESS
