"""Contract of health: its inputs, its daily snapshots, and the list of crews."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import pytest

from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.ports.inspection import HealthInputs
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, give_vectors, holding, moved, remember
from remembrancer.testing.contract.world import a_snapshot
from remembrancer.testing.doubles import HIDDEN, MATE, NOW, READER, SCOPE, a_memory, a_vector, indexed

ONE, TWO, THREE = (a_memory(text, memory_id=UUID(int=n)) for n, text in enumerate(("one", "two", "three"), start=1))
EDGE = Relation(ONE.id, TWO.id, RelationKind.SIMILAR, 0.5, NOW)


async def health_inputs(
    store: Store, *, reader: Reader = READER, where: Filter = EVERYTHING, model: str | None = MODEL
) -> HealthInputs:
    return await store.health_inputs(reader, where, model=model, shown_since=NOW)


async def with_vectors(store: Store, *memories: Memory) -> None:
    await remember(store, *memories)
    await give_vectors(store, {memory.text: a_vector(1, 0) for memory in memories})


async def show(store: Store, *exposed: Exposed, reader: Reader = READER) -> None:
    await store.adjust(reader, [], Adjustment, at=NOW, exposed=exposed)


def shown(memory: Memory, similarity: float | None, *, seconds: int = 0) -> Exposed:
    return Exposed(memory.id, Exposure.SHOWN, NOW + timedelta(seconds=seconds), similarity)


class HealthContract(StoreSuite):
    single = holding(lambda store: remember(store, ONE))

    async def test_an_empty_store_has_no_health_inputs(self, store: Store) -> None:
        assert await health_inputs(store) == HealthInputs(ids=(), occurred=(), with_vector=0, related=0, shown=())

    async def test_each_memory_counts_with_the_end_of_its_span_by_id(self, store: Store) -> None:
        ended = replace(moved(TWO, NOW), occurred_to=NOW + timedelta(hours=3))
        await remember(store, THREE, ended, moved(ONE, NOW - timedelta(days=9)))
        found = await health_inputs(store)
        assert found.ids == (ONE.id, TWO.id, THREE.id)
        assert found.occurred == (NOW - timedelta(days=9), NOW + timedelta(hours=3), NOW)

    async def test_memories_excluded_by_the_filter_do_not_count(self, store: Store) -> None:
        await with_vectors(store, ONE, replace(TWO, kind="noise"))
        await store.relate(READER, [EDGE])
        await show(store, shown(ONE, 0.5), shown(TWO, 0.25))
        found = await health_inputs(store, where=replace(EVERYTHING, kinds=frozenset({"note"})))
        # The neighbour of a memory counts even if the filter excludes it.
        assert found == HealthInputs(ids=(ONE.id,), occurred=(NOW,), with_vector=1, related=1, shown=(0.5,))

    async def test_retired_memories_do_not_count(self, store: Store) -> None:
        await with_vectors(store, ONE, TWO)
        await store.set_status(READER, TWO.id, Status.RETIRED, at=NOW)
        assert (await health_inputs(store)).ids == (ONE.id,)

    async def test_memories_that_the_reader_cannot_see_do_not_count(self, store: Store) -> None:
        await with_vectors(store, ONE)
        await remember(store, HIDDEN)
        await give_vectors(store, {"hidden": a_vector(1, 0)})
        await show(store, shown(HIDDEN, 0.25), reader=Reader(MATE))
        assert await health_inputs(store) == HealthInputs(
            ids=(ONE.id,), occurred=(NOW,), with_vector=1, related=0, shown=()
        )

    async def test_memories_that_a_crew_does_not_share_do_not_count(self, store: Store) -> None:
        await remember(store, ONE, replace(TWO, scope=MATE))
        reader = Reader(SCOPE, Reach.CREW_SHARED, shared_from=0.65)
        assert (await health_inputs(store, reader=reader)).ids == (ONE.id,)

    async def test_a_memory_has_its_vector_when_each_of_its_cues_has(self, store: Store) -> None:
        await remember(store, indexed(ONE, "begun", "done"), indexed(TWO, "whole"))
        await give_vectors(store, {"begun": a_vector(1, 0), "whole": a_vector(1, 0)})
        assert (await health_inputs(store)).with_vector == 1
        await give_vectors(store, {"done": a_vector(0, 1)})
        assert (await health_inputs(store)).with_vector == 2

    async def test_vectors_of_another_model_do_not_count(self, store: Store) -> None:
        await with_vectors(store, ONE)
        assert (await health_inputs(store, model="model-b")).with_vector == 0

    async def test_without_a_model_no_memory_has_a_vector(self, store: Store) -> None:
        await with_vectors(store, ONE, TWO)
        await store.relate(READER, [EDGE])
        found = await health_inputs(store, model=None)
        assert (found.with_vector, found.related) == (0, 0)

    async def test_both_ends_of_an_edge_are_related(self, store: Store) -> None:
        await with_vectors(store, ONE, TWO, THREE)
        await store.relate(READER, [EDGE, replace(EDGE, kind=RelationKind.SUPPORTS)])
        assert (await health_inputs(store)).related == 2

    async def test_a_memory_without_its_vector_is_not_counted_as_related(self, store: Store) -> None:
        await with_vectors(store, ONE)
        await remember(store, TWO)
        await store.relate(READER, [EDGE])
        assert (await health_inputs(store)).related == 1

    async def test_an_edge_to_itself_relates_a_memory_to_nothing(self, store: Store) -> None:
        await with_vectors(store, ONE)
        await store.relate(READER, [replace(EDGE, target=ONE.id)])
        assert (await health_inputs(store)).related == 0

    @pytest.mark.parametrize("way", ["from it", "to it"])
    async def test_an_edge_with_an_unseen_end_relates_nothing(self, store: Store, way: str) -> None:
        await with_vectors(store, ONE)
        await remember(store, HIDDEN)
        ends = (HIDDEN.id, ONE.id) if way == "to it" else (ONE.id, HIDDEN.id)
        await store.relate(Reader(MATE), [Relation(*ends, RelationKind.SIMILAR, 1.0, NOW)])
        assert (await health_inputs(store)).related == 0
        assert (await health_inputs(store, reader=Reader(MATE))).related == 1

    async def test_similarities_of_shown_memories_come_in_the_order_of_the_log(self, store: Store) -> None:
        await remember(store, ONE, TWO)
        await show(store, shown(ONE, 0.5, seconds=2), shown(TWO, -0.25, seconds=1))
        await show(store, shown(TWO, 0.75), shown(ONE, 0.125))
        assert (await health_inputs(store)).shown == (0.125, 0.75, -0.25, 0.5)

    async def test_earlier_exposures_do_not_count(self, single: Store) -> None:
        before = replace(shown(ONE, 0.25), at=NOW - timedelta(microseconds=1))
        await show(single, before, shown(ONE, 0.5))
        assert (await health_inputs(single)).shown == (0.5,)

    async def test_exposures_without_a_similarity_do_not_count(self, single: Store) -> None:
        await show(single, shown(ONE, None), shown(ONE, 0.0, seconds=1))
        assert (await health_inputs(single)).shown == (0.0,)

    @pytest.mark.parametrize("kind", [Exposure.RETRIEVED, Exposure.USED])
    async def test_only_shown_memories_count_as_shown(self, single: Store, kind: Exposure) -> None:
        await show(single, replace(shown(ONE, 0.5), exposure=kind))
        assert (await health_inputs(single)).shown == ()

    async def test_a_change_of_strength_alone_shows_nothing(self, single: Store) -> None:
        await single.adjust(READER, [ONE.id], lambda _: Adjustment(Strength(importance=1.0)), at=NOW)
        assert (await health_inputs(single)).shown == ()

    async def test_a_day_s_health_is_kept_whole(self, store: Store) -> None:
        snapshot = HealthSnapshot(
            crew="platform",
            day=date(2026, 3, 4),
            taken_at=NOW + timedelta(microseconds=1),
            metrics=Metrics(freshness=0.0, coverage=100.0, coherence=33.3, efficiency=12.5, reachability=1e-9),
            score=57.123456789,
        )
        await store.put_snapshot(SCOPE, snapshot)
        assert await store.snapshots(SCOPE, "platform", limit=9) == (snapshot,)

    async def test_a_metric_that_could_not_be_measured_stays_unknown(self, store: Store) -> None:
        nothing = Metrics(freshness=None, coverage=None, coherence=None, efficiency=None, reachability=None)
        snapshot = replace(a_snapshot(None, score=None), metrics=nothing)
        await store.put_snapshot(SCOPE, snapshot)
        assert await store.snapshots(SCOPE, None, limit=9) == (snapshot,)

    async def test_a_second_snapshot_of_a_day_replaces_the_first(self, store: Store) -> None:
        await store.put_snapshot(SCOPE, a_snapshot("platform"))
        again = replace(
            a_snapshot("platform", score=None),
            taken_at=NOW,
            metrics=Metrics(freshness=1.0, coverage=2.0, coherence=3.0, efficiency=4.0, reachability=5.0),
        )
        await store.put_snapshot(SCOPE, again)
        assert await store.snapshots(SCOPE, "platform", limit=9) == (again,)

    async def test_days_come_newest_first(self, store: Store) -> None:
        for day in (4, 6, 5):
            await store.put_snapshot(SCOPE, a_snapshot(None, day=day))
        assert [snapshot.day.day for snapshot in await store.snapshots(SCOPE, None, limit=2)] == [6, 5]

    async def test_the_workspace_and_each_crew_are_kept_apart(self, store: Store) -> None:
        kept = [a_snapshot(crew, score=score) for crew, score in ((None, 1.0), ("platform", 2.0), ("data", 3.0))]
        for snapshot in kept:
            await store.put_snapshot(SCOPE, snapshot)
        for snapshot in kept:
            assert await store.snapshots(SCOPE, snapshot.crew, limit=9) == (snapshot,)

    async def test_a_snapshot_belongs_to_the_workspace_and_not_to_its_creator(self, store: Store) -> None:
        await store.put_snapshot(SCOPE, a_snapshot("data"))
        assert await store.snapshots(Scope(workspace="acme"), "data", limit=9) == (a_snapshot("data"),)

    async def test_no_day_was_measured_at_first(self, store: Store) -> None:
        assert await store.snapshots(SCOPE, None, limit=9) == ()


class CrewsContract(StoreSuite):
    async def test_crews_come_by_name_each_once(self, store: Store) -> None:
        for n, crew in enumerate(("support", "Data", "support", "ärzte", None)):
            await remember(store, a_memory(f"{n}", scope=replace(SCOPE, crew=crew)))
        assert await store.crews(SCOPE) == ("Data", "support", "ärzte")

    async def test_a_crew_whose_memories_are_all_retired_is_one_still(self, remembered: Store) -> None:
        await remembered.set_status(READER, a_memory().id, Status.RETIRED, at=NOW)
        assert await remembered.crews(SCOPE) == ("platform",)

    async def test_an_empty_workspace_has_no_crew(self, store: Store) -> None:
        assert await store.crews(SCOPE) == ()
