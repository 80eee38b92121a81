from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import Cue, MemoryWrite
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.index import PLAIN_TEXT, Swept, index_batch
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.encoding import Encoding
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import (
    READER,
    SCOPE,
    FailingEmbedder,
    FixedClock,
    HashEmbedder,
    SequentialIds,
    a_memory,
    an_indexed_cue,
)

T = TypeVar("T")


class Picky(HashEmbedder):
    """Fails on any batch with a text that says so; remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[list[str]] = []
        self.well = False

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.given.append(list(texts))
        if not self.well and any("poison" in text for text in texts):
            raise ModelUnavailable("cannot read this")
        return await super().embed_documents(texts)


def run(embedder: Embedder | None, steps: Callable[[Context, FixedClock], Awaitable[T]]) -> T:
    ids = SequentialIds()
    clock = FixedClock()
    ctx = Context(
        store=ReferenceStore(),
        embedder=embedder,
        without_embedder="" if embedder else "no embedder",
        preset=DEFAULT,
        clock=clock,
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )

    async def main() -> T:
        return await steps(ctx, clock)

    return asyncio.run(main())


async def observed(ctx: Context, *texts: str) -> None:
    await record.observe(ctx, SCOPE, [EventDraft(text=text) for text in texts])


async def vectors(ctx: Context) -> int:
    return sum((await ctx.store.stats(READER)).vectors.values())


def test_a_batch_is_as_large_as_asked_for() -> None:
    async def steps(ctx: Context, _: FixedClock) -> tuple[list[Swept], int]:
        await observed(ctx, "one", "two", "three")
        return [await index_batch(ctx, SCOPE, batch=2) for _ in range(3)], await vectors(ctx)

    assert run(HashEmbedder(), steps) == ([Swept(2, 0), Swept(1, 0), Swept(0, 0)], 3)


def test_without_an_embedder_there_is_nothing_to_do() -> None:
    async def steps(ctx: Context, _: FixedClock) -> Swept:
        await observed(ctx, "one")
        return await index_batch(ctx, SCOPE)

    swept = run(None, steps)
    assert (swept, swept.idle) == (Swept(0, 0), True)


def test_a_failing_text_waits_and_its_neighbours_do_not() -> None:
    async def steps(ctx: Context, _: FixedClock) -> tuple[Swept, int]:
        await observed(ctx, "one", "poison", "two")
        return await index_batch(ctx, SCOPE), await vectors(ctx)

    assert run(Picky(), steps) == (Swept(2, 1, "cannot read this"), 2)


def test_a_failing_text_alone_is_tried_once() -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> Swept:
        await observed(ctx, "poison")
        return await index_batch(ctx, SCOPE)

    assert run(embedder, steps) == Swept(0, 1, "cannot read this")
    assert embedder.given == [["poison"], [PLAIN_TEXT]]


def test_a_failing_text_is_tried_again_when_it_has_waited() -> None:
    embedder = Picky()

    async def steps(ctx: Context, clock: FixedClock) -> list[Swept]:
        await observed(ctx, "poison")
        swept = [await index_batch(ctx, SCOPE), await index_batch(ctx, SCOPE)]
        embedder.well = True
        clock.advance(timedelta(seconds=30))
        return [*swept, await index_batch(ctx, SCOPE)]

    assert run(embedder, steps) == [Swept(0, 1, "cannot read this"), Swept(0, 0), Swept(1, 0)]


def test_a_failing_text_does_not_block_newer_ones() -> None:
    async def steps(ctx: Context, clock: FixedClock) -> Swept:
        await observed(ctx, "poison", "poison too")
        await index_batch(ctx, SCOPE)
        clock.advance(timedelta(hours=1))
        await observed(ctx, "new")
        return await index_batch(ctx, SCOPE, batch=1)

    assert run(Picky(), steps) == Swept(1, 0)


def test_an_embedder_that_is_down_is_not_held_against_the_texts() -> None:
    async def steps(ctx: Context, clock: FixedClock) -> int:
        await observed(ctx, "one", "two")
        with pytest.raises(ModelUnavailable, match="the model does not answer"):
            await index_batch(ctx, SCOPE)
        return len(await ctx.store.pending(SCOPE, FailingEmbedder().model_id, limit=10, now=clock()))

    assert run(FailingEmbedder(), steps) == 2


@pytest.mark.parametrize(
    ("with_heading", "heading", "expected"),
    [
        (True, "Ana, Wednesday 4 March 2026", "Ana, Wednesday 4 March 2026: The deploy failed"),
        (True, "", "The deploy failed"),
        (False, "Ana, Wednesday 4 March 2026", "The deploy failed"),
    ],
)
def test_who_and_when_are_embedded_with_a_text_where_the_preset_says_so(
    with_heading: bool, heading: str, expected: str
) -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> None:
        ctx = replace(ctx, preset=replace(ctx.preset, encoding=Encoding(heading=with_heading)))
        memory = a_memory("The deploy failed")
        cue = Cue(memory_id=memory.id, ordinal=0, text=memory.text, heading=heading)
        await ctx.store.insert(SCOPE, MemoryWrite(memory, (an_indexed_cue(cue),)))
        await index_batch(ctx, SCOPE)

    run(embedder, steps)
    assert embedder.given == [[expected]]
