"""Contract of `workspace_memories`: all memories of a workspace, a page at a time, for consolidation."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, StoreSuite, remember
from remembrancer.testing.contract.memories import LATER
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, indexed

ACME: Final = Scope(workspace="acme")


def numbered(number: int, *, hours: int = 0) -> Memory:
    return a_memory(f"{number}", memory_id=UUID(int=number), at=NOW + timedelta(hours=hours))


async def swept(
    store: Store, where: Filter = EVERYTHING, *, limit: int = 99, unconsolidated: bool = False
) -> list[str]:
    found = await store.workspace_memories(ACME, where, limit=limit, unconsolidated=unconsolidated)
    return [memory.text for memory in found]


class SweepContract(StoreSuite):
    async def test_the_oldest_come_first_then_by_id(self, store: Store) -> None:
        await remember(store, *(numbered(4), numbered(2, hours=1), numbered(3), numbered(1, hours=2)))
        assert await swept(store) == ["3", "4", "2", "1"]
        assert await swept(store, limit=2) == ["3", "4"]

    async def test_memories_are_ordered_by_the_end_of_their_time_span(self, store: Store) -> None:
        long = replace(numbered(1, hours=-9), occurred_to=NOW + timedelta(hours=9))
        await remember(store, long, numbered(2))
        assert await swept(store) == ["2", "1"]

    async def test_every_visibility_and_owner_is_swept(self, store: Store) -> None:
        for number, visibility in enumerate(Visibility, start=1):
            theirs = Scope(workspace="acme", project="p", crew="data", agent=f"agent {number}", session="s")
            memory = replace(numbered(number), scope=theirs, visibility=visibility)
            await store.insert(theirs, indexed(memory))
        assert await swept(store) == ["1", "2", "3", "4"]

    async def test_memories_excluded_by_the_filter_are_not_swept(self, store: Store) -> None:
        await remember(store, replace(numbered(1), kind="decision"), replace(numbered(2), kind="episode"), numbered(3))
        assert await swept(store, replace(EVERYTHING, without_kinds=frozenset({"episode"}))) == ["1", "3"]
        assert await swept(store, replace(EVERYTHING, kinds=frozenset({"episode"}))) == ["2"]

    async def test_memories_that_are_no_longer_valid_are_not_swept(self, store: Store) -> None:
        await remember(store, *(indexed(numbered(number)) for number in (1, 2, 3, 4)))
        await store.set_status(READER, UUID(int=1), Status.RETIRED, at=NOW)
        await store.supersede(READER, UUID(int=2), UUID(int=4), at=NOW)
        await store.supersede(READER, UUID(int=3), None, at=NOW)
        assert await swept(store, Filter(current_at=NOW)) == ["4"]

    async def test_episodes_with_extracted_facts_are_left_out_on_request(self, store: Store) -> None:
        await remember(store, numbered(1), numbered(2))
        await store.commit(SCOPE, Effect(consolidated=frozenset({UUID(int=1)})), at=LATER)
        assert await swept(store, unconsolidated=True) == ["2"]
        assert await swept(store) == ["1", "2"]

    @pytest.mark.parametrize("size", [1, 2, 3])
    async def test_a_sweep_continues_after_its_last_memory(self, store: Store, size: int) -> None:
        memories = [numbered(number, hours=number // 3) for number in range(1, 8)]
        await remember(store, *(indexed(memory) for memory in reversed(memories)))
        found: list[Memory] = []
        while more := await store.workspace_memories(ACME, EVERYTHING, limit=size, after=found[-1] if found else None):
            assert len(more) <= size
            found += more
        assert found == memories

    async def test_a_sweep_continues_after_a_memory_that_no_longer_exists(self, store: Store) -> None:
        await remember(store, *(indexed(numbered(number)) for number in (1, 2, 3)))
        await store.set_status(READER, UUID(int=2), Status.COMPACTED, at=NOW)
        found = await store.workspace_memories(ACME, EVERYTHING, limit=9, after=numbered(2))
        assert [memory.text for memory in found] == ["3"]
