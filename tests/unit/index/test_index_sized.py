"""The choice of the index by the size of a workspace, as it grows and shrinks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.erasure import Removal
from remembrancer.domain.memory import Status
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.candidates import CandidateIndex
from remembrancer.index.resident import ResidentIndex
from remembrancer.index.sized import SizedIndex, most_memories
from remembrancer.ports.candidate_source import Wanted
from remembrancer.ports.changes import ChangeFeed
from remembrancer.testing.contract.base import remember
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.finding import request
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory
from remembrancer.testing.simple_source import SimpleSource


class Asked(SimpleSource):
    """Counts the questions that it is asked."""

    times = 0

    def lexical(self, feed: ChangeFeed, wanted: Wanted, query: LexicalQuery, holding: Sequence[int]) -> None:
        self.times += 1


class World:
    def __init__(self, most: int) -> None:
        self.store, self.source = ReferenceStore(), Asked()
        self.index = SizedIndex(ResidentIndex(), CandidateIndex(self.source), most=most)

    async def is_large(self, scope: Scope = SCOPE) -> bool:
        """Whether the next question is answered by the index for large workspaces. Each finds its memory."""
        before, asked = self.source.times, request("kestrel")
        found = await self.store.read(lambda view: self.index.search(view, Reader(scope), asked.request).candidates())
        assert len(found.ids) == (scope == SCOPE)
        return self.source.times > before


def test_a_workspace_that_grows_changes_over_and_one_that_shrinks_changes_back() -> None:
    async def run() -> None:
        world = World(most=4)
        await remember(world.store, a_memory("kestrel"), a_memory("owl"))
        assert not await world.is_large()
        await remember(world.store, *(a_memory(f"barn {number}") for number in range(3)))
        assert await world.is_large()
        assert not await world.is_large(replace(SCOPE, workspace="another"))
        gone = frozenset({a_memory("owl").id, a_memory("barn 0").id})
        await world.store.erase(SCOPE, Removal(memories=gone), a_receipt())
        assert await world.is_large()  # three of four: it would soon change over again
        await world.store.erase(SCOPE, Removal(memories=frozenset({a_memory("barn 1").id})), a_receipt())
        assert not await world.is_large()

    asyncio.run(run())


def test_a_memory_that_changes_often_is_one() -> None:
    async def run() -> None:
        world = World(most=2)
        await remember(world.store, a_memory("kestrel"), a_memory("owl"))
        for status in (Status.RETIRED, Status.ACTIVE, Status.RETIRED):
            await world.store.set_status(READER, a_memory("owl").id, status, at=NOW)
            assert not await world.is_large()

    asyncio.run(run())


@pytest.mark.parametrize(("dim", "most"), [(0, 524_288), (384, 368_705)])
def test_the_limit_follows_from_the_memory_budget(dim: int, most: int) -> None:
    assert most_memories(1 << 30, dim) == pytest.approx(most, rel=0.001)
