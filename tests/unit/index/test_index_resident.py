"""The resident index as a whole: its memory, and its behaviour with concurrent readers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.scope import Reader
from remembrancer.index.resident import ResidentIndex
from remembrancer.ports.changes import ReadView
from remembrancer.testing.contract.base import MODEL, remember
from remembrancer.testing.contract.finding import Finder, request
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, indexed


async def the_view(store: ReferenceStore) -> ReadView:
    """A view of the store's current state; in this store a view never changes."""
    return await store.read(lambda view: view)


def test_writes_seen_by_another_question_while_a_vector_is_awaited_are_searched_too() -> None:
    async def steps() -> tuple[UUID, ...]:
        store, index = ReferenceStore(), ResidentIndex()
        asked = request("kestrel", model=MODEL).request
        await remember(store, indexed(a_memory("a kestrel")))
        search = index.search(await the_view(store), READER, asked)
        await remember(store, indexed(a_memory("the kestrel")))
        index.search(await the_view(store), READER, asked).candidates()
        return search.candidates(a_vector(1, 0)).ids

    assert set(asyncio.run(steps())) == {a_memory("a kestrel").id, a_memory("the kestrel").id}


@pytest.mark.parametrize(("budget", "kept"), [(1, 1), (1 << 30, 3)])
def test_workspaces_are_kept_within_the_budget(budget: int, kept: int) -> None:
    async def steps() -> list[int]:
        finder, sizes = Finder(ReferenceStore(), index := ResidentIndex(budget, scanned=0)), list[int]()
        for workspace in ("acme", "rival", "third"):
            scope = replace(SCOPE, workspace=workspace)
            await finder.store.insert(scope, indexed(a_memory("a kestrel", scope=scope)))
            await finder.search(Reader(scope), request("kestrel"))
            sizes.append(index.nbytes)
        return sizes

    sizes = asyncio.run(steps())
    assert sizes[-1] / sizes[0] == kept


def test_telling_one_topic_again_and_again_does_not_make_the_index_grow() -> None:
    async def steps() -> list[int]:
        finder, sizes = Finder(ReferenceStore(), index := ResidentIndex(scanned=0)), list[int]()
        await remember(finder.store, indexed(a_memory("a kestrel")))
        for revision in range(1, 40):
            told = replace(a_memory("a kestrel"), text=f"kestrel number {revision}")
            await finder.store.revise(SCOPE, indexed(told), expected_revision=revision, at=NOW)
            await finder.search(READER, request("kestrel"))
            sizes.append(index.nbytes)
        return sizes

    sizes = asyncio.run(steps())
    assert max(sizes[20:]) <= 2 * sizes[0]


def test_a_closed_index_holds_nothing() -> None:
    async def steps() -> int:
        finder = Finder(ReferenceStore(), index := ResidentIndex())
        await remember(finder.store, indexed(a_memory("a kestrel")))
        await finder.search(READER, request("kestrel"))
        await index.close()
        return index.nbytes

    assert asyncio.run(steps()) == 0
