"""What is said next to a turn: in its stream, in order, as far as it hangs together, and as the reader may see it.

Every turn here is said a minute after the one before it, if nothing else is told.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import pytest

from remembrancer.domain.event import Event
from remembrancer.domain.memory import Cue, MemoryWrite, Status
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.language.lexical import analyse
from remembrancer.policies.admission.formation import Formation, memory_of_event, turn_cue
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import BRIEF_TERMS, CONTEXT_GAP, SearchRequest, Store
from remembrancer.testing.contract.base import (
    BM25_TOLERANCE,
    EVERYTHING,
    StoreSuite,
    awaited,
    request,
)
from remembrancer.testing.contract.search import idf
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, an_event, an_indexed_cue, indexed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MINUTE: Final = timedelta(minutes=1)
BEN: Final = Reader(replace(SCOPE, agent="ben"))
ELSEWHERE: Final = {
    "session": replace(SCOPE, session="tuesday"),
    "no session": replace(SCOPE, session=None),
    "agent": replace(SCOPE, agent="ben"),
    "crew": replace(SCOPE, crew="web"),
    "project": replace(SCOPE, project="shop"),
}
"""Other streams, by what tells them from the usual one."""
HEADING: Final = analyse("user, Wednesday 4 March 2026").terms
"""Who says a turn of these and when counts among its terms."""
HIDDEN: Final = ("filtered", "retired", "expired", "not known yet", "out of sight")


def turns(*texts: str, scope: Scope = SCOPE, start: timedelta = timedelta()) -> list[Event]:
    return [an_event(text, scope=scope, at=NOW + start + place * MINUTE) for place, text in enumerate(texts)]


def memory_of(event: Event) -> MemoryWrite:
    return memory_of_event(event, Formation())


def held_by(event: Event, *texts: str) -> list[MemoryWrite]:
    """A memory of each text, all made of the same event."""
    cues = [Cue(memory_id=a_memory(text).id, ordinal=0, text=text, event_id=event.id) for text in texts]
    return [MemoryWrite(a_memory(cue.text), (an_indexed_cue(cue),), (event.id,)) for cue in cues]


async def say(store: Store, *texts: str, scope: Scope = SCOPE, start: timedelta = timedelta()) -> list[Event]:
    said = turns(*texts, scope=scope, start=start)
    await store.append(scope, [Entry(event, memory_of(event)) for event in said])
    return said


async def ask(store: Store, name: str, asked: SearchRequest, *, reader: Reader = READER) -> dict[str, float]:
    """One column of the surroundings, by the memory's text."""
    found = await store.search(reader, asked)
    assert found.surroundings is not None
    values: NDArray[np.generic] = getattr(found.surroundings, name)
    assert values.shape == (len(found.ids),)
    texts = {memory.id: memory.text for memory in (await store.get(reader, found.ids)).values()}
    return {texts[memory_id]: float(value) for memory_id, value in zip(found.ids, values, strict=True)}


def about(*words: str, depth: int = 100) -> SearchRequest:
    return request(*words, depth=depth, surroundings=True)


def close(values: dict[str, float]) -> object:
    return pytest.approx(values, rel=BM25_TOLERANCE)


