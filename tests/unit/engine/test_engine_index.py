from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.event import EventDraft, Role
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Cue, MemoryDraft, MemoryWrite
from remembrancer.engine import record
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import erase
from remembrancer.engine.index import PLAIN_TEXT, Swept, index_batch, index_memory
from remembrancer.errors import ModelUnavailable, NotFound
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.ranking.late_interaction import packed
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, Embedder, Passage
from remembrancer.ports.quantised import rounded
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.contract.base import stored_token_embeddings
from remembrancer.testing.doubles import (
    READER,
    SCOPE,
    FailingEmbedder,
    FixedClock,
    HashEmbedder,
    SequentialIds,
    WordHashEmbedder,
    a_memory,
    indexed,
)

T = TypeVar("T")

PLAIN = replace(DEFAULT, encoding=Encoding())
"""Each text is embedded by itself."""


every_store = pytest.mark.parametrize("make", STORES.values(), ids=STORES)
Make = Callable[[], Store]


class Picky(HashEmbedder):
    """Fails on any batch with a marked text; records its inputs."""

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
        index=ResidentIndex(),
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


def test_a_batch_is_as_large_as_requested() -> None:
    async def steps(ctx: Context, _: FixedClock) -> tuple[list[Swept], int]:
        await observed(ctx, "one", "two", "three")
        return [await index_batch(ctx, SCOPE, batch=2) for _ in range(3)], await vectors(ctx)

    assert run(HashEmbedder(), steps) == ([Swept(2, 0), Swept(1, 0), Swept(0, 0)], 3)


class Counting(WordHashEmbedder):
    """Records the texts that it embedded, and their contexts."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[str, str | None]] = []

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.given += [(text, None) for text in texts]
        return await super().embed_documents(texts)

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        self.given += [(passage.text, passage.context) for passage in passages]
        return await super().embed_passages(passages)


@every_store
def test_an_equal_text_is_embedded_once_and_each_cue_has_its_vector(make: Make) -> None:
    embedder = Counting()

    async def steps(store: Store) -> tuple[list[Swept], int]:
        ctx = a_context(store, PLAIN, embedder=embedder)
        swept = list[Swept]()
        for texts in (("tea", "tea", "rent"), ("tea",)):
            await observed(ctx, *texts)
            swept.append(await index_batch(ctx, SCOPE))
        return swept, await vectors(ctx)

    assert over(make, steps) == ([Swept(3, 0, reused=1), Swept(1, 0, reused=1)], 4)
    assert embedder.given == [("tea", None), ("rent", None)]


@every_store
def test_a_vector_that_was_taken_over_is_the_same_with_its_token_embeddings(make: Make) -> None:
    async def steps(store: Store) -> tuple[bool, bool]:
        ctx = a_context(store, replace(PLAIN, encoding=Encoding(token_embeddings=True)), embedder=WordHashEmbedder())
        notes = [a_memory("tea at five", memory_id=UUID(int=number)) for number in (1, 2)]
        tokens = list[list[list[int]]]()
        for note in notes:
            await store.insert(SCOPE, indexed(note))
            await index_batch(ctx, SCOPE)
            signs = await stored_token_embeddings(store, {note.id: 0}, model=WordHashEmbedder().model_id)
            tokens += [each.tolist() for each in signs.values()]
        found = await store.vectors(READER, WordHashEmbedder().model_id, [note.id for note in notes])
        one, two = (found[note.id].tolist() for note in notes)
        return one == two, len(tokens) == 2 and tokens[0] == tokens[1] != []

    assert over(make, steps) == (True, True)


def test_a_text_in_another_context_is_embedded_again() -> None:
    embedder = Counting()

    async def steps(store: Store) -> int:
        ctx = a_context(store, replace(PLAIN, encoding=Encoding(turns=1)), embedder=embedder)
        said = [("Tea?", "ana"), ("Yes", "ben"), ("Rent?", "ana"), ("Yes", "ben")]
        await record.observe(ctx, SCOPE, [EventDraft(text=text, actor=by, role=Role.USER) for text, by in said])
        return (await index_batch(ctx, SCOPE)).reused

    assert over(STORES["reference"], steps) == 0
    assert [before for text, before in embedder.given if text == "Yes" and before] == [
        "ana: Tea? ben: ",
        "ana: Rent? ben: ",
    ]


@every_store
def test_a_text_that_was_erased_is_embedded_again(make: Make) -> None:
    embedder = Counting()

    async def steps(store: Store) -> int:
        ctx = a_context(store, PLAIN, embedder=embedder)
        for _ in range(2):
            note, _ = await record.remember(ctx, SCOPE, MemoryDraft(text="tea at five"))
            await index_batch(ctx, SCOPE)
            await erase(
                ctx, Caller(scope=SCOPE, role="LEAD"), ErasureSelection(ids=frozenset({note.id})), dry_run=False
            )
        return len(embedder.given)

    assert over(make, steps) == 2


def test_vectors_outlive_the_process_that_made_them(tmp_path: Path) -> None:
    embedder = Counting()

    async def told(number: int) -> int:
        store = RelationalStore(SqliteFile(str(tmp_path / "memory.db")), analyse=analysed)
        ctx = a_context(store, PLAIN, embedder=embedder)
        await store.insert(SCOPE, indexed(a_memory("tea", memory_id=UUID(int=number))))
        swept = await index_batch(ctx, SCOPE)
        await store.close()
        return swept.reused

    assert [asyncio.run(told(number)) for number in (1, 2)] == [0, 1]
    assert embedder.given == [("tea", None)]


def test_a_sweep_takes_sixty_four_texts_at_a_time() -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> list[int]:
        await observed(ctx, *(f"turn {number}" for number in range(65)))
        return [(await index_batch(ctx, SCOPE)).indexed for _ in range(2)]

    assert run(embedder, steps) == [64, 1]
    assert [len(batch) for batch in embedder.given] == [64, 1]


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
def test_speaker_and_date_are_embedded_with_a_text_if_the_preset_says_so(
    with_heading: bool, heading: str, expected: str
) -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> None:
        ctx = replace(ctx, preset=replace(ctx.preset, encoding=Encoding(heading=with_heading)))
        memory = a_memory("The deploy failed")
        cue = Cue(memory_id=memory.id, ordinal=0, text=memory.text, heading=heading)
        await ctx.store.insert(SCOPE, MemoryWrite(memory, (analysed(cue),)))
        await index_batch(ctx, SCOPE)

    run(embedder, steps)
    assert embedder.given == [[expected]]


# ── read in context ──────────────────────────────────────────────────────────────────────────────────────────────────


class Reading(WordHashEmbedder):
    """Gives token embeddings; records its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.passages: list[Passage] = []
        self.texts: list[str] = []

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        self.passages += passages
        return await super().embed_passages(passages)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.texts += texts
        return await super().embed_documents(texts)


