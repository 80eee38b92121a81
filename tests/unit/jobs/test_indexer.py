from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from contexts import a_context
from numpy.typing import NDArray

from remembrancer import AsyncRemembrancer, Remembrancer, Settings, StoreUnavailable
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Scope
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.index import BATCH
from remembrancer.errors import ModelUnavailable
from remembrancer.index.resident import ResidentIndex
from remembrancer.jobs.indexer import NOT_KEPT, Indexer, IndexReport
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.ports.embeddings import CueVector, PendingCue
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import READER, SCOPE, FailingEmbedder, FixedClock, HashEmbedder, SequentialIds

T = TypeVar("T")
PATIENCE = 20.0
"""Seconds until a test that waits for what never happens gives up."""


class Signalling(ReferenceStore):
    """Tells when vectors were written, and may be away for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Semaphore(0)
        self.asked = asyncio.Semaphore(0)
        self.errors: list[Exception] = []

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        self.asked.release()
        if self.errors:
            raise self.errors.pop(0)
        return await super().pending(
            scope, model, limit=limit, now=now, before=before, token_embeddings=token_embeddings
        )

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        new = await super().put_vectors(scope, model, vectors, at=at, relations=relations)
        self.written.release()
        return new


class Slow(HashEmbedder):
    """An embedder whose calls never end."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.begun.set()
        await asyncio.Event().wait()
        return await super().embed_documents(texts)


class Picky(HashEmbedder):
    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if any("poison" in text for text in texts):
            raise ModelUnavailable("cannot read this")
        return await super().embed_documents(texts)


def run(steps: Callable[[Context, Signalling], Awaitable[T]], embedder: Embedder | None = None) -> T:
    async def main() -> T:
        return await asyncio.wait_for(steps(context(embedder or HashEmbedder()), store), PATIENCE)

    def context(embedder: Embedder) -> Context:
        ids = SequentialIds()
        return Context(
            store=store,
            index=ResidentIndex(),
            embedder=embedder,
            without_embedder="",
            preset=DEFAULT,
            clock=FixedClock(),
            stopwatch=lambda: 0.0,
            new_id=lambda _: ids(),
        )

    store = Signalling()
    return asyncio.run(main())


async def observed(ctx: Context, *texts: str) -> None:
    await record.observe(ctx, SCOPE, [EventDraft(text=text) for text in texts])


async def vectors(ctx: Context) -> int:
    return sum((await ctx.store.stats(READER)).vectors.values())


def test_a_sweep_runs_to_the_end() -> None:
    async def steps(ctx: Context, _: Signalling) -> tuple[IndexReport, int]:
        await observed(ctx, *(f"text {n}" for n in range(150)))
        return await Indexer(ctx, SCOPE).run(), await vectors(ctx)

    assert run(steps) == (IndexReport(indexed=150, deferred=0), 150)


def test_a_sweep_reports_its_progress() -> None:
    told: list[int] = []

    async def steps(ctx: Context, _: Signalling) -> None:
        await observed(ctx, *(f"text {n}" for n in range(2 * BATCH + 22)))
        await Indexer(ctx, SCOPE).run(told.append)

    run(steps)
    assert told == [BATCH, 2 * BATCH, 2 * BATCH + 22]


def test_a_sweep_without_work_reports_it() -> None:
    async def steps(ctx: Context, _: Signalling) -> IndexReport:
        return await Indexer(ctx, SCOPE).run()

    assert run(steps) == IndexReport(indexed=0, deferred=0, reason="nothing waits")


def test_a_sweep_reports_failures_with_reasons() -> None:
    async def steps(ctx: Context, _: Signalling) -> tuple[IndexReport, int]:
        await observed(ctx, *(f"text {n}" for n in range(70)), "poison")
        return await Indexer(ctx, SCOPE).run(), await vectors(ctx)

    assert run(steps, Picky()) == (IndexReport(indexed=70, deferred=1, reason="cannot read this"), 70)


def test_a_sweep_ends_when_the_embedder_is_down() -> None:
    async def steps(ctx: Context, _: Signalling) -> IndexReport:
        await observed(ctx, *(f"text {n}" for n in range(70)))
        return await Indexer(ctx, SCOPE).run()

    expected = IndexReport(indexed=0, deferred=0, reason="the model does not answer", down=True)
    assert run(steps, FailingEmbedder()) == expected


class Forgetful(Signalling):
    """Accepts vectors and does not store them, as a file with damaged indexes may."""

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        return 0


