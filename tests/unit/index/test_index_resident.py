"""The resident index as a whole: its memory, and its behaviour with concurrent readers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Thread
from uuid import UUID

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.reference.view import ReferenceView
from remembrancer.domain.erasure import Removal
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.resident import ResidentIndex
from remembrancer.ports.changes import ChangedMemory, ReadView
from remembrancer.testing.contract.base import MODEL, remember
from remembrancer.testing.contract.erasing import a_receipt
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
        return tuple(search.candidates(a_vector(1, 0)).ids)

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


async def told_again(finder: Finder, revisions: range) -> None:
    """Revise the memory "a kestrel", and ask after each revision."""
    for revision in revisions:
        told = replace(a_memory("a kestrel"), text=f"kestrel number {revision}")
        await finder.store.revise(SCOPE, indexed(told), expected_revision=revision, at=NOW)
        await finder.search(READER, request("kestrel"))


def test_telling_one_topic_again_and_again_does_not_make_the_index_grow() -> None:
    async def steps() -> list[int]:
        finder, sizes = Finder(ReferenceStore(), index := ResidentIndex(scanned=0)), list[int]()
        await remember(finder.store, indexed(a_memory("a kestrel")))
        for revision in range(1, 40):
            await told_again(finder, range(revision, revision + 1))
            sizes.append(index.nbytes)
        return sizes

    sizes = asyncio.run(steps())
    assert max(sizes[20:]) <= 4 * sizes[0]


def on_reading(monkeypatch: pytest.MonkeyPatch, call: Callable[[int], None]) -> None:
    """Call this with the number of the change after which an index reads, whenever one reads changes."""
    changes = ReferenceView.changes

    def reading(
        view: ReferenceView, scope: Scope, *, after: int, model: str | None, one_in: int = 1
    ) -> Iterator[ChangedMemory]:
        call(after)
        return changes(view, scope, after=after, model=model, one_in=one_in)

    monkeypatch.setattr(ReferenceView, "changes", reading)


def test_an_index_with_many_unused_slots_is_derived_anew_by_saving_and_not_by_a_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def steps() -> tuple[list[bool], list[bool], int, int]:
        finder, read = Finder(ReferenceStore(), index := ResidentIndex(scanned=0)), list[int]()
        await remember(finder.store, indexed(a_memory("a kestrel")))
        await finder.search(READER, request("kestrel"))
        on_reading(monkeypatch, read.append)
        await told_again(finder, range(1, 4))
        by_questions, size = [after == 0 for after in read], index.nbytes
        await index.save(finder.store)
        saved = [after == 0 for after in read[len(by_questions) :]]
        read.clear()
        assert (await finder.search(READER, request("kestrel"))).ids == (a_memory("a kestrel").id,)
        assert read == []
        return by_questions, saved, size, index.nbytes

    by_questions, saved, before, after = asyncio.run(steps())
    assert (any(by_questions), saved, after < before) == (False, [True], True)


def test_questions_are_answered_and_writes_are_seen_while_an_index_is_compacted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def steps() -> tuple[list[set[str]], set[str]]:
        finder, found = Finder(ReferenceStore(), index := ResidentIndex(scanned=0)), list[set[str]]()
        await remember(finder.store, indexed(a_memory("a kestrel")))
        await finder.search(READER, request("kestrel"))
        await told_again(finder, range(1, 4))

        async def asked() -> None:
            await remember(finder.store, indexed(a_memory("another kestrel")))
            found.append(await finder.found("kestrel"))

        def ask(after: int) -> None:
            if after == 0:
                other = Thread(target=lambda: asyncio.run(asked()), daemon=True)
                other.start()
                other.join(10)

        on_reading(monkeypatch, ask)
        await index.save(finder.store)
        return found, await finder.found("kestrel")

    during, after = asyncio.run(steps())
    assert during == [after]
    assert len(after) == 2


def test_after_an_erasure_the_next_question_finds_the_index_derived_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps() -> tuple[list[int], set[str]]:
        finder, read = Finder(ReferenceStore(), index := ResidentIndex()), list[int]()
        await remember(finder.store, indexed(a_memory("a kestrel")), indexed(a_memory("the kestrel")))
        await finder.search(READER, request("kestrel"))
        await finder.store.erase(SCOPE, Removal(memories=frozenset({a_memory("a kestrel").id})), a_receipt())
        assert await index.purge(finder.store, SCOPE) == ""
        on_reading(monkeypatch, read.append)
        return read, await finder.found("kestrel")

    assert asyncio.run(steps()) == ([], {"the kestrel"})


def test_a_closed_index_holds_nothing() -> None:
    async def steps() -> int:
        finder = Finder(ReferenceStore(), index := ResidentIndex())
        await remember(finder.store, indexed(a_memory("a kestrel")))
        await finder.search(READER, request("kestrel"))
        await index.close()
        return index.nbytes

    assert asyncio.run(steps()) == 0
