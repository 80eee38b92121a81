"""Contract of relations between memories: read, added one at a time, and added together with vectors."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.errors import EmbedderMismatch, NotFound
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import record_to_row
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, holding, remember, unchanged
from remembrancer.testing.contract.memories import LATER
from remembrancer.testing.doubles import NOW, NOWHERE, READER, SCOPE, a_memory, a_vector

HUB, LEFT, RIGHT = (a_memory(text) for text in ("hub", "left", "right"))


def edge(
    source: Memory = HUB, target: Memory = LEFT, kind: RelationKind = RelationKind.SIMILAR, weight: float = 0.5
) -> Relation:
    return Relation(source.id, target.id, kind, weight, NOW)


class LinkedSuite(StoreSuite):
    linked = holding(lambda store: remember(store, HUB, LEFT, RIGHT))


class RelationContract(LinkedSuite):
    async def test_edges_from_and_to_a_memory_come_oldest_first(self, store: Store) -> None:
        hub, left, right = (a_memory(text) for text in ("hub", "left", "right"))
        await remember(store, *(hub, left, right))
        edges = (
            Relation(hub.id, left.id, RelationKind.SIMILAR, 0.25, NOW),
            Relation(right.id, hub.id, RelationKind.SUPPORTS, 1.0, NOW + timedelta(seconds=1)),
        )
        other = Relation(left.id, right.id, RelationKind.CONTRADICTS, 0.5, NOW)
        await store.import_rows(SCOPE, [record_to_row(edge) for edge in (edges[1], other, edges[0])])
        assert await store.relations(READER, [hub.id]) == edges

    async def test_a_memory_without_edges_has_none(self, remembered: Store) -> None:
        assert await remembered.relations(READER, [a_memory().id]) == ()
        assert await remembered.relations(READER, [NOWHERE]) == ()

    async def test_edges_of_several_memories_come_together(self, linked: Store) -> None:
        edges = (edge(), replace(edge(LEFT, RIGHT), created_at=LATER))
        await linked.relate(READER, edges)
        assert await linked.relations(READER, [HUB.id, RIGHT.id]) == edges

    async def test_hubs_are_those_with_the_most_edges_first_and_ties_go_by_id(self, linked: Store) -> None:
        await linked.relate(READER, [edge(), edge(HUB, RIGHT)])
        one, other = sorted((LEFT.id, RIGHT.id))
        assert list((await linked.hubs(READER, EVERYTHING, limit=9)).items()) == [(HUB.id, 2), (one, 1), (other, 1)]

    async def test_as_many_hubs_come_as_are_requested(self, linked: Store) -> None:
        await linked.relate(READER, [edge(), edge(HUB, RIGHT)])
        assert await linked.hubs(READER, EVERYTHING, limit=1) == {HUB.id: 2}

    async def test_edges_to_memories_excluded_by_the_filter_make_no_hub(self, linked: Store) -> None:
        await linked.relate(READER, [edge(), edge(HUB, RIGHT)])
        await linked.set_status(READER, LEFT.id, Status.RETIRED, at=NOW)
        where = Filter(current_at=LATER)
        assert await linked.hubs(READER, where, limit=9) == {HUB.id: 1, RIGHT.id: 1}

    async def test_an_edge_between_two_of_the_memories_comes_once(self, linked: Store) -> None:
        await linked.relate(READER, [edge()])
        assert await linked.relations(READER, [HUB.id, LEFT.id, HUB.id]) == (edge(),)

    async def test_edges_of_one_moment_come_by_their_ends(self, linked: Store) -> None:
        edges = [edge(HUB, RIGHT), edge(LEFT, HUB), edge(HUB, LEFT), edge(HUB, LEFT, RelationKind.CONTRADICTS)]
        await linked.relate(READER, edges)
        expected = sorted(edges, key=lambda one: (one.source, one.target, one.kind))
        assert await linked.relations(READER, [HUB.id]) == tuple(expected)

    async def test_no_memory_has_no_edge(self, linked: Store) -> None:
        await linked.relate(READER, [edge()])
        assert await linked.relations(READER, []) == ()

    async def test_edges_of_very_many_memories_can_be_requested(self, linked: Store) -> None:
        await linked.relate(READER, [edge()])
        assert await linked.relations(READER, [*(UUID(int=n) for n in range(40_000)), HUB.id]) == (edge(),)

    async def test_a_new_edge_is_counted_and_kept_whole(self, linked: Store) -> None:
        said = Relation(RIGHT.id, HUB.id, RelationKind.DERIVED_FROM, 0.123456789, NOW + timedelta(microseconds=7))
        assert await linked.relate(READER, [said, edge()]) == 2
        assert set(await linked.relations(READER, [HUB.id])) == {said, edge()}

    async def test_an_edge_that_is_there_takes_the_new_weight(self, linked: Store) -> None:
        await linked.relate(READER, [edge()])
        assert await linked.relate(READER, [replace(edge(weight=0.25), created_at=LATER)]) == 0
        assert await linked.relations(READER, [HUB.id]) == (edge(weight=0.25),)

    async def test_an_edge_given_twice_at_once_is_stored_once_with_the_last_weight(self, linked: Store) -> None:
        assert await linked.relate(READER, [edge(weight=0.25), edge(weight=1.0)]) == 1
        assert await linked.relations(READER, [HUB.id]) == (edge(weight=1.0),)

    async def test_edges_of_another_kind_or_direction_are_others(self, linked: Store) -> None:
        assert await linked.relate(READER, [edge(), edge(LEFT, HUB), edge(kind=RelationKind.SUPPORTS)]) == 3

    async def test_relating_nothing_adds_nothing(self, store: Store) -> None:
        assert await store.relate(READER, []) == 0

    @pytest.mark.parametrize("missing", ["source", "target"])
    async def test_a_missing_end_is_not_found_and_nothing_is_written(self, linked: Store, missing: str) -> None:
        async with unchanged(linked):
            astray = replace(edge(), **{missing: NOWHERE})
            with pytest.raises(NotFound):
                await linked.relate(READER, [edge(LEFT, RIGHT), astray])


class LinkedVectorsContract(LinkedSuite):
    async def _sweep(self, store: Store, *edges: Relation) -> int:
        pending = await store.pending(SCOPE, MODEL, limit=100, now=NOW)
        vectors = [CueVector(cue.ref, a_vector(1, 0), False) for cue in pending]
        return await store.put_vectors(SCOPE, MODEL, vectors, at=LATER, relations=edges)

    async def test_edges_are_stored_with_vectors(self, linked: Store) -> None:
        assert await self._sweep(linked, edge()) == 3
        assert await linked.relations(READER, [HUB.id]) == (edge(),)

    async def test_edges_may_come_without_a_vector(self, linked: Store) -> None:
        assert await linked.put_vectors(SCOPE, MODEL, [], at=LATER, relations=[edge()]) == 0
        assert await linked.relations(READER, [HUB.id]) == (edge(),)

    async def test_an_edge_that_is_there_keeps_its_weight(self, linked: Store) -> None:
        await linked.relate(READER, [edge(weight=1.0)])
        await self._sweep(linked, edge(weight=0.25))
        assert await linked.relations(READER, [HUB.id]) == (edge(weight=1.0),)

    @pytest.mark.parametrize("gone", ["source", "target"])
    async def test_an_edge_whose_end_has_gone_is_left_and_the_others_are_not(self, linked: Store, gone: str) -> None:
        astray = replace(edge(), **{gone: NOWHERE})
        assert await self._sweep(linked, astray, edge(LEFT, RIGHT)) == 3
        assert await linked.relations(READER, [HUB.id, LEFT.id]) == (edge(LEFT, RIGHT),)

    async def test_refused_vectors_leave_no_edge(self, linked: Store) -> None:
        one, *_ = await linked.pending(SCOPE, MODEL, limit=9, now=NOW)
        unequal = [CueVector(one.ref, a_vector(1, 0), False), CueVector(one.ref, a_vector(1, 0, 0), False)]
        with pytest.raises(EmbedderMismatch):
            await linked.put_vectors(SCOPE, MODEL, unequal, at=LATER, relations=[edge()])
        assert await linked.relations(READER, [HUB.id]) == ()