def test_a_sweep_ends_though_the_store_keeps_nothing() -> None:
    async def swept() -> IndexReport:
        ctx = a_context(Forgetful(), DEFAULT, embedder=HashEmbedder())
        await observed(ctx, "one", "two")
        return await asyncio.wait_for(Indexer(ctx, SCOPE).run(), PATIENCE)

    assert asyncio.run(swept()) == IndexReport(indexed=0, deferred=2, reason=NOT_KEPT)


def test_two_sweeps_of_one_indexer_at_once_do_the_work_once() -> None:
    async def steps(ctx: Context, _: Signalling) -> list[int]:
        await observed(ctx, *(f"text {n}" for n in range(150)))
        indexer = Indexer(ctx, SCOPE)
        return sorted(report.indexed for report in await asyncio.gather(indexer.run(), indexer.run()))

    assert run(steps) == [0, 150]


def test_two_indexers_on_one_store_leave_each_text_one_vector(tmp_path: Path) -> None:
    settings = Settings(db=str(tmp_path / "a.db"), background_index=False)

    async def steps() -> tuple[dict[str, int], int]:
        async with (
            await AsyncRemembrancer.open(settings=settings, embedder=HashEmbedder()) as one,
            await AsyncRemembrancer.open(settings=settings, embedder=HashEmbedder()) as other,
        ):
            await one.observe_many({"text": f"text {n}"} for n in range(300))
            await asyncio.gather(one.jobs.index_now(), other.jobs.index_now())
            answer = await other.recall("text", limit=200)
            return dict((await one.health.stats()).vectors), len({hit.id for hit in answer})

    assert asyncio.run(steps()) == ({"hash-256": 300}, 200)


def test_the_background_task_indexes_memories_that_were_already_waiting() -> None:
    async def steps(ctx: Context, store: Signalling) -> int:
        await observed(ctx, "one")
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        await store.written.acquire()
        await indexer.stop()
        return await vectors(ctx)

    assert run(steps) == 1


def test_the_background_task_wakes_on_new_work() -> None:
    async def steps(ctx: Context, store: Signalling) -> int:
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        await store.asked.acquire()
        for text in ("one", "two"):
            await observed(ctx, text)
            indexer.wake()
            await store.written.acquire()
        await indexer.stop()
        return await vectors(ctx)

    assert run(steps) == 2


def test_work_that_comes_during_a_sweep_is_not_forgotten() -> None:
    class Interrupted(HashEmbedder):
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def embed_documents(self, texts: Sequence[str]) -> Embedded:
            self.begun.set()
            await self.go_on.wait()
            return await super().embed_documents(texts)

    embedder = Interrupted()

    async def steps(ctx: Context, store: Signalling) -> int:
        await observed(ctx, "one")
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        await embedder.begun.wait()
        await observed(ctx, "two")
        indexer.wake()
        embedder.go_on.set()
        await store.written.acquire()
        await store.written.acquire()
        await indexer.stop()
        return await vectors(ctx)

    assert run(steps, embedder) == 2


def test_stopping_in_the_middle_of_a_batch_leaves_it_to_the_next_sweep() -> None:
    embedder = Slow()

    async def steps(ctx: Context, store: Signalling) -> list[int]:
        await observed(ctx, "one", "two")
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        await embedder.begun.wait()
        await indexer.stop()
        left = await vectors(ctx)
        waiting = await store.pending(SCOPE, "hash-256", limit=10, now=ctx.clock())
        return [left, len(waiting)]

    assert run(steps, embedder) == [0, 2]


def test_stopping_as_work_comes_is_not_lost() -> None:
    async def steps(ctx: Context, store: Signalling) -> bool:
        indexer = Indexer(ctx, SCOPE)
        for _ in range(20):
            indexer.start()
            await store.asked.acquire()
            indexer.wake()
            await indexer.stop()
        return True

    assert run(steps)


def test_stopping_twice_or_before_the_start_is_harmless() -> None:
    async def steps(ctx: Context, _: Signalling) -> bool:
        indexer = Indexer(ctx, SCOPE)
        await indexer.stop()
        indexer.start()
        await indexer.stop()
        await indexer.stop()
        return True

    assert run(steps)


def test_starting_twice_starts_one_task() -> None:
    async def steps(ctx: Context, _: Signalling) -> int:
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        indexer.start()
        names = [task.get_name() for task in asyncio.all_tasks()]
        await indexer.stop()
        return names.count("remembrancer-indexer")

    assert run(steps) == 1


