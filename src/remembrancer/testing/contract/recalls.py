"""Contract of kept recalls, and of what memories said at a revision."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.kept import KeptRecall
from remembrancer.domain.scope import Reach, Reader, Visibility
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, stored
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.world import a_recall
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, indexed

OTHER = replace(SCOPE, agent="somebody else")


async def kept(store: Store, recall: KeptRecall, *, reader: Reader = READER) -> bool:
    return await store.kept_recall(reader, recall.id) == recall


class RecallsContract(StoreSuite):
    async def test_a_kept_recall_comes_back_whole(self, store: Store) -> None:
        await store.keep_recall(SCOPE, a_recall())
        assert await kept(store, a_recall())
        assert await store.kept_recall(READER, UUID(int=404)) is None

    async def test_an_id_is_kept_once(self, store: Store) -> None:
        await store.keep_recall(SCOPE, a_recall())
        with pytest.raises(Conflict):
            await store.keep_recall(SCOPE, replace(a_recall(), query="another"))
        assert await kept(store, a_recall())

    async def test_a_recall_of_another_workspace_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.keep_recall(replace(SCOPE, workspace="rival"), a_recall())

    async def test_a_reader_sees_recalls_within_its_reach(self, store: Store) -> None:
        await store.keep_recall(SCOPE, a_recall())
        found = [await kept(store, a_recall(), reader=Reader(scope, Reach.OWN)) for scope in (SCOPE, OTHER)]
        assert found == [True, False]
        assert not await store.drop_recall(Reader(OTHER, Reach.OWN), a_recall().id)
        assert await kept(store, a_recall())

    async def test_a_dropped_recall_is_gone(self, store: Store) -> None:
        await store.keep_recall(SCOPE, a_recall())
        assert [await store.drop_recall(READER, a_recall().id) for _ in range(2)] == [True, False]
        assert not await kept(store, a_recall())

    async def test_recalls_are_not_exported(self, store: Store) -> None:
        await store.keep_recall(SCOPE, a_recall())
        assert await exported(store) == []

    @pytest.mark.parametrize(("before", "left"), [(None, False), (NOW, True), (NOW + timedelta(days=1), False)])
    async def test_recalls_go_with_the_scope_that_asked(self, store: Store, before: object, left: bool) -> None:
        await store.keep_recall(SCOPE, a_recall())
        await store.keep_recall(OTHER, replace(a_recall(), id=UUID(int=2), scope=OTHER))
        choice = ErasureSelection(agent=SCOPE.agent, before=before)  # type: ignore[arg-type]
        removed = await store.erase(SCOPE, Removal(), a_receipt(choice=choice))
        assert removed.counts["kept_recalls"] == int(not left)
        assert await kept(store, a_recall()) is left
        assert await store.kept_recall(READER, UUID(int=2)) is not None

    async def test_a_recall_that_quotes_an_erased_text_goes_with_it(self, store: Store) -> None:
        memory = await stored(store, a_memory("kestrel"))
        await store.keep_recall(SCOPE, replace(a_recall(), query="is it a kestrel?"))
        await store.keep_recall(SCOPE, replace(a_recall(), id=UUID(int=2)))
        removed = await store.erase(SCOPE, Removal(memories=frozenset({memory.id})), a_receipt())
        assert removed.counts["quotations"] == 1
        assert await store.kept_recall(READER, a_recall().id) is None
        assert await store.kept_recall(READER, UUID(int=2)) is not None

    async def test_a_memory_is_read_at_any_revision_it_had(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory("kestrel"), "one", "two"))
        await store.revise(SCOPE, indexed(replace(memory, text="owl"), "one"), expected_revision=1, at=NOW)
        read = [await store.read(lambda view, n=n: view.at_revisions(READER, {memory.id: n})) for n in (1, 2, 3)]
        texts = [[(one.text, [cue.text for cue in cues]) for one, cues in found.values()] for found in read]
        assert texts == [[("kestrel", ["one", "two"])], [("owl", ["one"])], []]

    async def test_a_revision_that_was_kept_from_a_reader_is_not_shown(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory("kestrel"), visibility=Visibility.OWN))
        opened = replace(memory, text="owl", visibility=Visibility.WORKSPACE)
        await store.revise(SCOPE, indexed(opened), expected_revision=1, at=NOW)
        wanted = [{memory.id: 1}, {memory.id: 2}]
        found = [await store.read(lambda view, one=one: view.at_revisions(Reader(OTHER), one)) for one in wanted]
        assert [len(one) for one in found] == [0, 1]