async def swept(ctx: Context, encoding: Encoding, *said: EventDraft) -> list[UUID]:
    """Observe these and embed them; their memories in their order."""
    ctx = replace(ctx, preset=replace(ctx.preset, encoding=encoding))
    events = await record.observe(ctx, SCOPE, said)
    await index_batch(ctx, SCOPE)
    return [derived_id(one.event.id, "memory") for one in events]


TALK = (
    EventDraft(text="Good morning", actor="Ana"),
    EventDraft(text="backup finished", actor="cron", role=Role.TOOL),
    EventDraft(text="said by nobody"),
    EventDraft(text="Which port?", actor="Ben"),
    EventDraft(text="It is 8080", actor="Ana", role=Role.ASSISTANT),
)


def test_a_turn_is_read_after_the_turns_before_it() -> None:
    embedder = Reading()
    run(embedder, lambda ctx, _: swept(ctx, Encoding(turns=3), *TALK))
    assert {passage.text: passage.context for passage in embedder.passages} == {
        "Good morning": "Ana: ",
        "backup finished": "",
        "said by nobody": "",
        "Which port?": "Ana: Good morning Ben: ",
        "It is 8080": "Ana: Good morning Ben: Which port? Ana: ",
    }


def test_a_turn_is_embedded_with_at_most_the_presets_number_of_preceding_turns() -> None:
    embedder = Reading()
    run(embedder, lambda ctx, _: swept(ctx, Encoding(turns=1, chars=9), *TALK))
    assert embedder.passages[-1] == Passage("It is 8080", "Ana", (("Ben", "Which port?"),), chars=9)


def test_where_only_words_are_kept_a_turn_is_read_after_nothing() -> None:
    embedder = Reading()
    run(embedder, lambda ctx, _: swept(ctx, Encoding(token_embeddings=True), *TALK))
    assert {passage.context for passage in embedder.passages} == {""}


def test_preceding_turns_change_the_stored_vector() -> None:
    async def steps(ctx: Context, _: FixedClock) -> list[float]:
        (first,) = await swept(ctx, Encoding(turns=3), EventDraft(text="Good morning", actor="Ana"))
        (stored,) = (await ctx.store.vectors(READER, "hash-256", [first])).values()
        expected = await WordHashEmbedder().embed_passages([Passage("Good morning", "Ana")])
        plain = await WordHashEmbedder().embed_query("Good morning")
        assert (stored != plain).any()
        return (stored - rounded(expected.vectors[0])).tolist()

    assert run(Reading(), steps) == [0.0] * 256


def test_the_heading_precedes_a_text_that_is_embedded_in_context_too() -> None:
    embedder = Reading()
    run(
        embedder,
        lambda ctx, _: swept(ctx, Encoding(heading=True, token_embeddings=True), EventDraft(text="one", actor="Ana")),
    )
    assert [passage.text for passage in embedder.passages] == ["Ana, Wednesday 4 March 2026: one"]


def test_token_embeddings_are_stored_by_their_signs_if_the_preset_says_so() -> None:
    async def steps(ctx: Context, _: FixedClock) -> tuple[list[list[int]], list[list[int]]]:
        (memory,) = await swept(ctx, Encoding(token_embeddings=True), EventDraft(text="kestrel barn"))
        (signs,) = (await stored_token_embeddings(ctx.store, {memory: 0}, model="hash-256")).values()
        (expected,) = (await WordHashEmbedder().embed_passages([Passage("kestrel barn")])).token_embeddings
        return signs.tolist(), packed(expected).tolist()

    stored, expected = run(Reading(), steps)
    assert (stored, len(stored)) == (expected, 2)