@pytest.mark.parametrize("error", [StoreUnavailable("locked"), RuntimeError("a fault of ours"), OSError("disk")])
def test_an_error_of_the_store_does_not_end_the_background_task(error: Exception) -> None:
    async def steps(ctx: Context, store: Signalling) -> tuple[str, int, str]:
        store.errors = [error]
        await observed(ctx, "one")
        indexer = Indexer(ctx, SCOPE)
        indexer.start()
        await store.asked.acquire()
        said = indexer.last_error
        indexer.wake()
        await store.written.acquire()
        await indexer.stop()
        return said, await vectors(ctx), indexer.last_error

    assert run(steps) == (str(error), 1, "")


def test_an_error_of_the_store_is_raised_to_the_caller_of_the_sweep() -> None:
    async def steps(ctx: Context, store: Signalling) -> None:
        store.errors = [StoreUnavailable("locked")]
        await Indexer(ctx, SCOPE).run()

    with pytest.raises(StoreUnavailable, match="locked"):
        run(steps)


class Broken(HashEmbedder):
    """Raises an error that an embedder must not raise."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.asked.set()
        raise ZeroDivisionError


def test_a_memory_whose_embedder_is_broken_closes_all_the_same() -> None:
    async def steps() -> bool:
        embedder = Broken()
        rem = await AsyncRemembrancer.open(settings=Settings(db=":memory:"), embedder=embedder)
        await rem.observe("one")
        await asyncio.wait_for(embedder.asked.wait(), PATIENCE)
        await rem.close()
        with pytest.raises(StoreUnavailable):
            await rem.health.stats()
        return True

    assert asyncio.run(steps())


def test_without_an_embedder_no_task_is_started() -> None:
    async def steps() -> list[str]:
        async with await AsyncRemembrancer.open(settings=Settings(db=":memory:"), embedder="none") as rem:
            await rem.observe("one")
            return [task.get_name() for task in asyncio.all_tasks()]

    assert "remembrancer-indexer" not in asyncio.run(steps())


def test_without_an_embedder_a_sweep_reports_it() -> None:
    async def steps() -> IndexReport:
        async with await AsyncRemembrancer.open(settings=Settings(db=":memory:"), embedder="none") as rem:
            return await rem.jobs.index_now()

    expected = IndexReport(indexed=0, deferred=0, reason="no embedder: lexical recall only, as asked for")
    assert asyncio.run(steps()) == expected


# ── anew ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Renamed(HashEmbedder):
    """A model with changed vectors under the same name."""

    @property
    def model_id(self) -> str:
        return HashEmbedder(16).model_id


class Down(Renamed):
    async def embed_query(self, text: str) -> NDArray[np.float32]:
        raise ModelUnavailable("the model does not answer")


def reopened(path: Path, embedder: HashEmbedder) -> Remembrancer:
    return Remembrancer.open(str(path), embedder=embedder, settings={"background_index": False})


def similarities(rem: Remembrancer) -> list[float | None]:
    return [hit.explanation.signals["similarity"] for hit in rem.recall("which kestrel was it?")]


@pytest.fixture
def of_old_model(tmp_path: Path) -> Path:
    """A store with vectors of a model that has another dimension now."""
    with reopened(tmp_path / "store.db", HashEmbedder(16)) as rem:
        rem.observe_many([{"text": "a kestrel"}, {"text": "another kestrel"}])
        rem.jobs.index_now()
    return tmp_path / "store.db"


def test_reindexing_makes_every_vector_again(of_old_model: Path) -> None:
    done: list[int] = []
    with reopened(of_old_model, Renamed(32)) as rem:
        assert rem.jobs.index_now().indexed == 0
        assert rem.jobs.reindex(on_indexed=done.append).indexed == 2
        assert len(similarities(rem)) == 2
        assert None not in similarities(rem)
    assert done == [2]


def test_an_index_in_memory_of_another_process_follows(of_old_model: Path) -> None:
    with reopened(of_old_model, HashEmbedder(16)) as rem:
        before = similarities(rem)
        with reopened(of_old_model, HashEmbedder(16)) as other:
            other.jobs.reindex()
        assert similarities(rem) == before


def test_nothing_is_dropped_where_the_embedder_does_not_answer(of_old_model: Path) -> None:
    with reopened(of_old_model, Down(32)) as rem:
        with pytest.raises(ModelUnavailable, match="does not answer"):
            rem.jobs.reindex()
        assert rem.health.stats().vectors == {"hash-16": 2}


def test_without_an_embedder_there_is_nothing_to_reindex_by(of_old_model: Path) -> None:
    with Remembrancer.open(str(of_old_model), embedder="none") as rem, pytest.raises(ModelUnavailable):
        rem.jobs.reindex()
