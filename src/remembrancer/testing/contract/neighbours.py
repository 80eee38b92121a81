"""Contract of neighbour coverage: which turns of a stream are neighbours, and which of their words count.

Turns are a minute apart unless a test gives another time.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid5

import pytest

from remembrancer.domain.event import Event
from remembrancer.domain.memory import Cue, IndexedCue, MemoryWrite, Status
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.language.cues import analysed
from remembrancer.language.lexical import analyse
from remembrancer.ports.journal import Entry
from remembrancer.testing.contract.base import EVERYTHING
from remembrancer.testing.contract.finding import BM25_TOLERANCE, Finder, IndexSuite, VectoredRequest, needs, request
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, an_event, indexed

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
"""Other streams, each with one different part of the scope."""
HEADING: Final = analyse("user").terms
"""The terms of a turn's heading, which is the name of its speaker."""
HIDDEN: Final = ("filtered", "retired", "expired", "not known yet", "out of sight")


def turns(*texts: str, scope: Scope = SCOPE, start: timedelta = timedelta()) -> list[Event]:
    return [an_event(text, scope=scope, at=NOW + start + place * MINUTE) for place, text in enumerate(texts)]


def turn_cue(memory_id: UUID, ordinal: int, event: Event) -> IndexedCue:
    """The cue of a turn, with its speaker as heading."""
    said = Cue(
        memory_id=memory_id, ordinal=ordinal, text=event.text, heading=event.actor or event.role, event_id=event.id
    )
    return analysed(said)


def memory_of(event: Event) -> MemoryWrite:
    """The memory of one turn, whose only cue is the turn's."""
    memory = a_memory(event.text, memory_id=uuid5(event.id, "memory"), scope=event.scope, at=event.occurred_at)
    return MemoryWrite(replace(memory, kind=event.type), (turn_cue(memory.id, 0, event),), (event.id,))


def held_by(event: Event, *texts: str) -> list[MemoryWrite]:
    """One memory per text, all formed from the same event."""
    cues = [Cue(memory_id=a_memory(text).id, ordinal=0, text=text, event_id=event.id) for text in texts]
    return [MemoryWrite(a_memory(cue.text), (analysed(cue),), (event.id,)) for cue in cues]


async def say(finder: Finder, *texts: str, scope: Scope = SCOPE, start: timedelta = timedelta()) -> list[Event]:
    said = turns(*texts, scope=scope, start=start)
    await finder.store.append(scope, [Entry(event, memory_of(event)) for event in said])
    return said


async def ask(finder: Finder, name: str, asked: VectoredRequest, *, reader: Reader = READER) -> dict[str, float]:
    """One column of the context features, by the text of the memory."""
    found = await finder.search(reader, asked)
    assert found.context_features is not None
    values: NDArray[np.generic] = getattr(found.context_features, name)
    assert values.shape == (len(found.ids),)
    texts = {memory.id: memory.text for memory in (await finder.store.get(reader, found.ids)).values()}
    return {texts[memory_id]: float(value) for memory_id, value in zip(found.ids, values, strict=True)}


def about(*words: str, depth: int = 100) -> VectoredRequest:
    return request(*words, depth=depth, context_features=True)


def close(values: dict[str, float]) -> object:
    return pytest.approx(values, rel=BM25_TOLERANCE)


