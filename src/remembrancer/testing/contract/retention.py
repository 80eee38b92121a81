"""Contract of retention rules and legal holds: how they are kept, and what a hold forbids."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.event import Origin
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, NotFound, OnHold
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.archive import a_probe, archive, record
from remembrancer.testing.contract.base import StoreSuite, exported, remember
from remembrancer.testing.contract.erasing import OF_DEPLOY, a_receipt, derive, erase, memories
from remembrancer.testing.contract.world import CONVERSATION, DEPLOY, OLD, TURNS, WorldSuite, a_hold, a_rule
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, indexed

LATER: Final = NOW + timedelta(days=1)
PARTS: Final = {"project": "shop", "crew": "ops", "agent": "ana", "session": "monday é", "actor": "Bo", "kind": "note"}


class RulesContract(StoreSuite):
    async def test_a_rule_is_kept_whole(self, store: Store) -> None:
        rule = replace(a_rule(after=timedelta(days=1, microseconds=7)), **PARTS, origin=Origin.WEB)
        await store.put_rule(SCOPE, rule)
        assert await store.rules(SCOPE) == (rule,)

    async def test_rules_come_oldest_first(self, store: Store) -> None:
        for number in (2, 3, 1):
            await store.put_rule(SCOPE, a_rule(number))
        assert [rule.id.int for rule in await store.rules(SCOPE)] == [901, 902, 903]

    async def test_a_rule_is_dropped_by_its_id(self, store: Store) -> None:
        for number in (1, 2):
            await store.put_rule(SCOPE, a_rule(number))
        assert await store.drop_rule(SCOPE, a_rule(1).id) == a_rule(1)
        assert await store.rules(SCOPE) == (a_rule(2),)

    async def test_a_dropped_rule_is_not_found(self, store: Store) -> None:
        await store.put_rule(SCOPE, a_rule())
        await store.drop_rule(SCOPE, a_rule().id)
        with pytest.raises(NotFound):
            await store.drop_rule(SCOPE, a_rule().id)

    async def test_the_id_of_a_rule_is_unique(self, store: Store) -> None:
        await store.put_rule(SCOPE, a_rule())
        with pytest.raises(Conflict):
            await store.put_rule(SCOPE, replace(a_rule(), kind="fact"))
        assert await store.rules(SCOPE) == (a_rule(),)

    async def test_rules_and_holds_are_not_exported(self, store: Store) -> None:
        await store.put_rule(SCOPE, a_rule())
        await store.put_hold(SCOPE, a_hold())
        assert await exported(store) == []


class HoldsContract(StoreSuite):
    async def test_a_hold_is_kept_whole(self, store: Store) -> None:
        hold = replace(a_hold(), **PARTS, origin=Origin.WEB, released_at=LATER)
        await store.put_hold(SCOPE, hold)
        assert await store.holds(SCOPE) == (hold,)

    async def test_holds_come_newest_first(self, store: Store) -> None:
        for number in (2, 3, 1):
            await store.put_hold(SCOPE, a_hold(number))
        assert await store.holds(SCOPE) == (a_hold(3), a_hold(2), a_hold(1))

    async def test_a_released_hold_has_the_time_of_its_first_release(self, store: Store) -> None:
        await store.put_hold(SCOPE, a_hold())
        await store.release_hold(SCOPE, a_hold().id, at=LATER)
        released = await store.release_hold(SCOPE, a_hold().id, at=LATER + timedelta(days=1))
        assert (released, await store.holds(SCOPE)) == (replace(a_hold(), released_at=LATER), (released,))

    async def test_an_unknown_hold_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.release_hold(SCOPE, a_hold().id, at=LATER)

    async def test_the_id_of_a_hold_is_unique(self, store: Store) -> None:
        await store.put_hold(SCOPE, a_hold())
        with pytest.raises(Conflict):
            await store.put_hold(SCOPE, a_hold(session="tuesday"))

    async def test_events_on_hold_are_not_archived(self, store: Store) -> None:
        held = replace(a_probe(1), actor="a host")
        await record(store, held, a_probe(2))
        await store.put_hold(SCOPE, replace(a_hold(), actor="a host"))
        assert await archive(store) == 1
        assert await store.events(READER, EventFilter(), limit=9) == (held,)


class HeldContract(WorldSuite):
    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_nothing_is_erased_if_one_of_the_rows_is_on_hold(self, world: Store, dry_run: bool) -> None:
        deploy = (await world.get(READER, [DEPLOY]))[DEPLOY]
        await world.put_hold(SCOPE, a_hold(2, kind=deploy.kind))
        before = await exported(world)
        with pytest.raises(OnHold):
            await world.erase(SCOPE, OF_DEPLOY, a_receipt(dry_run=dry_run))
        assert (await exported(world), await world.erasures(SCOPE, limit=9)) == (before, ())

    async def test_an_event_on_hold_is_not_erased(self, world: Store) -> None:
        [turn] = [one for one in await world.events(READER, EventFilter(), limit=99) if one.id == TURNS[0]]
        of_turn = {"session": turn.scope.session, "actor": turn.actor, "kind": turn.type, "origin": turn.origin}
        await world.put_hold(SCOPE, replace(a_hold(2), agent=None, **of_turn))
        with pytest.raises(OnHold):
            await erase(world, Removal(memories=frozenset({DEPLOY, CONVERSATION}), events=frozenset(TURNS)))

    async def test_every_part_of_a_hold_has_to_match(self, world: Store) -> None:
        old = (await world.get(READER, [OLD]))[OLD]
        await world.put_hold(SCOPE, replace(a_hold(2, kind=old.kind), origin=Origin.WEB))
        await erase(world, memories(OLD))
        assert await world.get(READER, [OLD]) == {}

    async def test_a_released_hold_forbids_nothing(self, world: Store) -> None:
        old = (await world.get(READER, [OLD]))[OLD]
        await world.put_hold(SCOPE, a_hold(2, kind=old.kind))
        await world.release_hold(SCOPE, a_hold(2).id, at=LATER)
        await erase(world, memories(OLD))
        assert await world.get(READER, [OLD]) == {}

    async def test_a_hold_of_another_workspace_forbids_nothing(self, world: Store) -> None:
        old = (await world.get(READER, [OLD]))[OLD]
        await world.put_hold(Scope(workspace="rival"), a_hold(2, kind=old.kind))
        await erase(world, memories(OLD))
        assert await world.get(READER, [OLD]) == {}

    async def test_a_derived_memory_on_hold_keeps_its_source(self, store: Store) -> None:
        source, drawn = a_memory("a source"), replace(a_memory("drawn from it"), kind="fact")
        await remember(store, source)
        await derive(store, drawn, source)
        await store.put_hold(SCOPE, a_hold(2, kind="fact"))
        with pytest.raises(OnHold):
            await erase(store, memories(source.id, drawn.id))
        assert set(await store.get(READER, [source.id, drawn.id])) == {source.id, drawn.id}

    async def test_an_earlier_revision_of_a_memory_on_hold_is_not_dropped(self, store: Store) -> None:
        said = a_memory("a first text", scope=replace(SCOPE, session="monday"))
        await remember(store, said)
        anew = replace(said, text="a second text", scope=replace(SCOPE, session="tuesday"), revision=2)
        await store.revise(SCOPE, indexed(anew), expected_revision=1, at=LATER)
        await store.put_hold(SCOPE, a_hold(2, session="tuesday"))
        with pytest.raises(OnHold):
            await store.erase(SCOPE, Removal(), a_receipt(choice=ErasureSelection(session="monday")))
        assert len(await store.revisions(READER, said.id)) == 1


class SelectionContract(StoreSuite):
    """The rows that an erasure selects by actor, kind and origin."""

    async def test_rows_are_selected_by_actor(self, store: Store) -> None:
        bo = replace(a_probe(1), actor="Bo")
        await record(store, bo, replace(a_probe(2), actor="bo"), a_probe(3))
        await remember(store, replace(a_memory("said by Bo", memory_id=UUID(int=81)), actor="Bo"))
        chosen = ErasureSelection(actor="Bo")
        assert await store.lying_in(SCOPE, chosen) == (frozenset({UUID(int=81)}), frozenset({bo.id}))

    async def test_rows_are_selected_by_kind_and_events_by_type(self, store: Store) -> None:
        probe = a_probe(1, kind="note")
        await record(store, probe, a_probe(2))
        await remember(store, replace(a_memory("a note", memory_id=UUID(int=81)), kind="note"))
        await remember(store, replace(a_memory("a fact", memory_id=UUID(int=82)), kind="fact"))
        chosen = ErasureSelection(kind="note")
        assert await store.lying_in(SCOPE, chosen) == (frozenset({UUID(int=81)}), frozenset({probe.id}))

    async def test_rows_are_selected_by_origin_before_a_time(self, store: Store) -> None:
        web = [replace(a_probe(number), origin=Origin.WEB) for number in (1, 2)]
        await record(store, web[0], replace(web[1], occurred_at=LATER), a_probe(3))
        chosen = ErasureSelection(origin=Origin.WEB, before=NOW)
        assert await store.lying_in(SCOPE, chosen) == (frozenset(), frozenset({web[0].id}))

    async def test_an_erased_actor_s_earlier_revision_is_dropped(self, store: Store) -> None:
        said = replace(a_memory("a first text"), actor="Bo")
        await remember(store, said)
        anew = replace(said, text="a second text", actor="Ana", revision=2)
        await store.revise(SCOPE, indexed(anew), expected_revision=1, at=LATER)
        await store.erase(SCOPE, Removal(), a_receipt(choice=ErasureSelection(actor="Bo")))
        assert await store.revisions(READER, said.id) == ()
