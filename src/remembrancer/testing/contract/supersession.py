"""Contract of supersession: a memory is replaced by another, or ends without a successor."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.memories import Audited
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, StoreSuite, found, holding, refused, remember, unchanged
from remembrancer.testing.contract.memories import LATER, listed, one, saying
from remembrancer.testing.doubles import HIDDEN, NOW, NOWHERE, READER, SCOPE, a_memory, indexed

INSTANT = timedelta(microseconds=1)
OLD, NEW, NEWER = (a_memory(text) for text in ("staging", "production", "the edge"))
ABOUT = replace(OLD, topic_key="target")


class SupersessionContract(StoreSuite):
    places = holding(lambda store: remember(store, OLD, NEW, NEWER))

    async def test_a_superseded_memory_names_its_successor(self, places: Store) -> None:
        expected = replace(OLD, superseded_by=NEW.id, superseded_at=LATER)
        assert await places.supersede(READER, OLD.id, NEW.id, at=LATER) == expected
        assert await one(places, OLD.id) == expected

    async def test_the_successor_is_unchanged(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert await one(places, NEW.id) == NEW

    async def test_a_superseded_memory_is_no_longer_listed(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert set(await listed(places)) == {NEW.text, NEWER.text}

    async def test_a_superseded_memory_is_no_longer_found(self, places: Store) -> None:
        assert await found(places, "staging") == {OLD.text}
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert await found(places, "staging") == set()

    async def test_a_moment_before_it_was_superseded_it_is_still_believed(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert await found(places, "staging", where=Filter(current_at=LATER - INSTANT)) == {OLD.text}
        assert await found(places, "staging", where=Filter(current_at=LATER)) == set()

    async def test_an_edge_leads_from_the_new_to_the_old(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        edge = Relation(NEW.id, OLD.id, RelationKind.SUPERSEDES, 1.0, LATER)
        assert await places.relations(READER, [OLD.id]) == (edge,)

    async def test_an_existing_edge_stays(self, places: Store) -> None:
        edge = Relation(NEW.id, OLD.id, RelationKind.SUPERSEDES, 0.5, NOW)
        await places.relate(READER, [edge])
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert await places.relations(READER, [OLD.id]) == (edge,)

    async def test_the_audit_names_the_successor(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        assert await places.audit(READER, OLD.id) == (Audited(OLD.id, "superseded", f"by {NEW.id}", LATER),)
        assert await places.audit(READER, NEW.id) == ()

    async def test_superseding_twice_is_superseding_once(self, places: Store) -> None:
        first = await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        async with unchanged(places):
            assert await places.supersede(READER, OLD.id, NEW.id, at=LATER + timedelta(days=1)) == first

    async def test_a_second_successor_is_a_conflict(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        async with refused(places, Conflict):
            await places.supersede(READER, OLD.id, NEWER.id, at=LATER)

    async def test_a_successor_may_be_superseded_in_its_turn(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        await places.supersede(READER, NEW.id, NEWER.id, at=LATER)
        assert await listed(places) == [NEWER.text]

    async def test_one_memory_may_take_the_place_of_several(self, places: Store) -> None:
        for memory in (OLD, NEW):
            await places.supersede(READER, memory.id, NEWER.id, at=LATER)
        assert await listed(places) == [NEWER.text]

    @pytest.mark.parametrize("back_to", ["itself", "its successor", "the one before that"])
    async def test_a_circle_is_a_conflict_and_changes_nothing(self, places: Store, back_to: str) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        if back_to == "the one before that":
            await places.supersede(READER, NEW.id, NEWER.id, at=LATER)
        ends = {"itself": (NEWER, NEWER), "its successor": (NEW, OLD), "the one before that": (NEWER, OLD)}
        async with unchanged(places):
            old, new = ends[back_to]
            with pytest.raises(Conflict):
                await places.supersede(READER, old.id, new.id, at=LATER)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (NOWHERE, NEW.id),
            (OLD.id, NOWHERE),
            (HIDDEN.id, NEW.id),
            (OLD.id, HIDDEN.id),
            (NOWHERE, None),
            (HIDDEN.id, None),
        ],
        ids=["no such old", "no such new", "an unseen old", "an unseen new", "none to end", "an unseen one to end"],
    )
    async def test_a_memory_that_the_reader_cannot_see_is_not_found(
        self, places: Store, old: UUID, new: UUID | None
    ) -> None:
        await remember(places, HIDDEN)
        async with refused(places, NotFound):
            await places.supersede(READER, old, new, at=LATER)

    async def test_a_circle_is_refused_even_if_part_of_it_is_not_visible(self, places: Store) -> None:
        await remember(places, HIDDEN)
        owner = Reader(HIDDEN.scope)
        await places.supersede(owner, NEW.id, HIDDEN.id, at=LATER)
        await places.supersede(owner, HIDDEN.id, OLD.id, at=LATER)
        with pytest.raises(Conflict):
            await places.supersede(READER, OLD.id, NEW.id, at=LATER)

    async def test_a_superseded_memory_cannot_be_revised(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        async with refused(places, Conflict):
            await places.revise(SCOPE, saying(OLD, "testing"), expected_revision=1, at=LATER)

    # A superseded memory releases its topic, so a new memory can take it.
    async def _superseded(self, store: Store) -> None:
        await remember(store, ABOUT, NEW)
        await store.supersede(READER, ABOUT.id, NEW.id, at=LATER)

    async def _told_anew(self, store: Store) -> tuple[Memory, bool]:
        return await store.insert(SCOPE, indexed(replace(NEWER, topic_key="target")))

    async def test_a_superseded_memory_answers_to_no_topic(self, store: Store) -> None:
        await self._superseded(store)
        assert await store.by_topic(SCOPE, "target") == ()

    async def test_its_topic_is_free_for_another_memory(self, store: Store) -> None:
        await self._superseded(store)
        told, created = await self._told_anew(store)
        assert created
        assert await store.by_topic(SCOPE, "target") == (told,)

    async def test_a_successor_may_take_the_topic_over(self, store: Store) -> None:
        await self._superseded(store)
        after = replace(NEW, topic_key="target")
        revised = await store.revise(SCOPE, indexed(after), expected_revision=1, at=LATER)
        assert await store.by_topic(SCOPE, "target") == (revised,)

    async def test_a_superseded_memory_may_become_active_while_another_has_its_topic(self, store: Store) -> None:
        await self._superseded(store)
        await self._told_anew(store)
        await store.set_status(READER, ABOUT.id, Status.RETIRED, at=LATER)
        again = await store.set_status(READER, ABOUT.id, Status.ACTIVE, at=LATER)
        assert (again.status, again.superseded_by) == (Status.ACTIVE, NEW.id)

    async def test_an_ended_memory_keeps_its_topic(self, store: Store) -> None:
        await remember(store, ABOUT)
        ended = await store.supersede(READER, ABOUT.id, None, at=LATER)
        assert await store.by_topic(SCOPE, "target") == (ended,)

    async def test_a_memory_may_end_without_a_successor(self, places: Store) -> None:
        expected = replace(OLD, valid_until=LATER)
        assert await places.supersede(READER, OLD.id, None, at=LATER) == expected
        assert await one(places, OLD.id) == expected

    async def test_an_ended_memory_is_valid_until_its_end(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, None, at=LATER)
        assert await found(places, "staging", where=Filter(current_at=LATER - INSTANT)) == {OLD.text}
        assert await found(places, "staging", where=Filter(current_at=LATER)) == set()

    async def test_the_audit_has_the_time_at_which_a_memory_was_ended(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, None, at=LATER)
        assert await places.audit(READER, OLD.id) == (Audited(OLD.id, "invalidated", "", LATER),)

    async def test_ending_leaves_no_edge(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, None, at=LATER)
        assert await places.relations(READER, [OLD.id]) == ()

    async def test_a_memory_valid_until_later_ends_now(self, store: Store) -> None:
        await remember(store, replace(OLD, valid_until=LATER + INSTANT))
        assert (await store.supersede(READER, OLD.id, None, at=LATER)).valid_until == LATER

    @pytest.mark.parametrize("ended", [LATER, LATER - timedelta(days=1)])
    async def test_an_ended_memory_is_unchanged(self, store: Store, ended: object) -> None:
        await remember(store, replace(OLD, valid_until=ended))
        async with unchanged(store):
            await store.supersede(READER, OLD.id, None, at=LATER)

    async def test_a_superseded_memory_is_unchanged(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, NEW.id, at=LATER)
        async with unchanged(places):
            await places.supersede(READER, OLD.id, None, at=LATER)

    @pytest.mark.parametrize("begins", [LATER, LATER + timedelta(days=9)])
    async def test_a_memory_valid_from_later_ends_when_it_begins(self, store: Store, begins: object) -> None:
        await remember(store, replace(OLD, valid_from=begins))
        memory = await store.supersede(READER, OLD.id, None, at=LATER)
        assert memory.valid_from is not None
        assert memory.valid_until == memory.valid_from + INSTANT
        assert OLD.text not in await found(store, "staging", where=EVERYTHING)

    async def test_an_ended_memory_may_be_superseded(self, places: Store) -> None:
        await places.supersede(READER, OLD.id, None, at=LATER)
        memory = await places.supersede(READER, OLD.id, NEW.id, at=LATER + INSTANT)
        assert (memory.valid_until, memory.superseded_by) == (LATER, NEW.id)
