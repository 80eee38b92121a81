"""What a reader sees and a filter keeps: every method agrees with `policies.selection`, on every combination."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count, product
from typing import Final
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.strength import Adjustment
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.policies.selection import can_see, excluded_by
from remembrancer.ports.exchange import relation_to_row
from remembrancer.ports.store import CueVector, Entry, EventFilter, Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, awaited, remember, request
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector, an_event, indexed

WORD: Final = "deploy"


def owners() -> list[Scope]:
    """Every kind of owner: each part unset, or one of two."""
    parts = product((None, "p1", "p2"), (None, "c1", "c2"), (None, "a1", "a2"), (None, "s1", "s2"))
    return [
        Scope(workspace="acme", project=project, crew=crew, agent=agent, session=session)
        for project, crew, agent, session in parts
    ]


def readers() -> list[Reader]:
    """Every kind of reader: each part unset or set, with every reach it may have."""
    able: list[Reader] = []
    for project, crew, agent, session in product((None, "p1"), (None, "c1"), (None, "a1"), (None, "s1")):
        scope = Scope(workspace="acme", project=project, crew=crew, agent=agent, session=session)
        for reach in Reach:
            try:
                able.append(Reader(scope, reach))
            except InvalidInput:
                continue
    return able


def owned() -> list[Memory]:
    """One memory of every owner and visibility."""
    numbers = count(1)
    return [
        replace(a_memory(f"{WORD} {number}", memory_id=UUID(int=number), scope=scope), visibility=visibility)
        for (scope, visibility), number in zip(product(owners(), Visibility), numbers, strict=False)
    ]


MEMORIES: Final = owned()
READERS: Final = readers()

Seen = Callable[[Store, Reader], Awaitable[Iterable[UUID]]]


async def _by_get(store: Store, reader: Reader) -> Iterable[UUID]:
    return await store.get(reader, [memory.id for memory in MEMORIES])


async def _by_cues(store: Store, reader: Reader) -> Iterable[UUID]:
    return await store.cues(reader, [memory.id for memory in MEMORIES])


async def _by_listing(store: Store, reader: Reader) -> Iterable[UUID]:
    return [memory.id for memory in await store.memories(reader, EVERYTHING, limit=len(MEMORIES))]


async def _by_words(store: Store, reader: Reader) -> Iterable[UUID]:
    return (await store.search(reader, request(WORD, depth=len(MEMORIES)))).ids


async def _by_vector(store: Store, reader: Reader) -> Iterable[UUID]:
    return (await store.search(reader, request(vector=a_vector(1, 0), depth=len(MEMORIES)))).ids


SEEN: Final[dict[str, Seen]] = {
    "get": _by_get,
    "cues": _by_cues,
    "memories": _by_listing,
    "words": _by_words,
    "vector": _by_vector,
}


class VisibilityContract(StoreSuite):
    @pytest.mark.parametrize("way", SEEN)
    def test_each_way_shows_a_reader_what_the_policy_lets_it_see(self, store: Store, way: str) -> None:
        async def compare() -> None:
            await _fill(store)
            for reader in READERS:
                seen = set(await SEEN[way](store, reader))
                assert seen == {memory.id for memory in _visible_to(reader)}, reader

        self.runner.run(compare())

    @awaited
    async def test_counts_are_of_what_the_reader_may_see(self, store: Store) -> None:
        await _fill(store)
        for reader in READERS:
            visible = len(_visible_to(reader))
            stats = await store.stats(reader)
            answer = await store.search(reader, request(WORD))
            assert sum(stats.memories.values()) == stats.cues == answer.visible == visible, reader
            assert sum(stats.vectors.values()) == visible, reader

    @awaited
    async def test_a_reader_sees_the_events_within_its_reach(self, store: Store) -> None:
        events = [an_event(f"{n}", event_id=UUID(int=n + 1), scope=scope) for n, scope in enumerate(owners())]
        await store.append(SCOPE, [Entry(event) for event in events])
        for reader in READERS:
            expected = {event.id for event in events if can_see(reader, event.scope, Visibility.WORKSPACE)}
            listed = await store.events(reader, EventFilter(), limit=len(events))
            assert {event.id for event in listed} == expected, reader
            assert (await store.stats(reader)).events == len(expected), reader

    @awaited
    async def test_what_a_reader_cannot_see_it_cannot_change(self, store: Store) -> None:
        memory = replace(a_memory(scope=replace(SCOPE, agent="bob")), visibility=Visibility.OWN)
        await remember(store, indexed(memory))
        reader = Reader(SCOPE)
        with pytest.raises(NotFound):
            await store.adjust(
                reader, [memory.id], lambda strength: Adjustment(replace(strength, importance=1.0)), at=NOW
            )
        with pytest.raises(NotFound):
            await store.set_status(reader, memory.id, Status.RETIRED, at=NOW)
        assert await store.get(Reader(memory.scope), [memory.id]) == {memory.id: memory}

    @awaited
    async def test_revisions_of_what_a_reader_cannot_see_are_hidden(self, store: Store) -> None:
        memory = replace(a_memory(scope=replace(SCOPE, agent="bob")), visibility=Visibility.OWN)
        await remember(store, indexed(memory))
        await store.revise(memory.scope, indexed(memory), expected_revision=1, at=NOW)
        assert await store.revisions(Reader(SCOPE), memory.id) == ()
        assert len(await store.revisions(Reader(memory.scope), memory.id)) == 1

    @awaited
    async def test_edges_with_an_unseen_end_are_hidden(self, store: Store) -> None:
        mine, theirs = (
            a_memory("mine"),
            replace(a_memory("theirs", scope=replace(SCOPE, agent="bob")), visibility=Visibility.OWN),
        )
        await remember(store, indexed(mine), indexed(theirs))
        edge = Relation(mine.id, theirs.id, RelationKind.SIMILAR, 1.0, NOW)
        await store.import_rows(SCOPE, [relation_to_row(edge)])
        for end in (mine, theirs):
            assert await store.relations(Reader(SCOPE), [end.id]) == ()
        assert (await store.stats(Reader(SCOPE))).relations == 0

    @awaited
    async def test_provenance_of_what_a_reader_cannot_see_is_hidden(self, store: Store) -> None:
        event = an_event()
        memory = replace(a_memory(scope=replace(SCOPE, agent="bob")), visibility=Visibility.OWN)
        await store.append(SCOPE, [Entry(event, indexed(memory, event_ids=[event.id]))])
        assert await store.provenance(Reader(SCOPE), memory.id) == ()

    @awaited
    async def test_provenance_leaves_out_events_beyond_the_reader_s_reach(self, store: Store) -> None:
        mine, theirs = an_event("mine"), an_event("theirs", scope=replace(SCOPE, project="secret"))
        memory = a_memory()
        await store.append(SCOPE, [Entry(theirs)])
        await store.append(SCOPE, [Entry(mine, indexed(memory, event_ids=[theirs.id, mine.id]))])
        reader = Reader(replace(SCOPE, project="web"))
        assert await store.provenance(reader, memory.id) == (mine,)

    def test_filters_keep_what_the_policy_keeps(self) -> None:
        # The generated part is a function of its own, made anew for each store under test.
        @given(st.lists(_memories(), max_size=6), st.lists(_filters(), min_size=1, max_size=4))
        @settings(max_examples=60, deadline=None)
        def compare(memories: list[Memory], filters: list[Filter]) -> None:
            asyncio.run(self._compare_filters(memories, filters))

        compare()

    async def _compare_filters(self, memories: list[Memory], filters: list[Filter]) -> None:
        numbered = [replace(memory, id=UUID(int=number)) for number, memory in enumerate(memories, start=1)]
        reader = Reader(Scope(workspace="acme"))
        async with self.another_store() as store:
            await remember(store, *(indexed(memory) for memory in numbered))
            for where in filters:
                kept = {memory.id for memory in numbered if not excluded_by(memory, where)}
                listed = await store.memories(reader, where, limit=100)
                answer = await store.search(reader, request(WORD, where=where))
                assert {memory.id for memory in listed} == kept
                assert (set(answer.ids), answer.visible) == (kept, len(kept))


def _visible_to(reader: Reader) -> list[Memory]:
    return [memory for memory in MEMORIES if can_see(reader, memory.scope, memory.visibility)]


async def _fill(store: Store) -> None:
    entries = [
        Entry(an_event(f"{number}", event_id=UUID(int=number)), indexed(memory))
        for number, memory in enumerate(MEMORIES, start=1)
    ]
    await store.append(SCOPE, entries)
    pending = await store.pending(SCOPE, MODEL, limit=len(MEMORIES), now=NOW)
    await store.put_vectors(SCOPE, MODEL, [_one(cue.ref) for cue in pending], at=NOW)


def _one(ref: int) -> CueVector:
    return CueVector(ref, a_vector(1, 0), False)


def _moments() -> st.SearchStrategy[datetime]:
    """Few, so that the borders of every interval are met; one lies between the others by a microsecond."""
    return st.sampled_from([NOW + timedelta(days=n) for n in range(-2, 3)] + [NOW + timedelta(microseconds=1)])


@st.composite
def _memories(draw: st.DrawFn) -> Memory:
    begin, end = sorted((draw(_moments()), draw(_moments())))
    maybe = st.none() | _moments()
    crew, session = draw(st.sampled_from([None, "c1", "c2"])), draw(st.sampled_from([None, "s1", "s2"]))
    return replace(
        a_memory(WORD, scope=Scope(workspace="acme", crew=crew, session=session)),
        occurred_from=begin,
        occurred_to=end,
        recorded_at=draw(_moments()),
        kind=draw(st.sampled_from(["note", "decision"])),
        tier=draw(st.sampled_from(Tier)),
        tags=tuple(draw(st.lists(st.sampled_from(["a", "b", "a b"]), unique=True))),
        source=draw(st.sampled_from([None, "mail", "chat"])),
        status=draw(st.sampled_from(Status)),
        retired_at=draw(maybe),
        superseded_by=draw(st.sampled_from([None, UUID(int=99)])),
        superseded_at=draw(maybe),
        valid_from=draw(maybe),
        valid_until=draw(maybe),
    )


def _filters() -> st.SearchStrategy[Filter]:
    maybe = st.none() | _moments()
    return st.builds(
        Filter,
        current_at=_moments(),
        kinds=st.none() | st.frozensets(st.sampled_from(["note", "decision", "other"])),
        tiers=st.none() | st.frozensets(st.sampled_from(Tier)),
        tags=st.frozensets(st.sampled_from(["a", "b", "a b", "c"]), max_size=2),
        source=st.sampled_from([None, "mail"]),
        crew=st.sampled_from([None, "c1"]),
        session=st.sampled_from([None, "s1"]),
        since=maybe,
        until=maybe,
    )
