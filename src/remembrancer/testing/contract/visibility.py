"""Contract of visibility: every method shows a reader, and every filter keeps, the memories that `domain.selection`
names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Final
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see, excluded_by
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, give_vectors, remember, stored, unchanged
from remembrancer.testing.contract.finding import Finder, IndexSuite, assert_same_answer, needs, request
from remembrancer.testing.doubles import HIDDEN, MATE, NOW, SCOPE, a_memory, a_vector, an_event, indexed

WORD: Final = "deploy"


def owners() -> list[Scope]:
    """Owners of every kind: each part of the scope unset, or one of two values."""
    parts = product((None, "p1", "p2"), (None, "c1", "c2"), (None, "a1", "a2"), (None, "s1", "s2"))
    return [
        Scope(workspace="acme", project=project, crew=crew, agent=agent, session=session)
        for project, crew, agent, session in parts
    ]


def readers() -> list[Reader]:
    """Readers of every kind: each part of the scope unset or set, with every possible reach."""
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
    """Memories of every owner and visibility, with an importance above and below the sharing threshold."""
    every = product(owners(), Visibility, (0.0, 0.65))
    return [
        replace(
            a_memory(f"{WORD} {number}", memory_id=UUID(int=number), scope=scope),
            visibility=visibility,
            strength=Strength(importance=importance),
        )
        for number, (scope, visibility, importance) in enumerate(every, start=1)
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


SEEN: Final[dict[str, Seen]] = {"get": _by_get, "cues": _by_cues, "memories": _by_listing}
"""Methods of a store that return memories, by name."""

FOUND: Final = {
    "lexical": request(WORD, depth=len(MEMORIES)),
    "dense": request(vector=a_vector(1, 0), depth=len(MEMORIES)),
}
"""Requests that find every memory, by the search that finds them."""


async def listed(store: Store, reader: Reader) -> set[UUID]:
    return {memory.id for memory in await store.memories(reader, EVERYTHING, limit=100)}


class KeptContract(StoreSuite):
    """Any filter keeps the memories that `domain.selection` names: in lists, and for an index in what it finds."""

    def test_filters_select_the_same_memories_as_the_policy(self, store: Store) -> None:
        workspaces = (f"acme {number}" for number in itertools.count())

        # The generated part is a separate function, created anew for each store under test.
        @given(st.lists(_memories(), max_size=6), st.lists(_filters(), min_size=1, max_size=4))
        @settings(max_examples=60, deadline=None)
        def compare(memories: list[Memory], filters: list[Filter]) -> None:
            self.run(self._compare_filters(store, next(workspaces), memories, filters))

        compare()

    async def _compare_filters(
        self, store: Store, workspace: str, memories: list[Memory], filters: list[Filter]
    ) -> None:
        placed = [
            replace(memory, id=UUID(int=number), scope=replace(memory.scope, workspace=workspace))
            for number, memory in enumerate(memories, start=1)
        ]
        reader = Reader(Scope(workspace=workspace, crew="c1"))
        await remember(store, *placed)
        for where in filters:
            kept = {
                memory.id
                for memory in placed
                if can_see(reader, memory.scope, memory.visibility) and not excluded_by(memory, where)
            }
            assert await self.seen(store, reader, where) == kept

    async def seen(self, store: Store, reader: Reader, where: Filter) -> set[UUID]:
        """The ids of these memories that the reader sees under the filter."""
        return {memory.id for memory in await store.memories(reader, where, limit=100)}


class VisibilityContract(KeptContract):
    @pytest.mark.parametrize("shared_from", [0.0, 0.65])
    async def test_each_method_shows_and_counts_the_memories_that_the_policy_allows_the_reader(
        self, store: Store, shared_from: float
    ) -> None:
        """One test for all methods: the memories of every owner take longer to write than to read."""
        await _fill(store)
        for reader in (replace(one, shared_from=shared_from) for one in READERS):
            visible = {memory.id for memory in _visible_to(reader)}
            for way, seen in SEEN.items():
                assert set(await seen(store, reader)) == visible, (way, reader)
            stats = await store.stats(reader)
            assert sum(stats.memories.values()) == stats.cues == len(visible), reader
            assert sum(stats.vectors.values()) == len(visible), reader

    async def test_a_reader_sees_the_events_within_its_reach(self, store: Store) -> None:
        events = [an_event(f"{n}", event_id=UUID(int=n + 1), scope=scope) for n, scope in enumerate(owners())]
        await store.append(SCOPE, [Entry(event) for event in events])
        for reader in READERS:
            expected = {event.id for event in events if can_see(reader, event.scope, Visibility.WORKSPACE)}
            listed = await store.events(reader, EventFilter(), limit=len(events))
            assert {event.id for event in listed} == expected, reader
            assert (await store.stats(reader)).events == len(expected), reader

    async def test_a_reader_cannot_change_memories_that_it_cannot_see(self, store: Store) -> None:
        memory = await stored(store, HIDDEN)
        reader = Reader(SCOPE)
        with pytest.raises(NotFound):
            await store.adjust(
                reader, [memory.id], lambda strength: Adjustment(replace(strength, importance=1.0)), at=NOW
            )
        with pytest.raises(NotFound):
            await store.set_status(reader, memory.id, Status.RETIRED, at=NOW)
        assert await store.get(Reader(memory.scope), [memory.id]) == {memory.id: memory}

    async def test_revisions_of_memories_that_a_reader_cannot_see_are_hidden(self, store: Store) -> None:
        memory = await stored(store, HIDDEN)
        await store.revise(memory.scope, indexed(memory), expected_revision=1, at=NOW)
        assert await store.revisions(Reader(SCOPE), memory.id) == ()
        assert len(await store.revisions(Reader(memory.scope), memory.id)) == 1

    async def test_edges_with_an_unseen_end_are_hidden(self, store: Store) -> None:
        mine = await stored(store, a_memory("mine"))
        await remember(store, HIDDEN)
        edge = Relation(mine.id, HIDDEN.id, RelationKind.SIMILAR, 1.0, NOW)
        await store.import_rows(SCOPE, [record_to_row(edge)])
        for end in (mine, HIDDEN):
            assert await store.relations(Reader(SCOPE), [end.id]) == ()
        assert (await store.stats(Reader(SCOPE))).relations == 0

    async def test_provenance_of_memories_that_a_reader_cannot_see_is_hidden(self, store: Store) -> None:
        event = an_event()
        await store.append(SCOPE, [Entry(event, indexed(HIDDEN, event_ids=[event.id]))])
        assert await store.provenance(Reader(SCOPE), HIDDEN.id) == ()

    async def test_provenance_leaves_out_events_beyond_the_reader_s_reach(self, store: Store) -> None:
        mine, theirs = an_event("mine"), an_event("theirs", scope=replace(SCOPE, project="secret"))
        memory = a_memory()
        await store.append(SCOPE, [Entry(theirs)])
        await store.append(SCOPE, [Entry(mine, indexed(memory, event_ids=[theirs.id, mine.id]))])
        reader = Reader(replace(SCOPE, project="web"))
        assert await store.provenance(reader, memory.id) == (mine,)


STRANGER: Final = replace(SCOPE, crew="data", agent="carl")
SHARING: Final = Reader(SCOPE, Reach.CREW_SHARED, shared_from=0.65)


def weighing(importance: float, scope: Scope, text: str = WORD) -> Memory:
    memory = a_memory(f"{text} {importance} of {scope.agent}", scope=scope)
    return replace(memory, strength=Strength(importance=importance))


class SharingContract(StoreSuite):
    """A reader sees memories of crew mates from an importance on (`Reader.shared_from`)."""

    async def test_a_crew_mate_s_memory_is_seen_from_exactly_that_importance_on(self, store: Store) -> None:
        below = math.nextafter(0.65, 0)
        await remember(store, *(indexed(weighing(importance, MATE)) for importance in (0.5, below, 0.65, 0.9)))
        assert await listed(store, SHARING) == {weighing(importance, MATE).id for importance in (0.65, 0.9)}

    async def test_a_reader_sees_its_own_memory_with_any_importance(self, store: Store) -> None:
        own = [weighing(0.0, SCOPE), weighing(0.0, replace(SCOPE, crew=None, agent=None))]
        await remember(store, *own)
        assert await listed(store, SHARING) == {memory.id for memory in own}

    async def test_a_memory_of_another_crew_is_not_seen_with_any_importance(self, store: Store) -> None:
        await remember(store, weighing(1.0, STRANGER))
        assert await listed(store, SHARING) == set()

    async def test_events_are_shared_with_any_importance_of_their_memories(self, store: Store) -> None:
        event = an_event(scope=MATE)
        await store.append(MATE, [Entry(event, indexed(weighing(0.0, MATE), event_ids=[event.id]))])
        assert await store.events(SHARING, EventFilter(), limit=9) == (event,)
        assert await store.count_events(SHARING, EventFilter()) == 1

    async def test_memories_that_are_not_shared_cannot_be_changed(self, store: Store) -> None:
        memory, own = weighing(0.5, MATE), weighing(0.5, SCOPE)
        await remember(store, memory, own)
        async with unchanged(store):
            edge = Relation(own.id, memory.id, RelationKind.SIMILAR, 1.0, NOW)
            attempts: tuple[Callable[[], Awaitable[object]], ...] = (
                lambda: store.adjust(SHARING, [memory.id], lambda _: Adjustment(Strength(importance=1.0)), at=NOW),
                lambda: store.set_status(SHARING, memory.id, Status.RETIRED, at=NOW),
                lambda: store.supersede(SHARING, memory.id, own.id, at=NOW),
                lambda: store.supersede(SHARING, own.id, memory.id, at=NOW),
                lambda: store.relate(SHARING, [edge]),
            )
            for attempt in attempts:
                with pytest.raises(NotFound):
                    await attempt()

    async def test_edges_and_audit_of_memories_that_are_not_shared_are_hidden(self, store: Store) -> None:
        memory, own = weighing(0.5, MATE), weighing(0.5, SCOPE)
        await remember(store, memory, own)
        await store.supersede(Reader(MATE), memory.id, own.id, at=NOW)
        assert await store.relations(SHARING, [own.id, memory.id]) == ()
        assert await store.audit(SHARING, memory.id) == ()
        assert len(await store.audit(Reader(MATE), memory.id)) == 1

    async def test_memories_that_are_not_shared_are_not_counted(self, store: Store) -> None:
        shared, unseen = [weighing(0.9, MATE), weighing(0.1, SCOPE)], [weighing(0.6, MATE), weighing(0.2, MATE)]
        async with self.another_store() as alone:
            await remember(alone, *shared)
            await remember(store, *(*unseen, *shared))
            expected = await alone.stats(SHARING)
        assert await store.stats(SHARING) == expected

    async def test_a_memory_is_listed_once_its_importance_has_risen(self, store: Store) -> None:
        memory = await stored(store, weighing(0.5, MATE))
        await store.adjust(Reader(MATE), [memory.id], lambda _: Adjustment(Strength(importance=0.7)), at=NOW)
        assert await listed(store, SHARING) == {memory.id}


class FoundVisibilityContract(KeptContract, IndexSuite):
    """Visibility and filters in what an index finds."""

    async def seen(self, store: Store, reader: Reader, where: Filter) -> set[UUID]:
        async with self.finder_over(store) as finder:
            answer = await finder.search(reader, request(WORD, where=where))
        assert answer.visible == len(answer.ids)
        return set(answer.ids)

    @pytest.mark.parametrize("leg", FOUND)
    async def test_each_search_finds_the_memories_that_the_policy_allows_the_reader(
        self, finder: Finder, leg: str
    ) -> None:
        if not getattr(finder.index.capabilities, leg):
            pytest.skip(f"the index does not declare {leg}")
        await _fill(finder.store)
        for reader in (replace(one, shared_from=shared_from) for one in READERS for shared_from in (0.0, 0.65)):
            answer = await finder.search(reader, FOUND[leg])
            assert set(answer.ids) == {memory.id for memory in _visible_to(reader)}, reader
            assert answer.visible == len(answer.ids), reader


@needs("lexical")
class FoundSharingContract(IndexSuite):
    """An index finds memories of crew mates from an importance on (`Reader.shared_from`)."""

    async def test_a_crew_mate_s_memory_is_found_from_exactly_that_importance_on(self, finder: Finder) -> None:
        below = math.nextafter(0.65, 0)
        await remember(finder.store, *(indexed(weighing(importance, MATE)) for importance in (0.5, below, 0.65, 0.9)))
        answer = await finder.search(SHARING, request(WORD))
        assert set(answer.ids) == {weighing(importance, MATE).id for importance in (0.65, 0.9)}

    async def test_a_search_finds_the_readers_own_memory_with_any_importance(self, finder: Finder) -> None:
        own = [weighing(0.0, SCOPE), weighing(0.0, replace(SCOPE, crew=None, agent=None))]
        await remember(finder.store, *own)
        assert set((await finder.search(SHARING, request(WORD))).ids) == {memory.id for memory in own}

    async def test_a_search_does_not_find_a_memory_of_another_crew_with_any_importance(self, finder: Finder) -> None:
        await remember(finder.store, weighing(1.0, STRANGER))
        assert (await finder.search(SHARING, request(WORD))).ids == ()

    async def test_a_memory_becomes_visible_when_its_importance_rises(self, finder: Finder) -> None:
        memory = await stored(finder.store, weighing(0.5, MATE))
        assert (await finder.search(SHARING, request(WORD))).visible == 0
        await finder.store.adjust(Reader(MATE), [memory.id], lambda _: Adjustment(Strength(importance=0.7)), at=NOW)
        assert (await finder.search(SHARING, request(WORD))).ids == (memory.id,)

    @needs("dense")
    async def test_memories_that_are_not_shared_change_no_score(self, finder: Finder) -> None:
        shared = [weighing(0.9, MATE), weighing(0.1, SCOPE)]
        unseen = [weighing(0.6, MATE, f"{WORD} {WORD} roof nest"), weighing(0.2, MATE, "nest")]
        asked = request(WORD, "nest", vector=a_vector(1, 1), depth=3)
        vectors = {memory.text: a_vector(1, n) for n, memory in enumerate((*shared, *unseen))}
        async with self.another_finder() as alone:
            await remember(alone.store, *shared)
            await give_vectors(alone.store, vectors)
            await remember(finder.store, *(*unseen, *shared))
            await give_vectors(finder.store, vectors)
            assert_same_answer(await finder.search(SHARING, asked), await alone.search(SHARING, asked))

    async def test_speakers_of_unshared_memories_are_not_named(self, finder: Finder) -> None:
        event, memory = replace(an_event(scope=MATE), actor="Bob"), weighing(0.5, MATE)
        cue = Cue(memory_id=memory.id, ordinal=0, text=event.text, event_id=event.id)
        entry = Entry(event, MemoryWrite(memory, (analysed(cue),), (event.id,)))
        await finder.store.append(MATE, [entry])
        assert await finder.participants(SHARING, EVERYTHING, model=None) == frozenset()
        assert await finder.participants(Reader(MATE), EVERYTHING, model=None) == {"Bob"}


def _visible_to(reader: Reader) -> list[Memory]:
    return [
        memory for memory in MEMORIES if can_see(reader, memory.scope, memory.visibility, memory.strength.importance)
    ]


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
    """A few times, so that generated intervals often share an end; two of them differ by one microsecond."""
    return st.sampled_from([NOW + timedelta(days=n) for n in range(-2, 3)] + [NOW + timedelta(microseconds=1)])


scalars = st.sampled_from([None, True, False, 0, 1, 1.0, "", "1", "true", "null", 0.5])


@st.composite
def _memories(draw: st.DrawFn) -> Memory:
    begin, end = sorted((draw(_moments()), draw(_moments())))
    crew, session = draw(st.sampled_from([None, "c1", "c2"])), draw(st.sampled_from([None, "s1", "s2"]))
    memory = replace(
        a_memory(WORD, scope=Scope(workspace="acme", crew=crew, session=session)),
        occurred_from=begin,
        occurred_to=end,
        recorded_at=NOW - timedelta(days=2),
        kind=draw(st.sampled_from(["note", "decision"])),
        tier=draw(st.sampled_from(Tier)),
        tags=tuple(draw(st.lists(st.sampled_from(["a", "b", "a b"]), unique=True))),
        metadata=draw(st.dictionaries(st.sampled_from(["k", "l"]), scalars | st.just([1]))),
        visibility=draw(st.sampled_from([Visibility.WORKSPACE, Visibility.CREW])),
        source=draw(st.sampled_from([None, "mail", "chat"])),
    )
    # At most one reason for not being current: a second one would hide a defect in the first.
    maybe = st.none() | _moments()
    match draw(st.sampled_from(["current", "current", "recorded", "valid", "superseded", "retired"])):
        case "recorded":
            return replace(memory, recorded_at=draw(_moments()))
        case "valid":
            return replace(memory, valid_from=draw(maybe), valid_until=draw(maybe))
        case "superseded":
            return replace(memory, superseded_by=UUID(int=99), superseded_at=draw(maybe))
        case "retired":
            return replace(memory, status=draw(st.sampled_from(Status)), retired_at=draw(maybe))
        case _:
            return memory


@st.composite
def _filters(draw: st.DrawFn) -> Filter:
    """Filters with few conditions: with many, nothing would be kept."""
    conditions: dict[str, st.SearchStrategy[object]] = {
        "kinds": st.frozensets(st.sampled_from(["note", "decision", "other"])),
        "without_kinds": st.frozensets(st.sampled_from(["note", "decision", "other"]), max_size=2),
        "tiers": st.frozensets(st.sampled_from(Tier)),
        "tags": st.frozensets(st.sampled_from(["a", "b", "a b", "c"]), max_size=2),
        "without_tags": st.frozensets(st.sampled_from(["a", "b", "c"]), max_size=2),
        "visibilities": st.frozensets(st.sampled_from(Visibility)),
        "metadata": st.tuples(st.tuples(st.just("k"), scalars)),
        "source": st.just("mail"),
        "crew": st.just("c1"),
        "session": st.just("s1"),
        "since": _moments(),
        "until": _moments(),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(conditions)), max_size=3))
    asked = {name: draw(conditions[name]) for name in sorted(chosen)}
    return replace(Filter(current_at=draw(_moments())), **asked)  # type: ignore[arg-type]  named as the fields are