def test_of_a_long_text_fewer_token_embeddings_are_stored() -> None:
    text = "The kestrel of the barn was in the barn. " * 10

    async def steps(ctx: Context, _: FixedClock) -> int:
        (memory,) = await swept(ctx, Encoding(token_embeddings=True), EventDraft(text=text))
        (signs,) = (await stored_token_embeddings(ctx.store, {memory: 0}, model="hash-256")).values()
        return len(signs)

    assert run(Reading(), steps) == 2  # "kestrel" and "barn"


@pytest.mark.parametrize("encoding", [Encoding(), Encoding(turns=3), Encoding(heading=True)])
def test_no_vectors_of_words_are_kept_otherwise(encoding: Encoding) -> None:
    async def steps(ctx: Context, _: FixedClock) -> int:
        (memory,) = await swept(ctx, encoding, EventDraft(text="kestrel barn"))
        assert await vectors(ctx) == 1
        return len(await stored_token_embeddings(ctx.store, {memory: 0}, model="hash-256"))

    assert run(Reading(), steps) == 0


def test_where_nothing_is_read_in_context_texts_are_embedded_as_by_any_embedder() -> None:
    embedder = Reading()
    run(embedder, lambda ctx, _: swept(ctx, Encoding(), EventDraft(text="kestrel barn", actor="Ana")))
    assert (embedder.passages, embedder.texts) == ([], ["kestrel barn"])


def test_an_embedder_that_gives_no_vectors_of_words_embeds_the_text_alone() -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> int:
        memories = await swept(ctx, Encoding(turns=3, token_embeddings=True), *TALK)
        return len(await stored_token_embeddings(ctx.store, dict.fromkeys(memories, 0), model="hash-256"))

    assert run(embedder, steps) == 0
    assert embedder.given == [[draft.text for draft in TALK]]


def test_a_text_without_a_word_is_kept_without_words() -> None:
    async def steps(ctx: Context, _: FixedClock) -> list[tuple[int, ...]]:
        (memory,) = await swept(ctx, Encoding(token_embeddings=True), EventDraft(text="…"))
        return [
            signs.shape for signs in (await stored_token_embeddings(ctx.store, {memory: 0}, model="hash-256")).values()
        ]

    assert run(Reading(), steps) == [(0, 32)]


# ── one memory, now ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_memory_is_indexed_before_all_that_wait() -> None:
    async def steps(ctx: Context, _: FixedClock) -> tuple[Swept, int]:
        await observed(ctx, "one", "two")
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="at once"))
        swept = await index_memory(ctx, READER, memory.id)
        return swept, len(await ctx.store.vectors(READER, "hash-256", [memory.id]))

    assert run(HashEmbedder(), steps) == (Swept(1, 0), 1)


def test_indexing_one_memory_touches_no_other() -> None:
    async def steps(ctx: Context, _: FixedClock) -> int:
        await observed(ctx, "one", "two")
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="at once"))
        await index_memory(ctx, READER, memory.id)
        return await vectors(ctx)

    assert run(HashEmbedder(), steps) == 1


def test_a_memory_that_is_indexed_is_not_embedded_again() -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> Swept:
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="at once"))
        await index_memory(ctx, READER, memory.id)
        embedder.given.clear()
        return await index_memory(ctx, READER, memory.id)

    assert (run(embedder, steps), embedder.given) == (Swept(0, 0), [])


def test_a_memory_that_failed_is_tried_at_once_when_it_is_requested() -> None:
    embedder = Picky()

    async def steps(ctx: Context, _: FixedClock) -> list[int]:
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="poison"))
        await index_batch(ctx, SCOPE)
        embedder.well = True
        return [(await index_batch(ctx, SCOPE)).indexed, (await index_memory(ctx, READER, memory.id)).indexed]

    assert run(embedder, steps) == [0, 1]


def test_a_memory_that_cannot_be_embedded_now_raises_and_is_left_to_the_sweep() -> None:
    async def steps(ctx: Context, _: FixedClock) -> int:
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="at once"))
        with pytest.raises(ModelUnavailable):
            await index_memory(ctx, READER, memory.id)
        return len(await ctx.store.pending(SCOPE, "hash-256", limit=9, now=ctx.clock()))

    assert run(FailingEmbedder(), steps) == 1


def test_without_an_embedder_indexing_one_memory_is_an_error() -> None:
    async def steps(ctx: Context, _: FixedClock) -> Swept:
        memory, _new = await record.remember(ctx, SCOPE, MemoryDraft(text="at once"))
        return await index_memory(ctx, READER, memory.id)

    assert run(None, steps) == Swept(0, 0, "no embedder")


def test_a_memory_that_is_not_there_cannot_be_indexed() -> None:
    async def steps(ctx: Context, _: FixedClock) -> Swept:
        return await index_memory(ctx, READER, UUID(int=7))

    with pytest.raises(NotFound):
        run(HashEmbedder(), steps)
