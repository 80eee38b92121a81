"""Contract of token embeddings: stored as bits with a cue's vector, read for a few cues, and deleted with them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.scope import Reader
from remembrancer.errors import InvalidInput
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import (
    MODEL,
    StoreSuite,
    exported,
    give_vectors,
    holding,
    remember,
    stored,
    stored_token_embeddings,
)
from remembrancer.testing.contract.finding import Finder, IndexSuite, needs
from remembrancer.testing.doubles import HIDDEN, NOW, READER, SCOPE, a_memory, a_vector, indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIM: Final = 12
"""The dimension. It is not a multiple of eight, so the last byte of a token embedding has unused bits."""
A_VECTOR: Final = a_vector(*range(1, DIM + 1))


def signs(*words: int) -> NDArray[np.uint8]:
    """Token embeddings of two bytes each."""
    return np.array([[word >> 8, word & 255] for word in words], dtype=np.uint8).reshape(-1, 2)


async def give_token_embeddings(
    store: Store, words: Mapping[str, NDArray[np.uint8] | None], *, model: str = MODEL
) -> int:
    """Store a vector with these token embeddings for the cues with these texts. Returns how many were stored."""
    pending = await store.pending(SCOPE, model, limit=2000, now=NOW)
    given = [CueVector(cue.ref, A_VECTOR, False, words[cue.text]) for cue in pending if cue.text in words]
    return await store.put_vectors(SCOPE, model, given, at=NOW)


async def read(store: Store, cues: Mapping[UUID, int], *, model: str = MODEL) -> dict[UUID, list[list[int]]]:
    return {one: words.tolist() for one, words in (await stored_token_embeddings(store, cues, model=model)).items()}


async def found(
    finder: Finder, cues: Mapping[UUID, int], *, reader: Reader = READER, model: str = MODEL
) -> dict[UUID, list[list[int]]]:
    given = await finder.token_embeddings_of(cues, reader=reader, model=model)
    return {one: words.tolist() for one, words in given.items()}


class TokenEmbeddingsContract(StoreSuite):
    worded = holding(lambda store: remember(store, indexed(a_memory(), "one")))

    async def test_token_embeddings_are_read_as_they_were_stored(self, worded: Store) -> None:
        given = signs(0x1230, 0xFFF0, 0x0000)
        await give_token_embeddings(worded, {"one": given})
        (words,) = (await stored_token_embeddings(worded, {a_memory().id: 0})).values()
        np.testing.assert_array_equal(words, given, strict=True)

    async def test_token_embeddings_are_found_by_the_digest_of_the_embedded_text(self, worded: Store) -> None:
        (cue,) = await worded.pending(SCOPE, MODEL, limit=10, now=NOW)
        given = signs(0x1230, 0xFFF0)
        vector = CueVector(cue.ref, A_VECTOR, False, given, b"digest")
        await worded.put_vectors(SCOPE, MODEL, [vector], at=NOW)
        found = (await worded.embedded(SCOPE, MODEL, [b"digest"]))[b"digest"].token_embeddings
        assert found is not None
        np.testing.assert_array_equal(found, given, strict=True)

    async def test_a_cue_without_token_embeddings_is_pending_if_they_are_requested(self, worded: Store) -> None:
        await give_token_embeddings(worded, {"one": None})
        waiting = await worded.pending(SCOPE, MODEL, limit=10, now=NOW, token_embeddings=True)
        assert await worded.pending_of(SCOPE, MODEL, waiting[0].memory_id, token_embeddings=True) == waiting[:1]
        assert ([cue.text for cue in waiting], await worded.pending(SCOPE, MODEL, limit=10, now=NOW)) == (["one"], ())

    async def test_token_embeddings_replace_the_vector_with_their_own(self, worded: Store) -> None:
        await give_token_embeddings(worded, {"one": None})
        (cue,) = await worded.pending(SCOPE, MODEL, limit=10, now=NOW, token_embeddings=True)
        later = a_vector(*range(DIM, 0, -1))
        new = await worded.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, later, False, signs(0x10))], at=NOW)
        vectors = await worded.vectors(READER, MODEL, [a_memory().id])
        np.testing.assert_allclose(vectors[a_memory().id], later, rtol=1e-6)
        assert (new, await read(worded, {a_memory().id: 0})) == (1, {a_memory().id: [[0, 0x10]]})

    async def test_a_cue_with_token_embeddings_keeps_them_and_is_not_pending(self, worded: Store) -> None:
        (cue,) = await worded.pending(SCOPE, MODEL, limit=10, now=NOW)
        for each in (signs(0x10), signs(0x20)):
            await worded.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, A_VECTOR, False, each)], at=NOW)
        assert await read(worded, {a_memory().id: 0}) == {a_memory().id: [[0, 0x10]]}
        assert await worded.pending(SCOPE, MODEL, limit=10, now=NOW, token_embeddings=True) == ()

    async def test_a_cue_without_any_token_is_not_pending(self, worded: Store) -> None:
        await give_token_embeddings(worded, {"one": signs()})
        assert await worded.pending(SCOPE, MODEL, limit=10, now=NOW, token_embeddings=True) == ()

    async def test_each_cue_of_a_memory_has_its_own_token_embeddings(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        await give_token_embeddings(store, {"one": signs(0x10), "two": signs(0x20, 0x30)})
        assert await read(store, {a_memory().id: 0}) == {a_memory().id: [[0, 0x10]]}
        assert await read(store, {a_memory().id: 1}) == {a_memory().id: [[0, 0x20], [0, 0x30]]}

    async def test_an_unknown_cue_has_no_token_embeddings(self, worded: Store) -> None:
        await give_token_embeddings(worded, {"one": signs(0x10)})
        assert await worded.read(lambda view: view.token_embeddings(SCOPE, MODEL, [10**9])) == {}

    async def test_a_cue_stored_without_token_embeddings_has_none(self, store: Store) -> None:
        await remember(store, a_memory("plain"), a_memory("worded"))
        await give_token_embeddings(store, {"plain": None, "worded": signs(0x10)})
        asked = {a_memory("plain").id: 0, a_memory("worded").id: 0}
        assert set(await read(store, asked)) == {a_memory("worded").id}

    async def test_a_cue_without_a_token_has_no_token_embeddings(self, store: Store) -> None:
        await remember(store, a_memory("…", memory_id=UUID(int=1)))
        await give_token_embeddings(store, {"…": signs()})
        (words,) = (await stored_token_embeddings(store, {UUID(int=1): 0})).values()
        assert words.shape == (0, 2)

    async def test_token_embeddings_of_another_model_are_not_read(self, worded: Store) -> None:
        await give_token_embeddings(worded, {"one": signs(0x10)}, model="model-b")
        assert await read(worded, {a_memory().id: 0}) == {}
        await give_token_embeddings(worded, {"one": signs(0x20)})
        assert await read(worded, {a_memory().id: 0}) == {a_memory().id: [[0, 0x20]]}
        assert await read(worded, {a_memory().id: 0}, model="model-b") == {a_memory().id: [[0, 0x10]]}

    async def test_stored_token_embeddings_stay_with_their_vector(self, worded: Store) -> None:
        (cue,) = await worded.pending(SCOPE, MODEL, limit=1, now=NOW)
        for words in (signs(0x10), signs(0x20)):
            await worded.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, A_VECTOR, False, words)], at=NOW)
        assert await read(worded, {a_memory().id: 0}) == {a_memory().id: [[0, 0x10]]}

    async def test_the_token_embeddings_of_a_revised_cue_are_deleted(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one"))
        await give_token_embeddings(store, {"one": signs(0x10)})
        await store.revise(SCOPE, indexed(memory, "two"), expected_revision=1, at=NOW)
        assert await read(store, {memory.id: 0}) == {}
        await give_token_embeddings(store, {"two": signs(0x20)})
        assert await read(store, {memory.id: 0}) == {memory.id: [[0, 0x20]]}

    async def test_token_embeddings_of_a_deleted_cue_are_not_stored(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one"))
        (gone,) = await store.pending(SCOPE, MODEL, limit=1, now=NOW)
        await store.revise(SCOPE, indexed(memory, "two"), expected_revision=1, at=NOW)
        await store.put_vectors(SCOPE, MODEL, [CueVector(gone.ref, A_VECTOR, False, signs(0x10))], at=NOW)
        assert await read(store, {memory.id: 0}) == {}

    async def test_token_embeddings_of_very_many_cues_can_be_read(self, store: Store) -> None:
        memory = indexed(a_memory(), *(f"note {number}" for number in range(1201)))
        await remember(store, memory)
        refs = {cue.ref for cue in await store.pending(SCOPE, MODEL, limit=2_000, now=NOW)}
        await give_token_embeddings(store, {f"note {number}": signs(0x10) for number in range(1201)})
        asked = [*refs, *range(10**9, 10**9 + 40_000)]
        assert len(refs) == 1201
        assert set(await store.read(lambda view: view.token_embeddings(SCOPE, MODEL, asked))) == refs

    async def test_reading_no_cue_returns_no_token_embeddings(self, store: Store) -> None:
        assert await read(store, {}) == {}

    async def test_the_caller_s_array_of_token_embeddings_is_not_kept(self, worded: Store) -> None:
        words = signs(0x10)
        await give_token_embeddings(worded, {"one": words})
        words[:] = 0xFF
        assert await read(worded, {a_memory().id: 0}) == {a_memory().id: [[0, 0x10]]}

    # Token embeddings are exported and imported with their vectors.
    async def test_token_embeddings_are_exported_and_imported_unchanged(self, store: Store) -> None:
        async with self.another_store() as source:
            await remember(source, indexed(a_memory(), "one", "two", "…"))
            await give_token_embeddings(source, {"one": signs(0x10, 0x20), "two": None, "…": signs()})
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == len(rows)
        assert await exported(store) == rows
        assert await read(store, {a_memory().id: 0}) == {a_memory().id: [[0, 0x10], [0, 0x20]]}
        assert await read(store, {a_memory().id: 1}) == {}
        assert await read(store, {a_memory().id: 2}) == {a_memory().id: []}

    async def test_an_existing_vector_keeps_its_token_embeddings(self, store: Store) -> None:
        async with self.another_store() as source:
            await remember(source, indexed(a_memory(), "one"))
            await give_token_embeddings(source, {"one": signs(0x10)})
            rows = await exported(source)
        await remember(store, indexed(a_memory(), "one"))
        await give_vectors(store, {"one": A_VECTOR})
        assert await store.import_rows(SCOPE, rows) == 0
        assert await read(store, {a_memory().id: 0}) == {}

    @pytest.mark.parametrize("given", [b"\x10", b"\x10\x20\x30", "not base64", 7])
    async def test_truncated_token_embeddings_refuse_the_import(self, store: Store, given: bytes | str | int) -> None:
        async with self.another_store() as source:
            await remember(source, indexed(a_memory(), "one"))
            await give_token_embeddings(source, {"one": signs(0x10)})
            rows = await exported(source)
        value = base64.b64encode(given).decode() if isinstance(given, bytes) else given
        broken: list[ExportRow] = [
            {**row, "token_embeddings": value} if row["record"] == "vector" else row for row in rows
        ]
        with pytest.raises(InvalidInput, match=r"^vector\.token_embeddings: "):
            await store.import_rows(SCOPE, broken)
        assert await exported(store) == []


@needs("token_embeddings")
class FoundWordsContract(IndexSuite):
    """Token embeddings read through an index: only those of visible memories, and always the current ones."""

    async def test_token_embeddings_of_invisible_memories_are_left_out(self, finder: Finder) -> None:
        await remember(finder.store, indexed(HIDDEN, "one"))
        await give_token_embeddings(finder.store, {"one": signs(0x10)})
        assert await found(finder, {HIDDEN.id: 0}) == {}
        assert set(await found(finder, {HIDDEN.id: 0}, reader=Reader(HIDDEN.scope))) == {HIDDEN.id}

    async def test_token_embeddings_read_by_one_reader_are_not_given_to_another_who_may_not_see_them(
        self, finder: Finder
    ) -> None:
        await remember(finder.store, indexed(HIDDEN, "one"))
        await give_token_embeddings(finder.store, {"one": signs(0x10)})
        assert set(await found(finder, {HIDDEN.id: 0}, reader=Reader(HIDDEN.scope))) == {HIDDEN.id}
        assert await found(finder, {HIDDEN.id: 0}) == {}

    async def test_token_embeddings_are_read_again_once_the_text_has_changed(self, finder: Finder) -> None:
        memory = await stored(finder.store, indexed(a_memory(), "one"))
        await give_token_embeddings(finder.store, {"one": signs(0x10)})
        assert await found(finder, {memory.id: 0}) == {memory.id: [[0, 0x10]]}
        await finder.store.revise(SCOPE, indexed(memory, "two"), expected_revision=1, at=NOW)
        await give_token_embeddings(finder.store, {"two": signs(0x20)})
        assert await found(finder, {memory.id: 0}) == {memory.id: [[0, 0x20]]}

    async def test_token_embeddings_can_be_read_twice(self, finder: Finder) -> None:
        memory = await stored(finder.store, indexed(a_memory(), "one", "two"))
        await give_token_embeddings(finder.store, {"one": signs(0x10), "two": signs(0x20)})
        for _ in range(2):
            assert await found(finder, {memory.id: 0}) == {memory.id: [[0, 0x10]]}
            assert await found(finder, {memory.id: 1}) == {memory.id: [[0, 0x20]]}

    async def test_token_embeddings_stored_after_their_vector_are_read(self, finder: Finder) -> None:
        memory = await stored(finder.store, indexed(a_memory(), "one"))
        await give_token_embeddings(finder.store, {"one": None})
        assert await found(finder, {memory.id: 0}) == {}
        (cue,) = await finder.store.pending(SCOPE, MODEL, limit=10, now=NOW, token_embeddings=True)
        await finder.store.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, A_VECTOR, False, signs(0x10))], at=NOW)
        assert await found(finder, {memory.id: 0}) == {memory.id: [[0, 0x10]]}

    async def test_a_cue_that_is_not_there_has_none(self, finder: Finder) -> None:
        await remember(finder.store, indexed(a_memory(), "one"))
        await give_token_embeddings(finder.store, {"one": signs(0x10)})
        assert await finder.token_embeddings(READER, MODEL, [10**9]) == {}
