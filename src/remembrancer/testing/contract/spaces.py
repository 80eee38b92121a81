"""Contract of vector spaces: which model answers, changes, switches, roll-backs and drops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from remembrancer.domain.scope import Scope
from remembrancer.domain.vector_space import SpaceRole, SpaceSize
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import (
    MODEL,
    StoreSuite,
    exported,
    give_vectors,
    holding,
    remember,
    unchanged,
)
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector, indexed

NEW = "model-b"


async def two_cues(store: Store) -> None:
    """Two cues, both with a vector of `MODEL`, which answers."""
    await remember(store, indexed(a_memory(), "one", "two"))
    await give_vectors(store, {"one": a_vector(1, 0), "two": a_vector(0, 1)})


async def building(store: Store) -> None:
    """As `two_cues`, and a change to `NEW` of which one vector is made."""
    await two_cues(store)
    await store.build_space(SCOPE, NEW, at=NOW)
    await give_vectors(store, {"one": a_vector(1, 2, 3)}, model=NEW)


async def built(store: Store) -> None:
    """As `building`, with all vectors of `NEW`."""
    await building(store)
    await give_vectors(store, {"two": a_vector(3, 2, 1)}, model=NEW)


async def roles(store: Store) -> Mapping[str, SpaceRole]:
    return {space.model: space.role for space in await store.spaces(SCOPE)}


async def answering(store: Store, scope: Scope = SCOPE) -> str | None:
    return await store.read(lambda view: view.state(scope).model)


class SpacesContract(StoreSuite):
    vectored = holding(two_cues)
    half_built = holding(building)
    ready = holding(built)

    async def test_no_model_answers_before_the_first_vector(self, store: Store) -> None:
        assert (await answering(store), await roles(store)) == (None, {})

    async def test_the_model_of_the_first_vectors_answers(self, vectored: Store) -> None:
        assert (await answering(vectored), await roles(vectored)) == (MODEL, {MODEL: SpaceRole.ANSWERS})

    async def test_vectors_of_a_second_model_change_no_role(self, vectored: Store) -> None:
        await give_vectors(vectored, {"one": a_vector(1, 2, 3)}, model=NEW)
        assert await roles(vectored) == {MODEL: SpaceRole.ANSWERS}

    async def test_while_a_space_is_built_the_other_answers(self, half_built: Store) -> None:
        assert await roles(half_built) == {MODEL: SpaceRole.ANSWERS, NEW: SpaceRole.BUILDING}
        assert await answering(half_built) == MODEL

    async def test_building_a_space_again_changes_nothing(self, half_built: Store) -> None:
        async with unchanged(half_built):
            assert not await half_built.build_space(SCOPE, NEW, at=NOW)
            assert not await half_built.build_space(SCOPE, MODEL, at=NOW)

    async def test_two_spaces_are_not_built_at_once(self, half_built: Store) -> None:
        with pytest.raises(Conflict, match=NEW):
            await half_built.build_space(SCOPE, "model-c", at=NOW)

    async def test_another_workspace_may_build_another_space(self, half_built: Store) -> None:
        elsewhere = Scope(workspace="elsewhere")
        assert await half_built.build_space(elsewhere, "model-c", at=NOW)
        assert await answering(half_built, elsewhere) is None

    async def test_a_space_with_missing_vectors_does_not_answer(self, half_built: Store) -> None:
        assert await half_built.answer_with(SCOPE, NEW, at=NOW) == 1
        assert await answering(half_built) == MODEL

    async def test_a_space_with_missing_vectors_answers_if_that_is_allowed(self, half_built: Store) -> None:
        assert await half_built.answer_with(SCOPE, NEW, at=NOW, allow_missing=True) == 1
        assert await answering(half_built) == NEW

    async def test_a_cue_without_any_vector_is_no_obstacle(self, ready: Store) -> None:
        await remember(ready, indexed(a_memory("third"), "three"))
        assert await ready.answer_with(SCOPE, NEW, at=NOW) == 0
        assert await answering(ready) == NEW

    async def test_after_a_switch_the_model_before_is_kept(self, ready: Store) -> None:
        assert await ready.answer_with(SCOPE, NEW, at=NOW) == 0
        assert await roles(ready) == {MODEL: SpaceRole.KEPT, NEW: SpaceRole.ANSWERS}

    async def test_a_switch_is_undone_by_a_switch(self, ready: Store) -> None:
        await ready.answer_with(SCOPE, NEW, at=NOW)
        assert await ready.answer_with(SCOPE, MODEL, at=NOW) == 0
        assert await roles(ready) == {MODEL: SpaceRole.ANSWERS, NEW: SpaceRole.KEPT}

    async def test_vectors_without_token_embeddings_are_missing_if_these_are_needed(self, ready: Store) -> None:
        assert await ready.answer_with(SCOPE, NEW, at=NOW, token_embeddings=True) == 2
        assert await answering(ready) == MODEL

    async def test_only_a_space_that_is_built_or_kept_can_answer(self, vectored: Store) -> None:
        for model in (MODEL, NEW):
            with pytest.raises(NotFound):
                await vectored.answer_with(SCOPE, model, at=NOW)

    async def test_a_dropped_space_has_no_vectors(self, ready: Store) -> None:
        assert await ready.drop_space(SCOPE, NEW, at=NOW) == 2
        assert await roles(ready) == {MODEL: SpaceRole.ANSWERS, NEW: SpaceRole.DROPPED}
        assert len(await ready.pending(SCOPE, NEW, limit=9, now=NOW)) == 2

    async def test_a_dropped_space_can_be_built_again_with_another_dimension(self, ready: Store) -> None:
        await ready.drop_space(SCOPE, NEW, at=NOW)
        assert await ready.build_space(SCOPE, NEW, at=NOW)
        [first, _] = await ready.pending(SCOPE, NEW, limit=9, now=NOW)
        longer = CueVector(first.ref, np.eye(5, dtype=np.float32)[0], truncated=False)
        assert await ready.put_vectors(SCOPE, NEW, [longer], at=NOW) == 1

    async def test_the_space_that_answers_is_not_dropped(self, vectored: Store) -> None:
        async with unchanged(vectored):
            with pytest.raises(Conflict):
                await vectored.drop_space(SCOPE, MODEL, at=NOW)
        with pytest.raises(NotFound):
            await vectored.drop_space(SCOPE, NEW, at=NOW)

    async def test_the_size_of_each_space_is_counted(self, half_built: Store) -> None:
        sizes = await half_built.space_sizes(SCOPE, since=NOW)
        assert sizes.cues == 2
        assert dict(sizes.of) == {MODEL: SpaceSize(2, 2, 12), NEW: SpaceSize(1, 1, 7)}

    async def test_an_imported_model_answers_if_none_does(self, vectored: Store) -> None:
        async with self.another_store() as other:
            await other.import_rows(SCOPE, await exported(vectored))
            assert await answering(other) == MODEL