@needs("context", "bm25")
class NeighbourCoverageContract(IndexSuite):
    async def test_a_word_counts_whole_in_the_next_turn_and_less_in_the_one_after(self, finder: Finder) -> None:
        await say(finder, "heron", "barn", "owl", "kestrel", "roof", "nest", "wall")
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel"))
        assert neighbour_coverage == close(
            {"barn": finder.rules.next_but_one, "owl": 1, "kestrel": 0, "roof": 1, "nest": finder.rules.next_but_one}
        )

    async def test_a_turn_s_own_words_are_not_neighbour_coverage(self, finder: Finder) -> None:
        await say(finder, "kestrel left", "kestrel right")
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == {"kestrel left": 0, "kestrel right": 0}

    async def test_a_word_on_both_sides_counts_once(self, finder: Finder) -> None:
        await say(finder, "kestrel left", "owl", "kestrel right")
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(1)

    async def test_a_word_of_a_direct_and_a_farther_neighbour_counts_as_direct(self, finder: Finder) -> None:
        await say(finder, "kestrel far", "kestrel near", "owl")
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(1)

    async def test_words_count_by_their_idf(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl", "roof")
        await say(finder, "kestrel again", scope=ELSEWHERE["session"])
        common, rare = finder.idf(4, 2), finder.idf(4, 1)
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel", "owl"))
        assert neighbour_coverage == close({
            "kestrel": rare / (common + rare),
            "owl": common / (common + rare),
            "roof": (rare + finder.rules.next_but_one * common) / (common + rare),
            "kestrel again": 0,
        })  # fmt: skip

    async def test_a_word_that_occurs_nowhere_lowers_the_share(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl")
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel", "walrus"))
        assert neighbour_coverage["owl"] == pytest.approx(
            finder.idf(2, 1) / (finder.idf(2, 1) + finder.idf(2, 0)), rel=BM25_TOLERANCE
        )

    async def test_turns_of_the_longest_gap_belong_together(self, finder: Finder) -> None:
        await say(finder, "kestrel")
        await say(finder, "owl", start=finder.rules.gap)
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(1)

    async def test_a_longer_gap_parts_them_and_all_beyond(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl")
        await say(finder, "barn", "roof", start=MINUTE + finder.rules.gap + timedelta(microseconds=1))
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    @pytest.mark.parametrize("other", ELSEWHERE)
    async def test_turns_of_another_stream_are_not_neighbours(self, finder: Finder, other: str) -> None:
        await say(finder, "kestrel")
        await say(finder, "owl", "barn", scope=ELSEWHERE[other])
        await say(finder, "roof", start=MINUTE)
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close({"kestrel": 0, "roof": 1})

    async def test_turns_have_the_order_of_their_stream_and_not_of_their_times(self, finder: Finder) -> None:
        for text, minute in (("kestrel", 2), ("owl", 0), ("barn", 1)):
            await say(finder, text, start=minute * MINUTE)
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close(
            {"kestrel": 0, "owl": 1, "barn": finder.rules.next_but_one}
        )

    async def test_an_event_that_no_memory_holds_is_no_turn(self, finder: Finder) -> None:
        first, passed, last = turns("kestrel", "hm", "owl")
        await finder.store.append(SCOPE, [Entry(first, memory_of(first)), Entry(passed), Entry(last, memory_of(last))])
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    async def test_an_event_that_becomes_a_memory_late_takes_its_place(self, finder: Finder) -> None:
        first, late, last = turns("kestrel", "barn", "owl")
        await finder.store.append(SCOPE, [Entry(first, memory_of(first)), Entry(late), Entry(last, memory_of(last))])
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(1)
        await finder.store.insert(SCOPE, memory_of(late))
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close(
            {"kestrel": 0, "barn": 1, "owl": finder.rules.next_but_one}
        )

    async def test_a_new_turn_counts_at_once(self, finder: Finder) -> None:
        await say(finder, "kestrel")
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == {"kestrel": 0}
        await say(finder, "owl", start=MINUTE)
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    async def test_other_memories_of_an_event_belong_to_the_same_turn(self, finder: Finder) -> None:
        event, after = turns("seen at noon", "roof")
        await finder.store.append(SCOPE, [Entry(event), Entry(after, memory_of(after))])
        for write in held_by(event, "kestrel owl", "kestrel barn"):
            await finder.store.insert(SCOPE, write)
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel", "owl"))
        assert neighbour_coverage == close({"kestrel owl": 0, "kestrel barn": 0, "roof": 1})

    async def test_a_memory_whose_words_change_leaves_its_turn(self, finder: Finder) -> None:
        said = await say(finder, "kestrel", "barn", "owl")
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(
            finder.rules.next_but_one
        )
        summary = replace(memory_of(said[1]).memory, text="summary")
        await finder.store.revise(SCOPE, indexed(summary), expected_revision=1, at=NOW)
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close({"kestrel": 0, "owl": 1})

    async def test_a_memory_may_come_back_to_its_turn(self, finder: Finder) -> None:
        said = await say(finder, "kestrel", "barn", "owl")
        memory = memory_of(said[1]).memory
        await finder.store.revise(SCOPE, indexed(replace(memory, text="summary")), expected_revision=1, at=NOW)
        assert (await ask(finder, "neighbour_coverage", about("kestrel")))["owl"] == pytest.approx(1)
        await finder.store.revise(SCOPE, memory_of(said[1]), expected_revision=2, at=NOW)
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close(
            {"kestrel": 0, "barn": 1, "owl": finder.rules.next_but_one}
        )

    async def test_a_turn_counts_while_any_memory_of_its_event_is_current(self, finder: Finder) -> None:
        first, middle, last = turns("kestrel", "seen at noon", "owl")
        await finder.store.append(SCOPE, [Entry(first, memory_of(first)), Entry(middle), Entry(last, memory_of(last))])
        one, two = held_by(middle, "barn", "roof")
        await finder.store.insert(SCOPE, one)
        await finder.store.insert(SCOPE, two)
        await finder.store.revise(SCOPE, indexed(one.memory, "wall"), expected_revision=1, at=NOW)
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel"))
        assert neighbour_coverage == close({"kestrel": 0, "roof": 1, "owl": finder.rules.next_but_one})

    async def test_of_several_turns_of_a_memory_the_one_with_the_words_counts(self, finder: Finder) -> None:
        said = turns("heron", "kestrel", "owl", "wall", "wall again")
        await finder.store.append(SCOPE, [Entry(event) for event in said])
        whole = a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate(said[:2]))
        await finder.store.insert(SCOPE, MemoryWrite(whole, cues, tuple(event.id for event in said[:2])))
        await finder.store.insert(SCOPE, memory_of(said[2]))
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel", "owl"))
        half = finder.idf(3, 1) / (2 * finder.idf(3, 1))
        assert neighbour_coverage == close({"the whole of it": half, "owl": half})

    async def test_the_words_of_a_long_turn_count_for_no_neighbour(self, finder: Finder) -> None:
        brief = " ".join(["kestrel", *(f"brief{n}" for n in range(finder.rules.brief_terms - len(HEADING) - 1))])
        await say(finder, brief, "owl")
        await say(finder, f"{brief} longer", "barn", scope=ELSEWHERE["session"])
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel"))
        assert neighbour_coverage == close({brief: 0, "owl": 1, f"{brief} longer": 0})

    async def test_a_long_turn_keeps_its_place_and_its_own_words(self, finder: Finder) -> None:
        long = " ".join(["kestrel", *(f"long{n}" for n in range(finder.rules.brief_terms))])
        await say(finder, "kestrel", long, "owl")
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close(
            {"kestrel": 0, long: 0, "owl": finder.rules.next_but_one}
        )

    async def test_a_note_has_no_neighbours(self, finder: Finder) -> None:
        await finder.store.insert(SCOPE, indexed(a_memory("owl note")))
        await say(finder, "kestrel")
        await finder.store.insert(SCOPE, indexed(a_memory("barn note")))
        assert await ask(finder, "neighbour_coverage", about("kestrel", "note")) == close({
            "owl note": 0, "kestrel": 0, "barn note": 0
        })  # fmt: skip


@needs("context", "bm25")
class HiddenNeighboursContract(IndexSuite):
    """A hidden turn adds no word to its neighbours, but keeps its place between them."""

    async def _hide(self, finder: Finder, way: str, event: Event) -> tuple[Reader, VectoredRequest]:
        """Record the event as a turn hidden in the given way. Returns the reader and the request for which it is
        hidden.
        """
        write = memory_of(event)
        changed = {
            "filtered": {"kind": "noise"},
            "expired": {"valid_until": NOW},
            "not known yet": {"recorded_at": EVERYTHING.current_at + MINUTE},
            "out of sight": {"visibility": Visibility.OWN},
        }
        memory = replace(write.memory, **changed.get(way, {}))
        await finder.store.append(SCOPE, [Entry(event, replace(write, memory=memory))])
        if way == "retired":
            await finder.store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        where = replace(EVERYTHING, kinds=frozenset({"message"})) if way == "filtered" else EVERYTHING
        return BEN if way == "out of sight" else READER, request("kestrel", where=where, context_features=True)

    @pytest.mark.parametrize("way", HIDDEN)
    async def test_the_words_of_a_hidden_turn_count_for_no_neighbour(self, finder: Finder, way: str) -> None:
        reader, asked = await self._hide(finder, way, an_event("kestrel"))
        await say(finder, "owl", "barn", start=MINUTE)
        assert await ask(finder, "neighbour_coverage", asked, reader=reader) == {}

    @pytest.mark.parametrize("way", HIDDEN)
    async def test_a_hidden_turn_keeps_its_place(self, finder: Finder, way: str) -> None:
        await say(finder, "kestrel")
        reader, asked = await self._hide(finder, way, an_event("heron", at=NOW + MINUTE))
        await say(finder, "owl", "barn", start=2 * MINUTE)
        assert await ask(finder, "neighbour_coverage", asked, reader=reader) == close(
            {"kestrel": 0, "owl": finder.rules.next_but_one}
        )

    async def test_of_two_memories_of_a_turn_only_the_visible_one_adds_words(self, finder: Finder) -> None:
        event, after = turns("seen at noon", "roof")
        await finder.store.append(SCOPE, [Entry(event), Entry(after, memory_of(after))])
        shown, hidden = held_by(event, "kestrel", "owl")
        await finder.store.insert(SCOPE, shown)
        await finder.store.insert(SCOPE, replace(hidden, memory=replace(hidden.memory, visibility=Visibility.OWN)))
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel", "owl"), reader=BEN)
        share = finder.idf(2, 1) / (finder.idf(2, 1) + finder.idf(2, 0))
        assert neighbour_coverage == close({"kestrel": 0, "roof": share})
