"""Contract of vectors: pending cues, storing, deferring and reading."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.erasure import Removal
from remembrancer.domain.memory import Cue, MemoryWrite
from remembrancer.domain.scope import Reader, Scope
from remembrancer.errors import EmbedderMismatch
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.jobs import MAX_ERROR_CHARS
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import (
    MODEL,
    StoreSuite,
    exported,
    give_vectors,
    holding,
    remember,
    stored,
    unchanged,
)
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.neighbours import memory_of
from remembrancer.testing.doubles import HIDDEN, NOW, NOWHERE, READER, SCOPE, a_memory, a_vector, an_event, indexed

ONE, TWO = bytes(16), bytes([1] * 16)
"""Digests."""


async def refs(store: Store, *, model: str = MODEL, now: datetime = NOW, limit: int = 100) -> list[int]:
    return [cue.ref for cue in await store.pending(SCOPE, model, limit=limit, now=now)]


async def waiting(store: Store, *, model: str = MODEL, now: datetime = NOW) -> list[str]:
    return sorted(cue.text for cue in await store.pending(SCOPE, model, limit=100, now=now))


class VectorContract(StoreSuite):
    cued = holding(lambda store: remember(store, indexed(a_memory(), "one")))

    async def test_a_cue_whose_vector_is_dropped_waits_again(self, cued: Store) -> None:
        await give_vectors(cued, {"one": a_vector(1, 0)})
        assert await waiting(cued) == []
        assert await cued.drop_vectors(SCOPE, MODEL) == 1
        assert await waiting(cued) == ["one"]

    async def test_dropped_vectors_may_come_back_with_another_dimension(self, cued: Store) -> None:
        await give_vectors(cued, {"one": a_vector(1, 0)})
        await cued.drop_vectors(SCOPE, MODEL)
        [ref] = await refs(cued)
        longer = np.eye(3, dtype=np.float32)[0]
        assert await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, longer, truncated=False)], at=NOW) == 1

    async def test_vectors_of_another_model_or_workspace_stay(self, cued: Store) -> None:
        await give_vectors(cued, {"one": a_vector(1, 0)})
        assert await cued.drop_vectors(SCOPE, "another") == 0
        assert await cued.drop_vectors(Scope(workspace="elsewhere"), MODEL) == 0
        assert await waiting(cued) == []

    async def test_a_dropped_failure_is_tried_again_at_once(self, cued: Store) -> None:
        await cued.defer_vectors(SCOPE, MODEL, await refs(cued), error="too long", now=NOW)
        assert await waiting(cued) == []
        await cued.drop_vectors(SCOPE, MODEL)
        assert await waiting(cued) == ["one"]

    async def test_new_cues_await_a_vector(self, store: Store) -> None:
        turn, memory = an_event("turn"), a_memory()
        cues = (
            Cue(memory_id=memory.id, ordinal=0, text="The deploy failed"),
            Cue(memory_id=memory.id, ordinal=1, text="at nine", heading="ana", event_id=turn.id),
        )
        write = MemoryWrite(memory, tuple(analysed(cue) for cue in cues))
        await store.append(SCOPE, [Entry(turn, write)])
        pending = await store.pending(SCOPE, MODEL, limit=10, now=NOW)
        assert {(cue.memory_id, cue.text, cue.heading) for cue in pending} == {
            (memory.id, "The deploy failed", ""),
            (memory.id, "at nine", "ana"),
        }

    async def test_the_pending_cue_of_a_turn_has_the_text_of_its_event(self, store: Store) -> None:
        turn = an_event("The pump leaks")
        write = memory_of(turn)
        await store.append(SCOPE, [Entry(turn, write)])
        assert await waiting(store) == ["The pump leaks"]
        assert [cue.text for cue in await store.pending_of(SCOPE, MODEL, write.memory.id)] == ["The pump leaks"]

    async def test_the_cue_of_a_turn_keeps_its_vector_when_its_memory_is_revised(self, store: Store) -> None:
        turn = an_event("The pump leaks")
        write = memory_of(turn)
        await store.append(SCOPE, [Entry(turn, write)])
        await give_vectors(store, {"The pump leaks": a_vector(1, 0)})
        later = replace(write, memory=replace(write.memory, text="The pump leaked"))
        await store.revise(SCOPE, later, expected_revision=1, at=NOW)
        assert await waiting(store) == []
        assert await store.cues(READER, [write.memory.id]) == {write.memory.id: (write.cues[0].cue,)}

    async def test_pending_cues_are_limited(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two", "three"))
        assert len(await refs(store, limit=2)) == 2

    async def test_the_pending_cues_of_one_memory_come_by_ordinal(self, store: Store) -> None:
        other, mine = a_memory("other"), a_memory()
        await remember(store, indexed(other, "zero"), indexed(mine, "one", "two", "three"))
        await give_vectors(store, {"two": a_vector(1, 0)})
        pending = await store.pending_of(SCOPE, MODEL, mine.id)
        assert [(cue.memory_id, cue.text) for cue in pending] == [(mine.id, "one"), (mine.id, "three")]

    async def test_a_cue_that_failed_is_pending_with_its_memory_at_once(self, store: Store) -> None:
        mine = await stored(store, indexed(a_memory(), "one"))
        (ref,) = await refs(store)
        await store.defer_vectors(SCOPE, MODEL, [ref], error="cannot read this", now=NOW)
        assert [cue.ref for cue in await store.pending_of(SCOPE, MODEL, mine.id)] == [ref]
        assert await refs(store) == []

    async def test_a_memory_that_is_not_there_has_no_pending_cues(self, store: Store) -> None:
        assert await store.pending_of(SCOPE, MODEL, a_memory().id) == ()

    async def test_a_cue_with_a_vector_awaits_none(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        assert await give_vectors(store, {"one": a_vector(1, 0)}) == 1
        assert await waiting(store) == ["two"]

    async def test_each_model_has_its_own_vectors(self, cued: Store) -> None:
        await give_vectors(cued, {"one": a_vector(1, 0)})
        assert await waiting(cued, model="model-b") == ["one"]
        assert await give_vectors(cued, {"one": a_vector(1, 2, 3)}, model="model-b") == 1
        stats = await cued.stats(READER)
        assert dict(stats.vectors) == {MODEL: 1, "model-b": 1}

    async def test_a_vector_once_stored_stays(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        assert await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(1, 0), False)], at=NOW) == 1
        assert await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(0, 1), True)], at=NOW) == 0
        vectors = await cued.vectors(READER, MODEL, [a_memory().id])
        assert vectors[a_memory().id].tolist() == [1, 0]

    async def test_the_vector_of_a_cue_that_there_is_not_is_left(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        assert await cued.put_vectors(SCOPE, MODEL, [CueVector(ref + 1_000, a_vector(1, 0), False)], at=NOW) == 0
        assert await waiting(cued) == ["one"]

    async def test_cues_of_an_earlier_revision_still_await_their_vectors(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one"))
        await store.revise(SCOPE, indexed(memory, "two"), expected_revision=1, at=NOW)
        assert await waiting(store) == ["one", "two"]
        assert [cue.text for cue in await store.pending_of(SCOPE, MODEL, memory.id)] == ["two"]
        await give_vectors(store, {"one": a_vector(1, 0)})
        assert await waiting(store) == ["two"]
        assert await store.vectors(READER, MODEL, [memory.id]) == {}

    async def test_revised_cues_await_new_vectors(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        await store.revise(SCOPE, indexed(memory, "two"), expected_revision=1, at=NOW)
        assert await waiting(store) == ["two"]
        assert sum((await store.stats(READER)).vectors.values()) == 0

    async def test_a_cue_that_a_revision_leaves_as_it_is_keeps_its_vector(self, store: Store) -> None:
        memory = await stored(store, indexed(a_memory(), "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0), "two": a_vector(0, 1)})
        await store.revise(SCOPE, indexed(memory, "one", "three"), expected_revision=1, at=NOW)
        assert await waiting(store) == ["three"]
        assert (await store.vectors(READER, MODEL, [memory.id]))[memory.id].tolist() == [1, 0]

    async def test_storing_no_vector_stores_none(self, store: Store) -> None:
        assert await store.put_vectors(SCOPE, MODEL, [], at=NOW) == 0

    async def test_a_vector_of_another_dimension_is_refused_with_its_batch(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two", "three"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        async with unchanged(store):
            two, three = await refs(store)
            with pytest.raises(EmbedderMismatch):
                await store.put_vectors(
                    SCOPE,
                    MODEL,
                    [CueVector(two, a_vector(0, 1), False), CueVector(three, a_vector(1, 2, 3), False)],
                    at=NOW,
                )

    async def test_a_first_batch_of_two_dimensions_is_refused(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        one, two = await refs(store)
        with pytest.raises(EmbedderMismatch):
            await store.put_vectors(
                SCOPE, MODEL, [CueVector(one, a_vector(0, 1), False), CueVector(two, a_vector(1, 2, 3), False)], at=NOW
            )
        assert await waiting(store) == ["one", "two"]

    async def test_a_truncated_text_is_counted(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        vectors = [CueVector(ref, a_vector(1, 0), n == 0) for n, ref in enumerate(await refs(store))]
        await store.put_vectors(SCOPE, MODEL, vectors, at=NOW)
        assert (await store.stats(READER)).truncated == 1

    async def test_the_caller_s_array_is_not_kept(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        vector = a_vector(1, 0)
        await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, vector, False)], at=NOW)
        vector[:] = np.array([0, 1], dtype=np.float32)
        vectors = await cued.vectors(READER, MODEL, [a_memory().id])
        assert vectors[a_memory().id].tolist() == [1, 0]

    async def test_a_vector_is_kept_with_when_it_was_made(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        at = NOW + timedelta(microseconds=9)
        await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(1, 0), False)], at=at)
        times = [row["indexed_at"] for row in await exported(cued) if row["record"] == "vector"]
        assert times == [at.isoformat(timespec="microseconds")]

    async def test_a_vector_is_found_by_the_digest_of_the_embedded_text(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two", "three"))
        one, two, three = await refs(store)
        vectors = [
            CueVector(one, a_vector(1, 0), True, digest=ONE),
            CueVector(two, a_vector(0, 1), False, digest=TWO),
            CueVector(three, a_vector(1, 1), False),
        ]
        await store.put_vectors(SCOPE, MODEL, vectors, at=NOW)
        found = await store.embedded(SCOPE, MODEL, {ONE, TWO, b"of nothing"})
        told = {key: (each.vector.tolist(), each.truncated, each.digest) for key, each in found.items()}
        assert told == {ONE: ([1, 0], True, ONE), TWO: ([0, 1], False, TWO)}

    async def test_a_digest_finds_vectors_of_its_model_and_workspace_alone(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(1, 0), False, digest=ONE)], at=NOW)
        assert await cued.embedded(SCOPE, "model-b", [ONE]) == {}
        assert await cued.embedded(replace(SCOPE, workspace="another"), MODEL, [ONE]) == {}

    async def test_a_digest_finds_one_of_many_equal_texts(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        vectors = [CueVector(ref, a_vector(1, 0), False, digest=ONE) for ref in await refs(store)]
        await store.put_vectors(SCOPE, MODEL, vectors, at=NOW)
        assert list(await store.embedded(SCOPE, MODEL, [ONE])) == [ONE]

    async def test_an_erased_vector_is_found_by_no_digest(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(1, 0), False, digest=ONE)], at=NOW)
        await cued.erase(SCOPE, Removal(memories=frozenset({a_memory().id})), a_receipt())
        assert await cued.embedded(SCOPE, MODEL, [ONE]) == {}

    async def _read(self, store: Store, *ids: UUID, reader: Reader = READER) -> dict[UUID, list[float]]:
        vectors = await store.vectors(reader, MODEL, ids)
        return {memory_id: vector.tolist() for memory_id, vector in vectors.items()}

    async def test_a_vector_comes_back_as_it_was_given(self, store: Store) -> None:
        vector = a_vector(*np.random.default_rng(3).normal(size=384))
        await remember(store, indexed(a_memory(), "one"))
        await give_vectors(store, {"one": vector})
        (read,) = (await store.vectors(READER, MODEL, [a_memory().id])).values()
        np.testing.assert_array_equal(read, vector, strict=True)

    async def test_the_first_cue_s_vector_is_the_memory_s(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two"))
        await give_vectors(store, {"two": a_vector(0, 1)})
        await give_vectors(store, {"one": a_vector(1, 0)})
        assert await self._read(store, a_memory().id) == {a_memory().id: [1.0, 0.0]}

    async def test_a_cue_without_a_vector_is_passed_over(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one", "two", "three"))
        await give_vectors(store, {"two": a_vector(0, 1), "three": a_vector(1, 0)})
        assert await self._read(store, a_memory().id) == {a_memory().id: [0.0, 1.0]}

    async def test_memories_without_a_vector_of_the_model_are_left_out(self, store: Store) -> None:
        await remember(store, indexed(a_memory(), "one"), indexed(a_memory("other"), "two"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        await give_vectors(store, {"two": a_vector(1, 0, 0)}, model="model-b")
        asked = [a_memory().id, a_memory("other").id, NOWHERE]
        assert set(await self._read(store, *asked)) == {a_memory().id}

    async def test_vectors_of_memories_that_the_reader_cannot_see_are_left_out(self, store: Store) -> None:
        await remember(store, indexed(HIDDEN, "one"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        assert await self._read(store, HIDDEN.id) == {}
        assert set(await self._read(store, HIDDEN.id, reader=Reader(HIDDEN.scope))) == {HIDDEN.id}

    async def test_vectors_of_very_many_memories_can_be_requested(self, cued: Store) -> None:
        await give_vectors(cued, {"one": a_vector(1, 0)})
        asked = [*(UUID(int=n) for n in range(40_000)), a_memory().id, a_memory().id]
        assert set(await self._read(cued, *asked)) == {a_memory().id}

    async def test_asking_for_no_memory_reads_no_vector(self, store: Store) -> None:
        assert await self._read(store) == {}

    async def test_a_failed_cue_waits_thirty_seconds(self, cued: Store) -> None:
        await cued.defer_vectors(SCOPE, MODEL, await refs(cued), error="no answer", now=NOW)
        assert await waiting(cued, now=NOW + timedelta(seconds=29)) == []
        assert await waiting(cued, now=NOW + timedelta(seconds=30)) == ["one"]

    async def test_the_wait_doubles_up_to_a_day(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        now = NOW
        waits: list[timedelta] = []
        for tries in range(40):
            await cued.defer_vectors(SCOPE, MODEL, [ref], error="no answer", now=now)
            wait = min(timedelta(seconds=30) * 2 ** min(tries, 20), timedelta(days=1))
            assert await waiting(cued, now=now + wait - timedelta(microseconds=1)) == []
            assert await waiting(cued, now=now + wait) == ["one"]
            waits.append(wait)
            now += wait
        assert waits[:3] == [timedelta(seconds=30), timedelta(seconds=60), timedelta(seconds=120)]

    async def test_a_failing_cue_does_not_block_newer_ones(self, store: Store) -> None:
        await remember(store, indexed(a_memory("bad"), "bad"))
        await store.defer_vectors(SCOPE, MODEL, await refs(store), error="no answer", now=NOW)
        await remember(store, indexed(a_memory("good"), "good"))
        pending = await store.pending(SCOPE, MODEL, limit=1, now=NOW)
        assert [cue.text for cue in pending] == ["good"]

    async def test_failed_cues_are_listed_with_the_last_error_until_they_have_a_vector(self, store: Store) -> None:
        memory = a_memory("two")
        await remember(store, indexed(a_memory("one", memory_id=UUID(int=1))), indexed(memory, "first", "second"))
        _, _, second = await refs(store)
        for error in ("no answer", "x" * 9_999):
            await store.defer_vectors(SCOPE, MODEL, [second], error=error, now=NOW)
        (failed,) = await store.failed_vectors(SCOPE, MODEL, limit=9)
        assert (failed.memory_id, failed.ordinal, failed.attempts) == (memory.id, 1, 2)
        assert (failed.error, failed.retry_at) == ("x" * MAX_ERROR_CHARS, NOW + timedelta(seconds=60))
        assert await store.failed_vectors(SCOPE, "model-b", limit=9) == ()
        await store.put_vectors(SCOPE, MODEL, [CueVector(second, a_vector(1, 0), False)], at=NOW)
        assert await store.failed_vectors(SCOPE, MODEL, limit=9) == ()

    async def test_of_failed_cues_the_next_to_be_tried_come_first(self, store: Store) -> None:
        await remember(store, *(indexed(a_memory(f"{n}", memory_id=UUID(int=n))) for n in (1, 2, 3)))
        first, second, third = await refs(store)
        for ref, tries in ((first, 3), (second, 1), (third, 2)):
            for _ in range(tries):
                await store.defer_vectors(SCOPE, MODEL, [ref], error="no answer", now=NOW)
        failed = await store.failed_vectors(SCOPE, MODEL, limit=2)
        assert [one.memory_id.int for one in failed] == [2, 3]

    async def test_another_model_need_not_wait(self, cued: Store) -> None:
        await cued.defer_vectors(SCOPE, MODEL, await refs(cued), error="no answer", now=NOW)
        assert await waiting(cued, model="model-b") == ["one"]

    async def test_a_deferred_cue_takes_its_vector_when_it_comes(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        await cued.defer_vectors(SCOPE, MODEL, [ref], error="no answer", now=NOW)
        assert await cued.put_vectors(SCOPE, MODEL, [CueVector(ref, a_vector(1, 0), False)], at=NOW) == 1
        assert await waiting(cued, now=NOW + timedelta(days=9)) == []

    async def test_a_revised_cue_starts_again(self, store: Store) -> None:
        memory = await stored(store, a_memory("one"))
        await store.defer_vectors(SCOPE, MODEL, await refs(store), error="no answer", now=NOW)
        await store.revise(SCOPE, indexed(replace(memory, text="two")), expected_revision=1, at=NOW)
        assert await waiting(store) == ["two"]

    async def test_deferring_a_cue_that_has_gone_does_nothing(self, cued: Store) -> None:
        (ref,) = await refs(cued)
        await cued.defer_vectors(SCOPE, MODEL, [ref + 1_000], error="no answer", now=NOW)
        assert await waiting(cued) == ["one"]