class NearbyContract(StoreSuite):
    @awaited
    async def test_a_word_counts_whole_in_the_next_turn_and_three_quarters_in_the_one_after(self, store: Store) -> None:
        await say(store, "heron", "barn", "owl", "kestrel", "roof", "nest", "wall")
        nearby = await ask(store, "nearby", about("kestrel"))
        assert nearby == close({"barn": 0.75, "owl": 1, "kestrel": 0, "roof": 1, "nest": 0.75})

    @awaited
    async def test_a_turn_s_own_words_are_not_around_it(self, store: Store) -> None:
        await say(store, "kestrel left", "kestrel right")
        assert await ask(store, "nearby", about("kestrel")) == {"kestrel left": 0, "kestrel right": 0}

    @awaited
    async def test_a_word_on_both_sides_counts_once(self, store: Store) -> None:
        await say(store, "kestrel left", "owl", "kestrel right")
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(1)

    @awaited
    async def test_a_word_beside_and_farther_counts_as_beside(self, store: Store) -> None:
        await say(store, "kestrel far", "kestrel near", "owl")
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(1)

    @awaited
    async def test_words_count_by_their_idf(self, store: Store) -> None:
        await say(store, "kestrel", "owl", "roof")
        await say(store, "kestrel again", scope=ELSEWHERE["session"])
        common, rare = idf(4, 2), idf(4, 1)
        nearby = await ask(store, "nearby", about("kestrel", "owl"))
        assert nearby == close({
            "kestrel": rare / (common + rare),
            "owl": common / (common + rare),
            "roof": (rare + 0.75 * common) / (common + rare),
            "kestrel again": 0,
        })  # fmt: skip

    @awaited
    async def test_a_word_that_nobody_said_lowers_the_share(self, store: Store) -> None:
        await say(store, "kestrel", "owl")
        nearby = await ask(store, "nearby", about("kestrel", "walrus"))
        assert nearby["owl"] == pytest.approx(idf(2, 1) / (idf(2, 1) + idf(2, 0)), rel=BM25_TOLERANCE)

    @awaited
    async def test_turns_of_the_longest_gap_belong_together(self, store: Store) -> None:
        await say(store, "kestrel")
        await say(store, "owl", start=CONTEXT_GAP)
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(1)

    @awaited
    async def test_a_longer_gap_parts_them_and_all_beyond(self, store: Store) -> None:
        await say(store, "kestrel", "owl")
        await say(store, "barn", "roof", start=MINUTE + CONTEXT_GAP + timedelta(microseconds=1))
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    @pytest.mark.parametrize("other", ELSEWHERE)
    def test_turns_of_another_stream_are_not_around(self, store: Store, other: str) -> None:
        async def try_it() -> None:
            await say(store, "kestrel")
            await say(store, "owl", "barn", scope=ELSEWHERE[other])
            await say(store, "roof", start=MINUTE)
            assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "roof": 1})

        self.runner.run(try_it())

    @awaited
    async def test_turns_stand_in_the_order_of_their_stream_whenever_they_were_said(self, store: Store) -> None:
        for text, minute in (("kestrel", 2), ("owl", 0), ("barn", 1)):
            await say(store, text, start=minute * MINUTE)
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1, "barn": 0.75})

    @awaited
    async def test_an_event_that_no_memory_holds_is_no_turn(self, store: Store) -> None:
        first, passed, last = turns("kestrel", "hm", "owl")
        await store.append(SCOPE, [Entry(first, memory_of(first)), Entry(passed), Entry(last, memory_of(last))])
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    @awaited
    async def test_an_event_that_becomes_a_memory_late_takes_its_place(self, store: Store) -> None:
        first, late, last = turns("kestrel", "barn", "owl")
        await store.append(SCOPE, [Entry(first, memory_of(first)), Entry(late), Entry(last, memory_of(last))])
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(1)
        await store.insert(SCOPE, memory_of(late))
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "barn": 1, "owl": 0.75})

    @awaited
    async def test_a_new_turn_counts_at_once(self, store: Store) -> None:
        await say(store, "kestrel")
        assert await ask(store, "nearby", about("kestrel")) == {"kestrel": 0}
        await say(store, "owl", start=MINUTE)
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    @awaited
    async def test_what_other_memories_of_an_event_say_is_said_in_the_same_turn(self, store: Store) -> None:
        event, after = turns("seen at noon", "roof")
        await store.append(SCOPE, [Entry(event), Entry(after, memory_of(after))])
        for write in held_by(event, "kestrel owl", "kestrel barn"):
            await store.insert(SCOPE, write)
        nearby = await ask(store, "nearby", about("kestrel", "owl"))
        assert nearby == close({"kestrel owl": 0, "kestrel barn": 0, "roof": 1})

    @awaited
    async def test_a_memory_whose_words_change_leaves_its_turn(self, store: Store) -> None:
        said = await say(store, "kestrel", "barn", "owl")
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(0.75)
        summary = replace(memory_of(said[1]).memory, text="summary")
        await store.revise(SCOPE, indexed(summary), expected_revision=1, at=NOW)
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    @awaited
    async def test_a_memory_may_come_back_to_its_turn(self, store: Store) -> None:
        said = await say(store, "kestrel", "barn", "owl")
        memory = memory_of(said[1]).memory
        await store.revise(SCOPE, indexed(replace(memory, text="summary")), expected_revision=1, at=NOW)
        assert (await ask(store, "nearby", about("kestrel")))["owl"] == pytest.approx(1)
        await store.revise(SCOPE, memory_of(said[1]), expected_revision=2, at=NOW)
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "barn": 1, "owl": 0.75})

    @awaited
    async def test_a_turn_stands_while_any_memory_of_its_event_does(self, store: Store) -> None:
        first, middle, last = turns("kestrel", "seen at noon", "owl")
        await store.append(SCOPE, [Entry(first, memory_of(first)), Entry(middle), Entry(last, memory_of(last))])
        one, two = held_by(middle, "barn", "roof")
        await store.insert(SCOPE, one)
        await store.insert(SCOPE, two)
        await store.revise(SCOPE, indexed(one.memory, "wall"), expected_revision=1, at=NOW)
        nearby = await ask(store, "nearby", about("kestrel"))
        assert nearby == close({"kestrel": 0, "roof": 1, "owl": 0.75})

    @awaited
    async def test_of_several_turns_of_a_memory_the_one_with_the_words_tells(self, store: Store) -> None:
        said = turns("heron", "kestrel", "owl", "wall", "wall again")
        await store.append(SCOPE, [Entry(event) for event in said])
        whole = a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate(said[:2]))
        await store.insert(SCOPE, MemoryWrite(whole, cues, tuple(event.id for event in said[:2])))
        await store.insert(SCOPE, memory_of(said[2]))
        nearby = await ask(store, "nearby", about("kestrel", "owl"))
        half = idf(3, 1) / (2 * idf(3, 1))
        assert nearby == close({"the whole of it": half, "owl": half})

    @awaited
    async def test_what_a_long_turn_says_is_around_nobody(self, store: Store) -> None:
        brief = " ".join(["kestrel", *(f"brief{n}" for n in range(BRIEF_TERMS - len(HEADING) - 1))])
        await say(store, brief, "owl")
        await say(store, f"{brief} longer", "barn", scope=ELSEWHERE["session"])
        nearby = await ask(store, "nearby", about("kestrel"))
        assert nearby == close({brief: 0, "owl": 1, f"{brief} longer": 0})

    @awaited
    async def test_a_long_turn_keeps_its_place_and_its_own_words(self, store: Store) -> None:
        long = " ".join(["kestrel", *(f"long{n}" for n in range(BRIEF_TERMS))])
        await say(store, "kestrel", long, "owl")
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, long: 0, "owl": 0.75})

    @awaited
    async def test_around_a_note_there_is_nothing(self, store: Store) -> None:
        await store.insert(SCOPE, indexed(a_memory("owl note")))
        await say(store, "kestrel")
        await store.insert(SCOPE, indexed(a_memory("barn note")))
        assert await ask(store, "nearby", about("kestrel", "note")) == close({
            "owl note": 0, "kestrel": 0, "barn note": 0
        })  # fmt: skip


class HiddenNeighboursContract(StoreSuite):
    """A turn that does not count adds no word, and what follows it is no nearer for that."""

    async def _hide(self, store: Store, way: str, event: Event) -> tuple[Reader, SearchRequest]:
        """Say it so, or do so with it, that it does not count; who asks then, and what."""
        write = memory_of(event)
        changed = {
            "filtered": {"kind": "noise"},
            "expired": {"valid_until": NOW},
            "not known yet": {"recorded_at": EVERYTHING.current_at + MINUTE},
            "out of sight": {"visibility": Visibility.OWN},
        }
        memory = replace(write.memory, **changed.get(way, {}))
        await store.append(SCOPE, [Entry(event, replace(write, memory=memory))])
        if way == "retired":
            await store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        where = replace(EVERYTHING, kinds=frozenset({"message"})) if way == "filtered" else EVERYTHING
        return BEN if way == "out of sight" else READER, request("kestrel", where=where, surroundings=True)

    @pytest.mark.parametrize("way", HIDDEN)
    def test_the_words_of_a_hidden_turn_are_around_nobody(self, store: Store, way: str) -> None:
        async def try_it() -> None:
            reader, asked = await self._hide(store, way, an_event("kestrel"))
            await say(store, "owl", "barn", start=MINUTE)
            assert await ask(store, "nearby", asked, reader=reader) == {}

        self.runner.run(try_it())

    @pytest.mark.parametrize("way", HIDDEN)
    def test_a_hidden_turn_keeps_its_place(self, store: Store, way: str) -> None:
        async def try_it() -> None:
            await say(store, "kestrel")
            reader, asked = await self._hide(store, way, an_event("heron", at=NOW + MINUTE))
            await say(store, "owl", "barn", start=2 * MINUTE)
            assert await ask(store, "nearby", asked, reader=reader) == close({"kestrel": 0, "owl": 0.75})

        self.runner.run(try_it())

    @awaited
    async def test_of_two_memories_of_a_turn_only_the_one_in_sight_adds_words(self, store: Store) -> None:
        event, after = turns("seen at noon", "roof")
        await store.append(SCOPE, [Entry(event), Entry(after, memory_of(after))])
        shown, hidden = held_by(event, "kestrel", "owl")
        await store.insert(SCOPE, shown)
        await store.insert(SCOPE, replace(hidden, memory=replace(hidden.memory, visibility=Visibility.OWN)))
        nearby = await ask(store, "nearby", about("kestrel", "owl"), reader=BEN)
        share = idf(2, 1) / (idf(2, 1) + idf(2, 0))
        assert nearby == close({"kestrel": 0, "roof": share})
